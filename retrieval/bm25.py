"""Word search: rank-bm25's Okapi scores with an idf that is never negative, safe on tiny and empty corpora."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from retrieval.filters import OpenRows
from retrieval.fusion import top_rows
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


class Bm25:
    """The word channel over one list of passages. Holds their term counts in memory."""

    def __init__(self, passages: Sequence[Passage], cut: Cut = terms) -> None:
        self._ids: tuple[PassageId, ...] = tuple(p.id for p in passages)
        self._cut = cut
        documents = [list(cut(document_text(p))) for p in passages]
        self._model = LuceneOkapi(documents) if any(documents) else None

    def __len__(self) -> int:
        return len(self._ids)

    def idf(self, term: str) -> float:
        """Weight of a term; one that no passage holds weighs most, for it is the most telling when missing."""
        if self._model is None:
            return lucene_idf(0, len(self._ids))
        known: float | None = self._model.idf.get(term)
        return lucene_idf(0, len(self._ids)) if known is None else known

    def scores(self, words: Sequence[str]) -> NDArray[np.float64]:
        """Shape (passages,): rank-bm25's own scores, all 0 when nothing is indexed."""
        if self._model is None:
            return np.zeros(len(self._ids))
        return np.asarray(self._model.get_scores(list(words)), dtype=np.float64)

    def rank(self, query: Query, limit: int, allowed: OpenRows) -> Ranking:
        """The best `limit` allowed passages that share a word with the query, best first, ties by id."""
        scores = np.zeros(len(self._ids))
        for text, share in voices(query):
            scores += share * self.scores(self._cut(text))
        return top_rows(self._ids, scores, allowed & (scores > 0.0), limit)
