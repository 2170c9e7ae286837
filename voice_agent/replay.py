"""A recorded call through a ready agent: the session on a replay's clock, its journal and, when asked, its sound."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from datetime import date
from pathlib import Path

import numpy as np

from audio.types import CALL_RATE_HZ, Samples
from audio.wav import WavWriter
from voice_agent.build import Agent, replay_duties
from voice_agent.call.clock import Clock, ReplayClock, WallClock
from voice_agent.call.line import Line, Records
from voice_agent.call.recorded import Clip, RecordedCaller
from voice_agent.call.session import Session
from voice_agent.config import Config
from voice_agent.record.journal import Journal, unused_call_id
from voice_agent.record.vault import masking
from voice_agent.reply.handoff import FileHandoffSink

UNHURRIED_MS = 30_000
"""A search's wall-time limits in a replay at speed 0: only a hang reaches it."""


def unhurried(config: Config) -> Config:
    """The configuration for speed 0. A busy machine must not find less there: what a search may take of the call's
    time is its declared budget, so its limits in wall time are lifted, and nothing bridges a wait for sound."""
    limits = {"channel_deadline_ms": UNHURRIED_MS, "rerank_budget_ms": UNHURRIED_MS}
    turn = config.turn.model_copy(update={"lead_in_s": None})
    return config.model_copy(update={"retrieval": config.retrieval.model_copy(update=limits), "turn": turn})


async def replay_call(
    agent: Agent, name: str, clips: Sequence[Clip], as_of: date, speed: float, out: Path | None
) -> Path:
    """Runs the call to its end and returns its journal. `out` also gets the sound; without it only the journal is
    kept, in the configured logs. Raises AudioError, AgentError."""
    folder = out or agent.config.paths.logs / "calls"
    call = unused_call_id(folder, name)
    header = {**agent.header, "as_of": as_of}
    with ExitStack() as stack:
        masker = stack.enter_context(masking(agent.config.privacy.key_env, folder, call))
        journal = stack.enter_context(Journal(folder, call, header, masker=masker))
        recorder = stack.enter_context(agent.telemetry.watching(call, journal))
        recorder.write("ready", 0.0, 0, timings_ms=agent.timings_ms)
        sound = stack.enter_context(WavWriter(out / f"{call}.wav", CALL_RATE_HZ, channels=2)) if out else None

        def keep(caller: Samples, spoken: Samples) -> None:
            if sound is not None:
                sound.append(np.stack([caller, spoken], axis=1))

        sink = FileHandoffSink((out or agent.config.paths.logs) / "handoff", masker.mask)
        line = Line(RecordedCaller(clips), _clock(agent, speed), keep)
        records = Records(call, as_of, recorder, sink)
        await Session(agent.parts, line, records, replay_duties(agent.config)).run()
        return journal.path


def _clock(agent: Agent, speed: float) -> Clock:
    if speed:
        return WallClock(speed)
    budgets = agent.config.replay
    return ReplayClock({name.removesuffix("_s"): seconds for name, seconds in budgets.model_dump().items()})
