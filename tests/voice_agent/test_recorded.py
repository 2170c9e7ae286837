"""Recorded callers: clips are spoken whole, in order, at their cue."""

from __future__ import annotations

import asyncio

import numpy as np

from audio.types import CALL_RATE_HZ, FRAME_SAMPLES, Samples
from voice_agent.call.recorded import Clip, RecordedCaller


def sound(frames: int, level: float) -> Samples:
    return np.full(frames * FRAME_SAMPLES, level, dtype=np.float32)


def read(caller: RecordedCaller, frames: int) -> Samples:
    async def go() -> Samples:
        got = [await caller.read() for _ in range(frames)]
        assert all(frame is not None for frame in got)
        return np.concatenate([frame.samples for frame in got if frame is not None])

    return asyncio.run(go())


def test_a_clip_is_spoken_from_the_start_and_then_the_line_is_silent() -> None:
    """A file stands in for the microphone; a cut last frame is padded; afterwards silence comes for ever."""
    caller = RecordedCaller([Clip(sound(3, 0.5)[:-100])])
    heard = read(caller, 5)
    assert np.count_nonzero(heard) == 3 * FRAME_SAMPLES - 100 and caller.exhausted


def test_a_cued_clip_waits_for_the_agent() -> None:
    """Not before the cue, then exactly its delay after it; each event starts one clip only."""
    caller = RecordedCaller(
        [Clip(sound(2, 0.1)), Clip(sound(2, 0.2), "agent_started", 0.1), Clip(sound(1, 0.3), "agent_started")]
    )
    assert not read(caller, 20)[2 * FRAME_SAMPLES :].any() and caller.exhausted
    caller.agent_finished(0.4)
    assert caller.exhausted
    caller.agent_started(0.4)
    assert not caller.exhausted
    heard = read(caller, 10)
    assert (
        np.flatnonzero(heard)[0] / CALL_RATE_HZ == np.float64(0.1)
        and np.count_nonzero(heard) == 2 * FRAME_SAMPLES
    )
    caller.agent_started(0.6)
    assert np.isclose(read(caller, 2).max(), 0.3)


def test_positions_never_jump() -> None:
    """Frames follow one another on the call's clock, clip or silence."""
    caller = RecordedCaller([Clip(sound(2, 0.1))])

    async def starts() -> list[int]:
        return [frame.start for _ in range(6) if (frame := await caller.read()) is not None]

    assert asyncio.run(starts()) == [n * FRAME_SAMPLES for n in range(6)]
