"""Time in a replay: results come at their declared moment, however long the work really took."""

from __future__ import annotations

import asyncio

import pytest

from voice_agent.call.clock import Job, ReplayClock, WallClock

BUDGETS = {"asr": 0.5, "search": 0.2}


@pytest.mark.asyncio
@pytest.mark.parametrize("work_s", [0.0, 0.02])
async def test_a_stage_ends_at_its_budget_not_at_its_speed(work_s: float) -> None:
    """Fast or slow, the result is there at start + budget; the feeder waits for slow work and holds fast work back."""
    clock, ended = ReplayClock(BUDGETS), []

    async def work(job: Job) -> None:
        async with job.stage("asr"):
            await asyncio.sleep(work_s)
        ended.append(clock.now_s)
        async with job.stage("search"):
            await asyncio.sleep(work_s)
        ended.append(clock.now_s)
        job.close()

    await clock.reach(1.0)
    task = asyncio.create_task(work(clock.job()))
    for frame in range(51, 120):
        await clock.reach(frame * 0.02)
    await task
    assert ended == [pytest.approx(1.5), pytest.approx(1.7)]


@pytest.mark.asyncio
async def test_a_job_that_waits_for_the_call_does_not_hold_it_up() -> None:
    """While a job waits for playback the frames go on; once the event is set they wait for what the job does next."""
    clock, played, after = ReplayClock(BUDGETS), asyncio.Event(), []

    async def work(job: Job) -> None:
        await job.wait(played)
        after.append(clock.now_s)
        job.close()

    task = asyncio.create_task(work(clock.job()))
    for frame in range(1, 50):
        await clock.reach(frame * 0.02)
    assert not after
    played.set()
    await clock.reach(1.0)
    assert after == [1.0]
    await task


@pytest.mark.asyncio
async def test_a_job_given_up_before_it_ran_is_not_waited_for() -> None:
    """Closing a job from outside frees the feeder."""
    clock = ReplayClock(BUDGETS)
    job = clock.job()
    job.close()
    async with asyncio.timeout(5):
        await clock.reach(9.0)


@pytest.mark.asyncio
async def test_wall_time_is_kept_at_a_stated_speed() -> None:
    """A call of 2 s at speed 100 takes 20 ms of the loop's time at least; a live line is not held at all."""
    loop = asyncio.get_running_loop()
    fast, live = WallClock(100.0), WallClock(None)
    await fast.reach(0.0)
    began = loop.time()
    await fast.reach(2.0)
    assert loop.time() - began >= 0.019
    async with asyncio.timeout(5):
        await live.reach(10_000.0)
