"""The Searcher's own threads: one a channel, named, daemon, with a bounded queue.

concurrent.futures' pools are joined when the interpreter ends and would hang on a stuck channel; these are not.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass

from retrieval.types import Ranking

QUEUE_SIZE = 8
"""Searches that may wait for a channel: the final one, a speculation, and a few calls. More are turned away."""

JOIN_S = 1.0
"""How long closing waits for the job under way; a stuck one dies with the process."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """What a channel found and how long it ran."""

    ranking: Ranking
    ms: float


@dataclass(frozen=True, slots=True)
class _Job:
    run: Callable[[], Ranking]
    future: Future[Ranked]


class ChannelWorker:
    """One thread that runs one channel's jobs in turn."""

    def __init__(self, name: str) -> None:
        self._jobs: queue.Queue[_Job | None] = queue.Queue(QUEUE_SIZE)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    def submit(self, run: Callable[[], Ranking]) -> Future[Ranked]:
        """Queues a job. The future holds its result or what it raised; queue.Full when there was no room. Once closed,
        it comes back cancelled.
        """
        future: Future[Ranked] = Future()
        if self._closed.is_set():
            future.cancel()
            return future
        try:
            self._jobs.put_nowait(_Job(run, future))
        except queue.Full as e:
            future.set_exception(e)
        return future

    def close(self) -> None:
        """Cancels what waits, ends the thread, and waits a moment for it."""
        self._closed.set()
        while True:
            try:
                waiting = self._jobs.get_nowait()
            except queue.Empty:
                break
            if waiting is not None:
                waiting.future.cancel()
        self._jobs.put_nowait(None)
        self._thread.join(JOIN_S)

    def _serve(self) -> None:
        while (job := self._jobs.get()) is not None:
            if self._closed.is_set() or not job.future.set_running_or_notify_cancel():
                continue
            began = time.perf_counter()
            try:
                ranking = job.run()
            except Exception as fault:  # noqa: BLE001 - the recall channel's boundary: the waiter gets the fault
                job.future.set_exception(fault)
            else:
                job.future.set_result(Ranked(ranking, (time.perf_counter() - began) * 1000.0))
