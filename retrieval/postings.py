"""rank-bm25's statistics turned round: a sparse matrix by column, so that a search touches only the rows of its words.

The class itself walks every document's dictionary for every word of a question: at 100,000 passages seconds. Here a
column holds what its word adds to the score of each row before the word's weight, computed once, when the index opens.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Statistics(Protocol):
    """What rank_bm25.BM25Okapi knows of its documents: counts and length of each, idf of every word."""

    doc_freqs: list[dict[str, int]]
    doc_len: list[int]
    idf: dict[str, float]
    avgdl: float
    k1: float
    b: float


@dataclass(frozen=True, slots=True)
class Postings:
    """A sparse matrix of shape (size, len(columns)) by column.

    Column c has rows `rows[starts[c]:starts[c + 1]]`, int32, rising; `parts` float32 beside them is Okapi's saturated
    count, and `weights` float64 (columns,) the idf. Eight bytes for each distinct word of each text.
    """

    size: int
    columns: Mapping[str, int]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    parts: NDArray[np.float32]
    weights: NDArray[np.float64]

    @property
    def fingerprint(self) -> str:
        """Equal for equal columns, weights and texts: 16 hex digits. Computed when asked, a pass over everything."""
        digest = hashlib.sha256("\n".join(self.columns).encode())
        for array in (self.starts, self.rows, self.parts, self.weights):
            digest.update(array.tobytes())
        return digest.hexdigest()[:16]

    def add(self, total: NDArray[np.float64], asked: Mapping[int, float], share: float = 1.0) -> None:
        """Adds to each row of `total` (size,) its score for a question that `weighed` made, times `share`."""
        for column, weight in asked.items():
            own = slice(self.starts[column], self.starts[column + 1])
            total[self.rows[own]] += share * weight * self.parts[own].astype(np.float64)

    def weighed(self, keys: Iterable[str]) -> dict[int, float]:
        """Column to idf times count, for the keys that any text holds: a question as a sparse vector."""
        return {
            self.columns[key]: times * float(self.weights[self.columns[key]])
            for key, times in Counter(keys).items()
            if key in self.columns
        }

    def by_row(self) -> Iterator[dict[int, float]]:
        """Each text as a sparse vector, column to part; its inner product with `weighed` is its score."""
        columns = np.repeat(np.arange(len(self.columns), dtype=np.int32), np.diff(self.starts))
        order = np.argsort(self.rows, kind="stable")
        ends = np.cumsum(np.bincount(self.rows, minlength=self.size))
        start = 0
        for end in ends.tolist():
            own = order[start:end]
            yield dict(zip(columns[own].tolist(), self.parts[own].tolist(), strict=True))
            start = end


def turned(model: Statistics) -> Postings:
    """The matrix of a model's statistics. The model's own dictionaries can be let go afterwards."""
    columns = {word: column for column, word in enumerate(model.idf)}
    widths = np.fromiter(map(len, model.doc_freqs), dtype=np.int64, count=len(model.doc_freqs))
    held = int(widths.sum())
    at = np.fromiter((columns[w] for doc in model.doc_freqs for w in doc), dtype=np.int32, count=held)
    times = np.fromiter((n for doc in model.doc_freqs for n in doc.values()), dtype=np.float32, count=held)
    order = np.argsort(at, kind="stable")
    rows = np.repeat(np.arange(len(widths), dtype=np.int32), widths)[order]
    times = times[order]
    lengths = np.array(model.doc_len, dtype=np.float64) / (model.avgdl or 1.0)
    slowed = model.k1 * (1.0 - model.b + model.b * lengths)
    starts = np.zeros(len(columns) + 1, dtype=np.int64)
    np.cumsum(np.bincount(at, minlength=len(columns)), out=starts[1:])
    parts = (times * (model.k1 + 1.0) / (times + slowed[rows])).astype(np.float32)
    return Postings(len(widths), columns, starts, rows, parts, np.fromiter(model.idf.values(), np.float64))


def shared(documents: Iterable[Sequence[str]]) -> Iterator[list[str]]:
    """The documents one by one, equal words as one object: a tokenizer makes a new string for each occurrence."""
    known: dict[str, str] = {}
    for document in documents:
        yield [known.setdefault(word, word) for word in document]
