"""A thread that makes something ready again, once at a time, while those who ask meanwhile are turned away at once."""

from __future__ import annotations

import threading
from collections.abc import Callable

from retrieval.errors import StoreError


class Waking:
    """Work that takes longer than a search may wait. A try that fails is forgotten: whoever asks next begins anew."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @property
    def under_way(self) -> bool:
        """Whether it is not ready yet."""
        return self._thread is not None and self._thread.is_alive()

    def begin(self, work: Callable[[], None]) -> None:
        """Starts the work unless it is under way. `work` may raise StoreError."""
        with self._lock:
            if self.under_way:
                return
            self._thread = threading.Thread(target=_tried, args=(work,), name="store-waking", daemon=True)
            self._thread.start()


def _tried(work: Callable[[], None]) -> None:
    try:
        work()
    except StoreError:
        return  # the search that finds it still asleep says so
