"""Whose time a call runs by.

The frames are the clock: a frame's position is the call's time. A stage of slow work takes wall time, which a file
played as fast as possible does not have. So in a replay at speed 0 each stage is given a declared budget of the call's
time: the feeder waits at the moment the stage is due, and the stage's result is held back until then. The same file
then gives the same call on any machine. At other speeds and on a live line the feeder keeps wall time and stages end
when they end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol


class Job(Protocol):
    """One piece of slow work as the clock sees it. Born working; `close` may be called twice."""

    def stage(self, name: str) -> AbstractAsyncContextManager[None]:
        """A stretch of work that takes time. Not to be held across a `yield`."""
        ...

    async def wait(self, event: asyncio.Event) -> None:
        """Waits for the call itself (playback, the caller): the feeder goes on meanwhile."""
        ...

    def close(self) -> None:
        """The work is over, done or given up."""
        ...


class Clock(Protocol):
    """What a session needs of time."""

    async def reach(self, at_s: float) -> None:
        """The feeder's side: returns when the call may move on to `at_s`."""
        ...

    def job(self) -> Job:
        """The worker's side: a piece of work begins now."""
        ...


class WallClock:
    """Frames at their own pace times `speed`; stages take the time they take. A live microphone paces itself: None."""

    def __init__(self, speed: float | None = 1.0) -> None:
        self._speed = speed
        self._began: float | None = None

    async def reach(self, at_s: float) -> None:
        loop = asyncio.get_running_loop()
        if self._began is None:
            self._began = loop.time()
        wait = 0.0 if self._speed is None else self._began + at_s / self._speed - loop.time()
        await asyncio.sleep(max(0.0, wait))

    def job(self) -> Job:
        return _FreeJob()


class _FreeJob:
    @asynccontextmanager
    async def stage(self, name: str) -> AsyncIterator[None]:
        yield

    async def wait(self, event: asyncio.Event) -> None:
        await event.wait()

    def close(self) -> None:
        pass


class ReplayClock:
    """As fast as the work allows, yet every result at its declared moment (see the module's docstring)."""

    def __init__(self, budgets_s: Mapping[str, float], patience_s: float = 300.0) -> None:
        """`patience_s` is wall time: work that takes longer raises TimeoutError and does not hold the call for ever."""
        self._budgets_s = budgets_s
        self._patience_s = patience_s
        self._jobs: set[_BudgetedJob] = set()
        self.now_s = 0.0
        self.changed = asyncio.Event()

    async def reach(self, at_s: float) -> None:
        self.now_s = at_s
        for job in self._jobs:
            job.arrive()
        async with asyncio.timeout(self._patience_s):
            while not all(job.settled for job in self._jobs):
                self.changed.clear()
                await self.changed.wait()

    def job(self) -> Job:
        job = _BudgetedJob(self, self._budgets_s)
        self._jobs.add(job)
        return job

    def forget(self, job: _BudgetedJob) -> None:
        self._jobs.discard(job)
        self.changed.set()


class _BudgetedJob:
    """Works, is in a stage until `_due_s`, or waits for the call. The feeder stands still only while it works."""

    def __init__(self, clock: ReplayClock, budgets_s: Mapping[str, float]) -> None:
        self._clock = clock
        self._budgets_s = budgets_s
        self._at_s = clock.now_s
        self._due_s: float | None = None
        self._arrived = asyncio.Event()
        self._awaited: asyncio.Event | None = None

    @property
    def settled(self) -> bool:
        if self._awaited is not None:
            return not self._awaited.is_set()
        return self._due_s is not None and self._due_s > self._clock.now_s

    def arrive(self) -> None:
        if self._due_s is not None and self._due_s <= self._clock.now_s:
            self._arrived.set()

    @asynccontextmanager
    async def stage(self, name: str) -> AsyncIterator[None]:
        due_s = self._at_s + self._budgets_s[name]
        self._due_s = due_s
        self._arrived.clear()
        self.arrive()
        self._clock.changed.set()
        try:
            yield
            await self._arrived.wait()
            self._at_s = due_s
        finally:
            self._due_s = None
            self._clock.changed.set()

    async def wait(self, event: asyncio.Event) -> None:
        self._awaited = event
        self._clock.changed.set()
        try:
            await event.wait()
        finally:
            self._awaited = None
            self._at_s = max(self._at_s, self._clock.now_s)
            self._clock.changed.set()

    def close(self) -> None:
        self._clock.forget(self)
