"""Replays at real-time speed through a warm agent, several at a time if wanted, with an eye on the event loop."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from audio.wav import read_wav
from live.turns import Wait, waits
from voice_agent.build import Agent, open_agent
from voice_agent.call.recorded import Clip
from voice_agent.config import load_config
from voice_agent.expectations import Expectation, load_expectations
from voice_agent.replay import replay_call

PROBE_S = 0.01
"""How often the loop is asked to come back; what it takes longer is its lag."""


@dataclass(frozen=True)
class Run:
    """`first` are the first turns of each call, which find the most to be warmed; `lags_s` the loop's delays."""

    first: list[Wait]
    later: list[Wait]
    lags_s: list[float]

    @property
    def every(self) -> list[Wait]:
        return self.first + self.later


def expected(folder: Path, names: Sequence[str]) -> list[Expectation]:
    """The recorded calls of these names, all of them if there are none."""
    calls = load_expectations(folder / "expect.jsonl")
    return [call for call in calls if not names or call.call in names]


def measured(
    folder: Path, calls: Sequence[Expectation], overrides: Sequence[str], at_once: int = 1, warm: bool = True
) -> Run:
    """Every call in real time, `at_once` of each side by side; with `warm` each was spoken once before."""
    with open_agent(load_config(None, overrides), lambda *_: None) as agent:
        if warm:
            asyncio.run(_all(agent, folder, calls, speed=8.0, at_once=1))
        return asyncio.run(_all(agent, folder, calls, speed=1.0, at_once=at_once))


async def _all(agent: Agent, folder: Path, calls: Sequence[Expectation], speed: float, at_once: int) -> Run:
    lags: list[float] = []
    found: list[Wait] = []
    with tempfile.TemporaryDirectory() as out:
        async with asyncio.TaskGroup() as group:
            probe = group.create_task(_probe(lags), name="probe")
            for call in calls:
                clips = [
                    Clip(read_wav(folder / clip.wav, "mix").samples, clip.cue, clip.delay_s)
                    for clip in call.clips
                ]
                replays = (
                    replay_call(agent, call.call, clips, call.as_of, speed, Path(out, str(n)))
                    for n in range(at_once)
                )
                for journal in await asyncio.gather(*replays):
                    found.extend(waits(journal))
            probe.cancel()
    return Run([w for w in found if w.turn == 1], [w for w in found if w.turn > 1], lags)


async def _probe(lags: list[float]) -> None:
    while True:
        asked = time.perf_counter()
        await asyncio.sleep(PROBE_S)
        lags.append(time.perf_counter() - asked - PROBE_S)
