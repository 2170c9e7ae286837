"""The one crossing from the event loop to blocking code: a daemon thread that owns a model and works job by job."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Job:
    work: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    done: asyncio.Future[Any]


class Worker:
    """Runs blocking calls in order on one named daemon thread.

    A cancelled caller leaves at once; its job is skipped if it has not begun, and its result is dropped if it has. The
    thread never keeps the process alive.
    """

    def __init__(self, name: str, limit_s: float = 60.0) -> None:
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._limit_s = limit_s
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The function's result or exception. Raises TimeoutError when it is not back within the worker's limit."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        self._jobs.put(_Job(lambda: function(*args, **kwargs), loop, done))
        async with asyncio.timeout(self._limit_s):
            return await done

    def close(self) -> None:
        """Lets the thread end after the job in hand. Does not wait for it."""
        self._jobs.put(None)

    def _serve(self) -> None:
        while (job := self._jobs.get()) is not None:
            if job.done.cancelled():
                continue
            try:
                result = job.work()
            except BaseException as e:  # noqa: BLE001 - carried to the caller, who owns it
                _tell(job, _fail, e)
            else:
                _tell(job, _succeed, result)


def _tell(job: _Job, how: Callable[[asyncio.Future[Any], Any], None], value: object) -> None:
    if not job.loop.is_closed():
        job.loop.call_soon_threadsafe(how, job.done, value)


def _succeed(done: asyncio.Future[Any], value: Any) -> None:
    if not done.done():
        done.set_result(value)


def _fail(done: asyncio.Future[Any], error: Any) -> None:
    if not done.done():
        done.set_exception(error)
