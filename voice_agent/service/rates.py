"""So many requests a key may send in a stretch of time, counted by the library `limits` in a sliding window."""

from __future__ import annotations

import math
import time

from limits import parse
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from voice_agent.errors import ConfigError
from voice_agent.service.problem import Problem


class Rate:
    """One limit, counted apart for each client; null is no limit."""

    def __init__(self, rate: str | None) -> None:
        self._window = SlidingWindowCounterRateLimiter(MemoryStorage())
        try:
            self._limit = None if rate is None else parse(rate)
        except ValueError as e:
            raise ConfigError(f"service.rate: {rate!r} is no rate; write it as 120/minute") from e

    def count(self, client: str) -> None:
        """One more request. Raises Problem with the seconds to wait when it is one too many."""
        if self._limit is None or self._window.hit(self._limit, client):
            return
        left_s = self._window.get_window_stats(self._limit, client).reset_time - time.time()
        raise Problem("too-many", f"at most {self._limit} for one key", max(1, math.ceil(left_s)))
