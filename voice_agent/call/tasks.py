"""The tasks of a call: each is born here, under a number of the floor's, and cancelled here.

The only explicit cancellation of the project is here: cancel, wait for the task, never for its thread.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Set
from typing import Any

from voice_agent.call.clock import Clock, Job

Work = Callable[[Any, Job], Coroutine[Any, Any, None]]


class Tasks:
    """One a call. `group` is the call's own, while it runs; `counters` counts the births by name, for the journal."""

    def __init__(self, call: str, clock: Clock) -> None:
        self._call = call
        self._clock = clock
        self._running: dict[int, tuple[asyncio.Task[None], Job]] = {}
        self._tentative: set[int] = set()
        self._leans_on: dict[int, int] = {}
        self.group: asyncio.TaskGroup | None = None
        self.counters: Counter[str] = Counter()

    def spawn(self, number: int, name: str, work: Work, on: object) -> None:
        """The only birthplace of tasks: named, inside the call's group, with its job on the clock."""
        if self.group is None:
            raise RuntimeError("the call is not running")
        job = self._clock.job()
        self.counters[name] += 1
        task = self.group.create_task(_run(work, on, job), name=f"{self._call}:{name}:{number}")
        self._running[number] = task, job

    def spawn_ahead(self, number: int, name: str, work: Work, on: object) -> None:
        """A task that is given up as soon as the floor no longer names its number."""
        self._tentative.add(number)
        self.spawn(number, name, work, on)

    def keep(self, number: int) -> None:
        """What was begun ahead is wanted for good."""
        self._tentative.discard(number)

    def lean(self, number: int, ahead: int) -> None:
        """What was begun ahead is used by task `number`, and lives and dies with it."""
        self.keep(ahead)
        self._leans_on[number] = ahead

    def unwanted(self, named: Set[int | None]) -> Set[int]:
        """The tasks begun ahead whose numbers the floor does not name any more."""
        return self._tentative - named

    async def cancel(self, number: int) -> None:
        """Cancels a task and waits for it, not for the thread it may have asked something of."""
        self._tentative.discard(number)
        if (ahead := self._leans_on.pop(number, None)) is not None:
            await self.cancel(ahead)
        task, job = self._running.pop(number, (None, None))
        if task is None or job is None:
            return
        task.cancel()
        await asyncio.wait({task})
        job.close()

    async def cancel_all(self) -> None:
        for number in list(self._running):
            await self.cancel(number)


async def _run(work: Work, on: object, job: Job) -> None:
    try:
        await work(on, job)
    finally:
        job.close()
