"""Word search: rank-bm25's Okapi scores with an idf that is never negative, safe on tiny and empty corpora."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from retrieval.filters import OpenRows
from retrieval.fusion import top_rows
from retrieval.postings import Postings, Tally, turned
from retrieval.query import voices
from retrieval.surfaces import document_text
from retrieval.terms import terms
from retrieval.types import Cut, Passage, PassageId, Query, Ranking


def lucene_idf(holding: int, total: int) -> float:
    """log(1 + (N - n + 0.5) / (n + 0.5)) for a term held by n of N documents: above 0 for every n <= N."""
    return math.log(1.0 + (total - holding + 0.5) / (holding + 0.5))


class LuceneOkapi(BM25Okapi):  # type: ignore[misc]  # rank_bm25 ships no types
    """BM25Okapi with one override: Lucene's idf.

    The class's own idf is log((N - n + 0.5) / (n + 0.5)): 0 for a word in half of the documents, negative above,
    repaired by a floor that is itself negative in a small corpus, so that a right document can rank last.
    """

    def _calc_idf(self, nd: Mapping[str, int]) -> None:
        self.idf = {word: lucene_idf(holding, self.corpus_size) for word, holding in nd.items()}


class _Tallied(LuceneOkapi):
    """The same statistics without a dictionary for each document, which at 100,000 would take most of a gigabyte."""

    def _initialize(self, corpus: Iterable[Sequence[str]]) -> dict[str, int]:
        self.doc_freqs = Tally()
        holding: dict[str, int] = super()._initialize(corpus)
        return holding


def word_postings(documents: Iterable[Sequence[str]]) -> Postings | None:
    """rank-bm25's statistics of the documents as a sparse matrix; None when no document holds a word.

    The documents are read once, one by one, and none is kept.
    """
    try:
        model = _Tallied(documents)
    except ZeroDivisionError:  # how the class says that there are no documents
        return None
    return turned(model) if model.idf else None


class Bm25:
    """The word channel over one list of passages: rank-bm25's scores from a sparse matrix in memory."""

    def __init__(self, passages: Sequence[Passage], cut: Cut = terms) -> None:
        self._ids: tuple[PassageId, ...] = tuple(p.id for p in passages)
        self.cut = cut
        self.postings = word_postings(cut(document_text(p)) for p in passages)

    def __len__(self) -> int:
        return len(self._ids)

    def idf(self, term: str) -> float:
        """Weight of a term; one that no passage holds weighs most, for it is the most telling when missing."""
        column = None if self.postings is None else self.postings.columns.get(term)
        if self.postings is None or column is None:
            return lucene_idf(0, len(self._ids))
        return float(self.postings.weights[column])

    def scores(self, words: Sequence[str]) -> NDArray[np.float64]:
        """Shape (passages,): rank-bm25's own scores to six digits, all 0 when nothing is indexed."""
        total = np.zeros(len(self._ids))
        if self.postings is not None:
            self.postings.add(total, self.postings.weighed(words))
        return total

    def rank(self, query: Query, limit: int, allowed: OpenRows) -> Ranking:
        """The best `limit` allowed passages that share a word with the query, best first, ties by id."""
        scores = np.zeros(len(self._ids))
        for text, share in voices(query):
            if self.postings is not None:
                self.postings.add(scores, self.postings.weighed(self.cut(text)), share)
        return top_rows(self._ids, scores, allowed & (scores > 0.0), limit)
