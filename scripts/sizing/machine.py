"""Cores and stages in virtual time: work waits for a place in its stage, then for its cores, in its turn."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

Done = Callable[[float], None]
"""Told the moment at which the work is done, in seconds."""


@dataclass
class Stage:
    """So many works of it at once, as a worker thread or a semaphore allows; each takes so many cores."""

    at_once: int
    cores: int = 1
    busy: int = 0


@dataclass(frozen=True)
class _Work:
    stage: Stage
    seconds: float
    done: Done


@dataclass
class Machine:
    """`now` is in seconds. Works begin in the order in which they came, where their stage has a place."""

    cores: int
    now: float = 0.0
    _free: int = field(init=False)
    _waiting: list[_Work] = field(default_factory=list)
    _events: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    _order: itertools.count[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        self._free = self.cores

    def at(self, moment: float, act: Callable[[], None]) -> None:
        """Not before now."""
        heapq.heappush(self._events, (max(moment, self.now), next(self._order), act))

    def work(self, stage: Stage, seconds: float, done: Done) -> None:
        """Seconds on the stage's cores, or on all there are if it asks for more."""
        self._waiting.append(_Work(stage, seconds, done))
        self._begin()

    def run(self, until: float) -> None:
        """Everything that happens before `until`."""
        while self._events and self._events[0][0] <= until:
            self.now, _, act = heapq.heappop(self._events)
            act()

    def _begin(self) -> None:
        for work in list(self._waiting):
            needs = min(work.stage.cores, self.cores)
            if work.stage.busy >= work.stage.at_once:
                continue
            if needs > self._free:
                return  # whoever came later does not overtake on the cores
            self._waiting.remove(work)
            work.stage.busy += 1
            self._free -= needs
            self.at(self.now + work.seconds, lambda work=work, needs=needs: self._end(work, needs))

    def _end(self, work: _Work, cores: int) -> None:
        work.stage.busy -= 1
        self._free += cores
        work.done(self.now)
        self._begin()
