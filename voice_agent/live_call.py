"""One live call with all that is its own: journal, masking, sound kept by consent, hand-off, session.

Whoever has a caller at the far end of something (devices, a web page, a telephone line) opens one, runs it to its end,
and finds in `kept` what is left of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Protocol

import numpy as np

from audio.types import CALL_RATE_HZ, Samples
from audio.wav import WavWriter
from voice_agent.build import Agent, live_duties
from voice_agent.call.clock import WallClock
from voice_agent.call.line import Line, Records
from voice_agent.call.live import Devices, FrameSource, LiveCaller
from voice_agent.call.session import Session
from voice_agent.errors import InputError
from voice_agent.floor.state import State
from voice_agent.handing_over import live_sink
from voice_agent.record.consent import ConsentedSound
from voice_agent.record.journal import Journal, unused_call_id
from voice_agent.record.telemetry import Watched, Watcher
from voice_agent.record.vault import masking


class FarEnd(Protocol):
    """Where the caller is: their frames come from it, and what is said goes to it."""

    @property
    def frames(self) -> FrameSource:
        """The caller's sound."""
        ...

    @property
    def devices(self) -> Devices:
        """What the sound comes through; dead once it is gone for good: the call then ends."""
        ...

    @property
    def delay_s(self) -> float | None:
        """Seconds until what is played now is heard; None while it cannot be: speech then waits."""
        ...

    def play(self, caller: Samples, agent: Samples) -> None:
        """Both sides of the next 20 ms at CALL_RATE_HZ, as they come due; the agent's is to be heard."""
        ...

    def flush(self) -> None:
        """What was played and is not heard yet shall not be: the caller has cut it."""
        ...

    def faults(self) -> Mapping[str, int]:
        """What went wrong with the sound, counted, for the journal's end."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """How a call is held. `record` keeps both sides in logs/recordings; `agreed` says who has agreed to that.

    `stem` begins the call's name; `facts` stand in the journal's first line.
    """

    stem: str
    as_of: date
    record: bool
    agreed: str
    facts: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Kept:
    """What is left of a call."""

    journal: Path
    recording: Path | None


@dataclass(frozen=True, slots=True)
class LiveCall:
    """A call under way. `greeting` is what it begins with, None when it begins with nothing."""

    name: str
    kept: Kept
    greeting: str | None
    caller: LiveCaller
    session: Session

    @property
    def state(self) -> State:
        """Where the call stands. On any thread."""
        return self.session.state


@contextmanager
def open_call(agent: Agent, far: FarEnd, plan: Plan, watcher: Watcher) -> Iterator[LiveCall]:
    """The call, ready to run. `watcher` sees every event after it is in the journal, with the caller's own words.

    Raises InputError, AgentError.
    """
    logs = agent.config.paths.logs
    call = unused_call_id(logs / "calls", plan.stem)
    agent = agent.of_call(call)
    duties = live_duties(agent.config, recorded=plan.record)
    with ExitStack() as stack:
        masker = stack.enter_context(masking(agent.config.privacy.key_env, logs / "calls", call))
        header = {**agent.header, **plan.facts, "as_of": plan.as_of, "recorded": plan.record}
        journal = stack.enter_context(Journal(logs / "calls", call, header, masker=masker))
        counted = stack.enter_context(agent.telemetry.watching(call, journal))
        recorder = Watched(counted, (watcher,))
        recorder.write("ready", 0.0, 0, timings_ms=agent.timings_ms, recorded=plan.record)
        path = logs / "recordings" / f"{call}.wav"
        sound = stack.enter_context(closing(ConsentedSound(path, _new_recording, recorder)))
        sound.answered(plan.record, plan.agreed, 0.0)
        caller = LiveCaller(far.frames, far.devices, recorder)
        line = Line(
            caller, WallClock(None), _both(far.play, sound), lambda: far.delay_s, far.faults, far.flush
        )
        records = Records(call, plan.as_of, recorder, live_sink(agent.config, masker.mask))
        kept = Kept(journal.path, path if plan.record else None)
        yield LiveCall(call, kept, duties.greeting, caller, Session(agent.parts, line, records, duties))


def named(door: str) -> str:
    """The stem of a call's name: where it came in, and when."""
    return f"{door}-{datetime.now():%Y%m%d-%H%M%S}"


def _both(
    play: Callable[[Samples, Samples], None], sound: ConsentedSound
) -> Callable[[Samples, Samples], None]:
    def out(caller: Samples, agent: Samples) -> None:
        play(caller, agent)
        sound.append(np.stack([caller, agent], axis=1))

    return out


def _new_recording(path: Path) -> WavWriter:
    """Raises InputError when it cannot be made."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600, exist_ok=False)
    except OSError as e:
        raise InputError(
            f"{path}: cannot be written ({e.strerror}); choose another folder by paths.logs"
        ) from e
    return WavWriter(path, CALL_RATE_HZ, channels=2)
