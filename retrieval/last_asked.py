"""A question's vectors made once, though several read them: channels search by them at the same moment."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.dense import QueryEncoder


class LastAsked:
    """An encoder of questions that keeps the vectors of the last texts. Threads may share it: the second one waits for
    what the first is making.
    """

    def __init__(self, encoder: QueryEncoder) -> None:
        self._encoder = encoder
        self._lock = threading.Lock()
        self._last: tuple[tuple[str, ...], NDArray[np.float32]] | None = None

    @property
    def id(self) -> str:
        return self._encoder.id

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, dim), as the encoder makes them. Raises what it raises, and then keeps nothing."""
        with self._lock:
            if self._last is None or self._last[0] != tuple(texts):
                self._last = (tuple(texts), self._encoder.queries(texts))
            return self._last[1]
