"""A channel's own thread: faults are handed over, waiting is bounded, closing never hangs."""

from __future__ import annotations

import queue
import threading
from concurrent.futures import CancelledError

import pytest

from retrieval.types import PassageId, Ranking
from retrieval.workers import QUEUE_SIZE, ChannelWorker

FOUND: Ranking = [(PassageId("a"), 1.0)]


def test_a_job_runs_on_the_named_daemon_thread() -> None:
    """The work happens on the channel's own thread, which never keeps the process alive."""
    worker = ChannelWorker("recall-test")
    seen: list[threading.Thread] = []

    def run() -> Ranking:
        seen.append(threading.current_thread())
        return FOUND

    ranked = worker.submit(run).result(5)
    worker.close()
    assert ranked.ranking == FOUND and ranked.ms >= 0.0
    assert (seen[0].name, seen[0].daemon) == ("recall-test", True)
    assert not seen[0].is_alive()


def test_a_fault_reaches_the_waiter_and_the_thread_goes_on() -> None:
    """Whatever a channel raises is its job's outcome; the next job runs as usual."""
    worker = ChannelWorker("recall-test")

    def fail() -> Ranking:
        raise ZeroDivisionError("no")

    with pytest.raises(ZeroDivisionError):
        worker.submit(fail).result(5)
    assert worker.submit(lambda: FOUND).result(5).ranking == FOUND
    worker.close()


def test_a_stuck_channel_turns_further_jobs_away_and_closing_returns() -> None:
    """Behind a stuck job at most QUEUE_SIZE wait, more are refused; close cancels them and leaves the stuck one."""
    worker = ChannelWorker("recall-test")
    started, release = threading.Event(), threading.Event()

    def stick() -> Ranking:
        started.set()
        release.wait(30)
        return FOUND

    stuck = worker.submit(stick)
    assert started.wait(5)
    waiting = [worker.submit(lambda: FOUND) for _ in range(QUEUE_SIZE)]
    with pytest.raises(queue.Full):
        worker.submit(lambda: FOUND).result(0)
    closer = threading.Thread(target=worker.close)
    closer.start()
    for job in waiting:
        with pytest.raises(CancelledError):
            job.result(5)
    release.set()
    closer.join(5)
    assert not closer.is_alive() and stuck.result(5).ranking == FOUND
