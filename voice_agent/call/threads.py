"""The one crossing from the event loop to blocking code: a daemon thread that owns a model and works job by job."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from typing import Any, ParamSpec, TypeVar

from voice_agent.call.cores import Cores, Priority, rank

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, order=True)
class _Job:
    rank: int
    number: int
    since: float = field(compare=False)
    work: Callable[[], Any] = field(compare=False)
    loop: asyncio.AbstractEventLoop = field(compare=False)
    done: asyncio.Future[Any] = field(compare=False)


class Worker:
    """Runs blocking calls on one named daemon thread: the most urgent first, in order within a rank, when the gate lets
    them. Workers that share `cores` give way to each other.

    A cancelled caller leaves at once; its job is skipped if it has not begun, and its result is dropped if it has. The
    thread never keeps the process alive.
    """

    def __init__(self, name: str, limit_s: float = 60.0, cores: Cores | None = None) -> None:
        self._cores = cores or Cores()
        self._limit_s = limit_s
        self._jobs: list[_Job] = []
        self._numbers = itertools.count()
        self._closed = False
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The function's result or exception. Raises TimeoutError when it is not back within the worker's limit."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        work = partial(function, *args, **kwargs)
        with self._cores.changed:
            heappush(self._jobs, _Job(rank(), next(self._numbers), time.monotonic(), work, loop, done))
            self._cores.changed.notify_all()
        async with asyncio.timeout(self._limit_s):
            return await done

    def close(self) -> None:
        """Lets the thread end after the work it has. Does not wait for it."""
        with self._cores.changed:
            self._closed = True
            self._cores.changed.notify_all()

    def _serve(self) -> None:
        while (job := self._next()) is not None:
            try:
                result = job.work()
            except BaseException as e:  # noqa: BLE001 - carried to the caller, who owns it
                _tell(job, _fail, e)
            else:
                _tell(job, _succeed, result)
            finally:
                with self._cores.changed:
                    self._cores.end(Priority(job.rank))

    def _next(self) -> _Job | None:
        """The most urgent job once it may begin; None when the worker is closed and nothing is left."""
        with self._cores.changed:
            while True:
                while self._jobs and self._jobs[0].done.cancelled():
                    heappop(self._jobs)
                if not self._jobs and self._closed:
                    return None
                wait_s = self._held_back_s()
                if wait_s == 0:
                    job = heappop(self._jobs)
                    self._cores.begin(Priority(job.rank))
                    return job
                self._cores.changed.wait(wait_s)

    def _held_back_s(self) -> float | None:
        """How long the first job must wait at most: 0 if it may begin; None while there is none."""
        if not self._jobs:
            return None
        first = self._jobs[0]
        if self._closed or self._cores.may_begin(Priority(first.rank)):
            return 0
        return max(0, first.since + self._cores.patience_s - time.monotonic())


def _tell(job: _Job, how: Callable[[asyncio.Future[Any], Any], None], value: object) -> None:
    if not job.loop.is_closed():
        job.loop.call_soon_threadsafe(how, job.done, value)


def _succeed(done: asyncio.Future[Any], value: Any) -> None:
    if not done.done():
        done.set_result(value)


def _fail(done: asyncio.Future[Any], error: Any) -> None:
    if not done.done():
        done.set_exception(error)
