"""What encoders return, unit vectors of texts and of their tokens, and the two small computations they share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import ModelError

Vectors = NDArray[np.float32]
"""float32, one L2-normalised row each."""

Kind = Literal["query", "passage"]

BARE_SPACE = "\N{LOWER ONE EIGHTH BLOCK}"
"""With what SentencePiece begins a piece that follows a space. Alone it is a space and says nothing."""


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """The tokens of one text: ids int32 (n,), their strings, vectors (n, dim).

    Special tokens, the prefix or instruction, and bare spaces are left out; an empty text has none.
    """

    ids: NDArray[np.int32]
    tokens: tuple[str, ...]
    vectors: Vectors


def batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Indices in order of length, cut so that rows × longest stays within `budget` (one row may exceed it alone).

    >>> list(batches([3, 1, 2], budget=4))
    [[1, 2], [0]]
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
        if batch and lengths[index] * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def normalised(vectors: Vectors) -> Vectors:
    """Rows at unit length, float32. Raises ModelError for a row that has no direction: NaN, infinite or zero."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        raise ModelError(
            "the encoder gave a vector without direction: load the model again, or verify its files"
        )
    return np.asarray(vectors / lengths, np.float32)
