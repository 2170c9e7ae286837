"""Token vectors of the indexed texts: looked up by text, weighed by rarity, centred.

Centring. An encoder's token vectors all lean the same way (two unrelated ones of multilingual-e5-small have a cosine
of about 0.8), so most of max-sim is that common part. Subtracting it, the mean token vector, and normalising again
lets the rest decide: on the demo questions Recall@1 of late interaction rose from 0.69 to 0.74. Queries lean a
little otherwise than passages, so each kind has a centre of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CENTRED_SHARE = 0.8
"""How much of the mean is subtracted; 0.7 to 0.9 measured alike, 1.0 a little worse."""

CENTRE_TOKENS = 500
"""Trust in a mean: a corpus of this many tokens subtracts half as much, for a mean of few tokens is their content."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token vectors of one text as the encoder gave them, float16 or float32 (n, dim), and each one's length (n,)
    once it is centred. Kept uncentred, so that centring costs one subtraction a dot product.
    """

    vectors: NDArray[np.floating]
    lengths: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TokenStore:
    """Tokens and their unit vectors of many texts, end to end; text i is rows `starts[i]` to `starts[i + 1]`.

    `vectors` float16 (tokens, dim), usually memory-mapped, `lengths` float32 (tokens,), `starts` int64 (texts + 1,).
    `ids` int32 (tokens,) are the encoder's token ids, `holding` tells in how many texts each stands. Centres are
    float32 (dim,).
    """

    rows: Mapping[str, int]
    starts: NDArray[np.int64]
    ids: NDArray[np.int32]
    vectors: NDArray[np.float16]
    lengths: NDArray[np.float32]
    holding: Mapping[int, int]
    query_centre: NDArray[np.float32]
    passage_centre: NDArray[np.float32]

    def passage(self, text: str) -> Tokens | None:
        """The tokens of an indexed text, None for any other."""
        row = self.rows.get(text)
        if row is None:
            return None
        own = slice(int(self.starts[row]), int(self.starts[row + 1]))
        return Tokens(self.vectors[own], self.lengths[own])

    def idf(self, ids: NDArray[np.int32]) -> NDArray[np.float32]:
        """log(1 + (N - n + 0.5) / (n + 0.5)) of each token id, N texts, n of them holding it."""
        total = len(self.starts) - 1
        holding = np.array([self.holding.get(one, 0) for one in ids.tolist()], dtype=np.float32)
        return np.asarray(np.log1p((total - holding + 0.5) / (holding + 0.5)), dtype=np.float32)


def centred(vectors: NDArray[np.floating], centre: NDArray[np.float32]) -> NDArray[np.float32]:
    """Unit vectors (n, dim) after subtracting the centre; a vector equal to it becomes 0, NaN stays NaN."""
    moved = vectors.astype(np.float32) - centre
    length = np.linalg.norm(moved, axis=1, keepdims=True)
    return np.asarray(
        np.divide(moved, length, out=np.zeros_like(moved), where=length != 0.0), dtype=np.float32
    )


def lengths_from(vectors: NDArray[np.floating], centre: NDArray[np.float32]) -> NDArray[np.float32]:
    """How far each vector (n, dim) is from the centre: (n,)."""
    return np.asarray(np.linalg.norm(vectors.astype(np.float32) - centre, axis=1), dtype=np.float32)


def centre_of(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    """What to subtract from token vectors of this kind: a share of their mean, less when there are few."""
    count, dim = vectors.shape
    if not count:
        return np.zeros(dim, dtype=np.float32)
    share = CENTRED_SHARE * count / (count + CENTRE_TOKENS)
    return np.asarray(share * vectors.mean(axis=0, dtype=np.float64), dtype=np.float32)


def count_holding(ids: NDArray[np.int32], starts: NDArray[np.int64]) -> dict[int, int]:
    """In how many texts each token id stands."""
    holding: dict[int, int] = {}
    for start, end in zip(starts[:-1], starts[1:], strict=True):
        for one in np.unique(ids[start:end]).tolist():
            holding[one] = holding.get(one, 0) + 1
    return holding


def rows_by_text(texts: Sequence[str]) -> dict[str, int]:
    """Where each text stands; of equal texts the first (their vectors are equal too)."""
    rows: dict[str, int] = {}
    for row, text in enumerate(texts):
        rows.setdefault(text, row)
    return rows
