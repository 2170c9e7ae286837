"""Places, a line before them, arrivals by chance: what share is turned away, and how long the others take. Pure."""

from __future__ import annotations

import heapq
import math
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from retrieval.metrics import percentile


@dataclass(frozen=True, slots=True)
class Outcome:
    """Seconds from arrival to end of those that were taken; `refused` is the share that found the line full."""

    p50_s: float
    p95_s: float
    refused: float
    busy: float
    """Share of the time that a place was in use."""


class _Desk:
    """Places in use until they end, the line before them, and what came of it."""

    def __init__(self, service_s: Callable[[], float], places: int, line: int) -> None:
        self._service_s, self._places, self._line = service_s, places, line
        self._ends: list[float] = []
        self._waiting: deque[float] = deque()
        self.took: list[float] = []
        self.used_s = 0.0
        self.came = self.refused = 0

    def arrive(self, now: float) -> None:
        self.until(now)
        self.came += 1
        if len(self._ends) < self._places:
            self._begin(now, now)
        elif len(self._waiting) < self._line:
            self._waiting.append(now)
        else:
            self.refused += 1

    def until(self, now: float) -> None:
        """Whoever ends by then makes room for the next in line."""
        while self._ends and self._ends[0] <= now:
            freed = heapq.heappop(self._ends)
            if self._waiting:
                self._begin(self._waiting.popleft(), freed)

    def _begin(self, arrived: float, at: float) -> None:
        needs = self._service_s()
        self.used_s += needs
        self.took.append(at + needs - arrived)
        heapq.heappush(self._ends, at + needs)


def simulate(
    per_s: float, service_s: Callable[[], float], places: int, line: int, *, seconds: float, seed: int = 7
) -> Outcome:
    """First come, first served. `service_s` draws how long one takes; nobody who waits gives up.

    Raises ValueError for a rate, a duration or a number of places that is not above zero.
    """
    if per_s <= 0 or seconds <= 0 or places < 1 or line < 0:
        raise ValueError("rate, seconds and places must be above zero, and the line not below it")
    chance, desk, now = random.Random(seed), _Desk(service_s, places, line), 0.0
    while (now := now + chance.expovariate(per_s)) < seconds:
        desk.arrive(now)
    desk.until(math.inf)
    p50, p95 = (percentile(desk.took, share) or 0.0 for share in (0.5, 0.95))
    refused = desk.refused / desk.came if desk.came else 0.0
    return Outcome(p50, p95, refused, min(1.0, desk.used_s / (places * seconds)))


def least_places(
    per_s: float, service_s: Callable[[], float], line: int, refused: float, most: int = 1000
) -> int:
    """The smallest number of places that turns away no more than this share. Raises ValueError beyond `most`."""
    low, high = 0, 1
    seconds = max(3600.0, 20_000 / per_s)
    while simulate(per_s, service_s, high, line, seconds=seconds).refused > refused:
        low, high = high, 2 * high
        if low >= most:
            raise ValueError(f"more than {most} places")
    while high - low > 1:
        middle = (low + high) // 2
        if simulate(per_s, service_s, middle, line, seconds=seconds).refused > refused:
            low = middle
        else:
            high = middle
    return high
