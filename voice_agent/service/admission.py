"""The bounded queue before the model worker: so many at once, so many waiting; the rest is told when to come."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from voice_agent.service.problem import Problem

_FIRST_GUESS_S = 0.5
_WEIGHT = 0.2
# Of the newest request in the mean that Retry-After is worked out from.


class Queue:
    """Places of one event loop. Whoever finds none free is refused at once, never later."""

    def __init__(self, at_once: int, waiting: int) -> None:
        self._at_once = at_once
        self._most = at_once + waiting
        self._free = asyncio.Semaphore(at_once)
        self._took_s = _FIRST_GUESS_S
        self.held = 0

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Held while one request is worked on. Raises Problem when as many as may wait are waiting."""
        if self.held >= self._most:
            wait_s = max(1, math.ceil(self.held * self._took_s / self._at_once))
            raise Problem("queue-full", f"{self.held} requests are before this one", wait_s)
        self.held += 1
        try:
            async with self._free:
                began = time.perf_counter()
                try:
                    yield
                finally:
                    self._took_s += _WEIGHT * (time.perf_counter() - began - self._took_s)
        finally:
            self.held -= 1
