"""rank-bm25's statistics turned round: a sparse matrix by column, so that a search touches only the rows of its words.

The class itself walks every document's dictionary for every word of a question: at 100,000 passages seconds. Here a
column holds what its word adds to the score of each row before the word's weight, computed once, when the index opens.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Tally:
    """Stands where rank-bm25 keeps a dictionary for each document: eight bytes for each word of it instead."""

    def __init__(self) -> None:
        self.columns: dict[str, int] = {}
        self.at = array("i")
        self.times = array("i")
        self.widths = array("i")

    def append(self, counts: Mapping[str, int]) -> None:
        """The next document's words, each with how often it stands there."""
        columns = self.columns
        self.at.extend([columns.setdefault(word, len(columns)) for word in counts])
        self.times.extend(counts.values())
        self.widths.append(len(counts))


class Statistics(Protocol):
    """What rank_bm25.BM25Okapi knows of its documents: counts and length of each, idf of every word."""

    doc_freqs: Tally
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
        for part in (self.starts, self.rows, self.parts, self.weights):
            digest.update(part.tobytes())
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
    """The matrix of a model's statistics, which it no longer needs."""
    tally = model.doc_freqs
    at, widths = np.frombuffer(tally.at, np.int32), np.frombuffer(tally.widths, np.int32)
    order = np.argsort(at, kind="stable")
    rows = np.repeat(np.arange(len(widths), dtype=np.int32), widths)[order]
    times = np.frombuffer(tally.times, np.int32)[order]
    lengths = np.array(model.doc_len, dtype=np.float64) / model.avgdl
    slowed = model.k1 * (1.0 - model.b + model.b * lengths)
    starts = np.zeros(len(tally.columns) + 1, dtype=np.int64)
    np.cumsum(np.bincount(at, minlength=len(tally.columns)), out=starts[1:])
    parts = (times * (model.k1 + 1.0) / (times + slowed[rows])).astype(np.float32)
    weights = np.array([model.idf[word] for word in tally.columns])
    return Postings(len(widths), tally.columns, starts, rows, parts, weights)
