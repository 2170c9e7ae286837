"""The reranker of an index without token vectors: the pooled vectors it has, one for each surface of a passage."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.encoder import Encoder
from retrieval.index import Index
from retrieval.rerank import Scale
from retrieval.surfaces import document_text
from retrieval.token_store import rows_by_text


class PooledVectors:
    """score = max over the text's surfaces of cos(question, surface), clipped to [0, 1].

    It reads nothing that the dense channel did not read, so it orders candidates and adds no evidence: its id and its
    range are its own, and thresholds fitted to another reranker do not hold for it. A text that the index does not
    hold is encoded on the spot.
    """

    def __init__(self, encoder: Encoder, index: Index) -> None:
        self._encoder = encoder
        self._rows = rows_by_text([document_text(p) for p in index.passages])
        self._vectors = index.vectors
        self._starts = index.starts

    @property
    def id(self) -> str:
        return f"pooled-vectors/1 {self._encoder.id}"

    @property
    def scale(self) -> Scale:
        return "unit"

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """As Reranker says."""
        if not texts:
            return []
        (asked,) = self._encoder.queries([query])
        unknown = [text for text in texts if text not in self._rows]
        fresh = iter(self._encoder.passages(unknown) if unknown else ())
        held = [next(fresh)[np.newaxis] if text not in self._rows else self._surfaces(text) for text in texts]
        starts = np.cumsum([0, *map(len, held[:-1])])
        nearest = np.maximum.reduceat(np.concatenate(held) @ asked, starts)
        return [float(score) for score in np.clip(nearest, 0.0, 1.0)]

    def _surfaces(self, text: str) -> NDArray[np.float32]:
        row = self._rows[text]
        return self._vectors[self._starts[row] : self._starts[row + 1]]
