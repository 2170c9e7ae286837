"""Meaning search: the query's vector against every surface vector, the best surface speaking for its passage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import ModelError
from retrieval.filters import OpenRows
from retrieval.fusion import top_rows
from retrieval.query import voices
from retrieval.types import PassageId, Query, Ranking


class QueryEncoder(Protocol):
    """Makes vectors of questions."""

    @property
    def id(self) -> str: ...

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, dim). Raises ModelError."""
        ...


def query_vector(encoder: QueryEncoder, query: Query) -> NDArray[np.float32]:
    """The query's vector (dim,), with history the mean of both by their share. Raises ModelError."""
    texts, shares = zip(*voices(query), strict=True)
    vector: NDArray[np.float32] = np.asarray(shares, dtype=np.float32) @ encoder.queries(texts)
    if not np.isfinite(vector).all():
        raise ModelError(f"encoder {encoder.id}: the query's vector is not finite")
    return vector


class Dense:
    """The dense channel: exact cosine over unit vectors, usually mapped from disk.

    One thread: a product with a single vector is bound by memory, and a second thread measured no faster.

    `vectors` float32 (surfaces, dim); the surfaces of passage i are rows `starts[i]` to `starts[i + 1]`, at least one.
    """

    def __init__(
        self,
        encoder: QueryEncoder,
        ids: Sequence[PassageId],
        vectors: NDArray[np.float32],
        starts: NDArray[np.int64],
    ) -> None:
        if len(starts) != len(ids) + 1 or (len(ids) and int(np.diff(starts).min()) < 1):
            raise ValueError("every passage needs at least one surface")
        self._encoder = encoder
        self._ids = tuple(ids)
        self._vectors = vectors
        self._starts = starts

    def rank(self, query: Query, limit: int, allowed: OpenRows) -> Ranking:
        """The best `limit` allowed passages by cosine in [-1, 1], best first, ties by id. Raises ModelError.

        With history the score is the mean of the two cosines by their share.
        """
        if not self._ids:
            return []
        vector = query_vector(self._encoder, query)
        best = np.maximum.reduceat(self._vectors @ vector, self._starts[:-1])
        return top_rows(self._ids, best, allowed, limit)
