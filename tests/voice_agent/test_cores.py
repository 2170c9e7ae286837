"""Who may use the cores first."""

from __future__ import annotations

import asyncio
import threading

import pytest

from voice_agent.call.cores import Cores, Priority, rank, ranked
from voice_agent.call.threads import Worker


class Held:
    """Work that ends when it is told to, and remembers in what order it began."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.running = threading.Event()
        self.let_go = threading.Event()

    def hold(self, name: str) -> None:
        self.began.append(name)
        self.running.set()
        assert self.let_go.wait(10)

    def note(self, name: str) -> None:
        self.began.append(name)


async def asked(worker: Worker, priority: Priority, function: object, name: str) -> None:
    with ranked(priority):
        await worker.run(function, name)  # type: ignore[arg-type]


@pytest.mark.asyncio
async def test_nothing_begins_while_something_more_urgent_runs() -> None:
    """The caller's words first: what is less urgent begins after them, on whatever thread; what is more so, at once."""
    cores, work = Cores(patience_s=10), Held()
    hearing, thinking, speaking = (Worker(name, cores=cores) for name in ("hearing", "thinking", "speaking"))
    async with asyncio.TaskGroup() as group:
        group.create_task(asked(thinking, Priority.CHECK, work.hold, "check"))
        await asyncio.to_thread(work.running.wait, 10)
        group.create_task(asked(speaking, Priority.SPECULATION, work.note, "ahead"))
        await asked(hearing, Priority.FINAL, work.note, "words")
        assert work.began == ["check", "words"]
        work.let_go.set()
    assert work.began == ["check", "words", "ahead"]
    for worker in (hearing, thinking, speaking):
        worker.close()


@pytest.mark.asyncio
async def test_a_worker_takes_the_most_urgent_first_and_keeps_order_within_a_rank() -> None:
    """A stale partial never stands before the final."""
    work, worker = Held(), Worker("hearing")
    async with asyncio.TaskGroup() as group:
        group.create_task(asked(worker, Priority.PARTIAL, work.hold, "first"))
        await asyncio.to_thread(work.running.wait, 10)
        for priority, name in [(Priority.PARTIAL, "a"), (Priority.PARTIAL, "b"), (Priority.FINAL, "final")]:
            group.create_task(asked(worker, priority, work.note, name))
            await asyncio.sleep(0)
        work.let_go.set()
    assert work.began == ["first", "final", "a", "b"]
    worker.close()


@pytest.mark.asyncio
async def test_a_model_that_hangs_does_not_silence_the_others() -> None:
    """What has been held back for `patience_s` begins beside it."""
    cores, work = Cores(patience_s=0.05), Held()
    hearing, speaking = Worker("hearing", cores=cores), Worker("speaking", cores=cores)
    async with asyncio.TaskGroup() as group:
        group.create_task(asked(hearing, Priority.FINAL, work.hold, "hangs"))
        await asyncio.to_thread(work.running.wait, 10)
        await asked(speaking, Priority.NEXT_CLAUSE, work.note, "speech")
        assert work.began == ["hangs", "speech"]
        work.let_go.set()
    hearing.close()
    speaking.close()


@pytest.mark.asyncio
async def test_work_that_raises_gives_its_place_back() -> None:
    """A fault leaves nothing held."""
    cores = Cores(patience_s=10)
    hearing, speaking = Worker("hearing", cores=cores), Worker("speaking", cores=cores)
    with pytest.raises(ZeroDivisionError), ranked(Priority.FINAL):
        await hearing.run(divmod, 1, 0)
    with ranked(Priority.PRERENDER):
        assert await speaking.run(divmod, 7, 2) == (3, 1)
    hearing.close()
    speaking.close()


def test_a_rank_ends_with_its_block() -> None:
    """Work goes by the default outside."""
    with ranked(Priority.PARTIAL):
        assert rank() is Priority.PARTIAL
    assert rank() is Priority.CHECK
