"""The crossing to blocking code: results, faults and cancellation come back; threads never hold anyone."""

from __future__ import annotations

import asyncio
import threading

import pytest

from voice_agent.call.threads import Worker


@pytest.mark.asyncio
async def test_work_runs_on_the_workers_own_thread_in_order() -> None:
    """Every job on the one named thread, first come first served."""
    worker, seen = Worker("ears"), []
    names = await asyncio.gather(
        *(worker.run(lambda n=n: (seen.append(n), threading.current_thread().name)[1]) for n in range(5))
    )
    assert set(names) == {"ears"} and seen == list(range(5))
    worker.close()


@pytest.mark.asyncio
async def test_a_fault_is_the_callers() -> None:
    """The exception of the blocking call is raised where it was awaited, and the worker lives on."""
    worker = Worker("w")

    def fail() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await worker.run(fail)
    assert await worker.run(lambda: 1) == 1
    worker.close()


@pytest.mark.asyncio
async def test_a_cancelled_caller_leaves_at_once_and_its_waiting_job_is_skipped() -> None:
    """Nobody waits for the thread; what had not begun never begins."""
    worker, release, ran = Worker("w"), threading.Event(), []
    first = asyncio.create_task(worker.run(release.wait, 5))
    second = asyncio.create_task(worker.run(ran.append, "second"))
    await asyncio.sleep(0.01)
    for task in (first, second):
        task.cancel()
    await asyncio.wait({first, second}, timeout=2)
    assert first.cancelled() and second.cancelled()
    release.set()
    await worker.run(lambda: None)
    assert ran == []
    worker.close()


@pytest.mark.asyncio
async def test_work_that_never_returns_is_a_timeout() -> None:
    """The limit is the worker's; the caller goes on."""
    worker, release = Worker("w", limit_s=0.01), threading.Event()
    with pytest.raises(TimeoutError):
        await worker.run(release.wait, 5)
    release.set()
    worker.close()
