"""An index as rows of a Milvus collection, and questions as what Milvus is asked. Pure; the client is elsewhere.

One row for each surface of a passage. The first carries the word and the sound vector, the others, which only the
dense search is to find, a single dimension that no question has: Milvus takes no empty sparse vector.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from retrieval.bm25 import Bm25
from retrieval.conditions import Conditions
from retrieval.index import Index
from retrieval.phonetic import Phonetic
from retrieval.postings import Postings
from retrieval.types import Passage

Sparse = dict[int, float]

NOWHERE: Sparse = {0: 1.0}
"""Dimension 0 belongs to no word."""


@dataclass(frozen=True, slots=True)
class Collection:
    """An index ready to be stored, with the statistics that make the sparse vectors of texts and of questions."""

    index: Index
    words: Bm25
    sounds: Phonetic

    @property
    def fingerprint(self) -> str:
        """Equal only for collections whose rows are equal and whose questions are read alike."""
        known = [self.index.corpus_sha, self.index.encoder_id, str(len(self.index.vectors))]
        known += [p.fingerprint for p in (self.words.postings, self.sounds.pairs, self.sounds.singles) if p]
        return hashlib.sha256("\n".join(known).encode()).hexdigest()[:16]

    @property
    def most_surfaces(self) -> int:
        """Rows of the passage that has most. So many times `limit` surfaces hold at least `limit` passages."""
        starts = self.index.starts
        return int((starts[1:] - starts[:-1]).max()) if len(starts) > 1 else 1

    def rows(self) -> Iterator[dict[str, Any]]:
        """Every row, surface by surface in the order of the index."""
        index, first = self.index, self.sounds.pairs
        kinds = zip(
            index.passages,
            _documents(self.words.postings, len(index.passages)),
            _documents(first, len(index.passages)),
            _documents(self.sounds.singles, len(index.passages)),
            strict=True,
        )
        offset = _width(first)
        for i, (passage, words, pairs, singles) in enumerate(kinds):
            sounds = _shifted(pairs, 1) | _shifted(singles, 1 + offset)
            facts = _facts(passage)
            for n, vector in enumerate(index.vectors[index.starts[i] : index.starts[i + 1]]):
                yield {
                    "id": f"{passage.id}#{n}",
                    "dense": vector,
                    "words": (_shifted(words, 1) or NOWHERE) if n == 0 else NOWHERE,
                    "sounds": (sounds or NOWHERE) if n == 0 else NOWHERE,
                    **facts,
                }

    def asked_words(self, text: str) -> Sparse:
        """A question as word vector: its inner product with a row's is its BM25 score. Empty for no known word."""
        postings = self.words.postings
        return {} if postings is None else _shifted(postings.weighed(self.words.cut(text)), 1)

    def asked_sounds(self, text: str) -> Sparse:
        """A question as sound vector, as asked_words."""
        pairs, singles = self.sounds.weighed(text)
        return _shifted(pairs, 1) | _shifted(singles, 1 + _width(self.sounds.pairs))


def _documents(postings: Postings | None, count: int) -> Iterator[Sparse]:
    return iter([{}] * count) if postings is None else postings.by_row()


def _width(postings: Postings | None) -> int:
    return 0 if postings is None else len(postings.columns)


def _shifted(vector: Mapping[int, float], first: int) -> Sparse:
    return {column + first: value for column, value in vector.items()}


def _facts(passage: Passage) -> dict[str, Any]:
    return {
        "passage": passage.id,
        "sha": passage.sha,
        "valid_from": (passage.valid_from or date.min).toordinal(),
        "valid_to": (passage.valid_to or date.max).toordinal(),
        "version": passage.version,
        "tags": list(passage.tags),
    }


def expression(conditions: Conditions) -> str:
    """The conditions as a Milvus filter. Values are quoted, so that no tag or version can become an operator.

    >>> expression(Conditions(date(1, 1, 3), ("灯",)))
    'valid_from <= 3 and valid_to >= 3 and array_contains_all(tags, ["灯"])'
    """
    day = conditions.as_of.toordinal()
    parts = [f"valid_from <= {day} and valid_to >= {day}"]
    if conditions.version is not None:
        parts.append(f"version == {_quoted(conditions.version)}")
    if conditions.tags:
        parts.append(f"array_contains_all(tags, [{', '.join(map(_quoted, conditions.tags))}])")
    return " and ".join(parts)


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
