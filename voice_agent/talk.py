"""A live call at this machine's microphone: the session on the caller's own time, its journal and, if asked, its sound.

Who watches the call (a screen) is told every event after it is in the journal, and every stretch of sound.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from types import FrameType
from typing import Protocol

import numpy as np

from audio.sound_line import SoundLine
from audio.types import CALL_RATE_HZ, Samples
from audio.wav import WavWriter
from voice_agent.build import Agent, live_duties
from voice_agent.call.clock import WallClock
from voice_agent.call.line import Line, Records
from voice_agent.call.live import LiveCaller
from voice_agent.call.session import Session
from voice_agent.errors import InputError
from voice_agent.floor.state import State
from voice_agent.handing_over import live_sink
from voice_agent.keeping import sweep_calls
from voice_agent.record.consent import ConsentedSound
from voice_agent.record.journal import Journal, Recorder, unused_call_id
from voice_agent.record.vault import masking

LAST_WORDS_S = 1.0
"""At most so long the devices may still play, after the call has ended, what they were given."""


class Onlooker(Protocol):
    """Sees a call as it goes on."""

    def begin(self, state: Callable[[], State]) -> None:
        """The call begins; `state` tells where it stands, on any thread."""
        ...

    def tell(self, kind: str, data: dict[str, object]) -> None:
        """An event of the journal, with the caller's own words."""
        ...

    def sound(self, caller: Samples, agent: Samples) -> None:
        """Both sides of the same 20 ms."""
        ...


@dataclass(frozen=True, slots=True)
class Talk:
    """How a call is held. `record` keeps both sides in logs/recordings."""

    as_of: date
    record: bool


@dataclass(frozen=True, slots=True)
class Kept:
    """What is left of a call."""

    journal: Path
    recording: Path | None


async def talk(agent: Agent, sound: SoundLine, plan: Talk, onlooker: Onlooker) -> Kept:
    """Holds the call to its end; SIGINT and SIGTERM hang up. Raises AudioError, AgentError."""
    logs = agent.config.paths.logs
    call = unused_call_id(logs / "calls", f"talk-{datetime.now():%Y%m%d-%H%M%S}")
    sweep_calls(agent.config)
    with ExitStack() as stack:
        masker = stack.enter_context(masking(agent.config.privacy.key_env, logs / "calls", call))
        header = {**agent.header, "as_of": plan.as_of, "recorded": plan.record}
        journal = stack.enter_context(Journal(logs / "calls", call, header, masker=masker))
        watched = stack.enter_context(agent.telemetry.watching(call, journal))
        recorder = _Overheard(watched, onlooker.tell)
        recorder.write("ready", 0.0, 0, timings_ms=agent.timings_ms, recorded=plan.record)
        path = logs / "recordings" / f"{call}.wav"
        kept = stack.enter_context(closing(ConsentedSound(path, _new_recording, recorder)))
        kept.answered(plan.record, "operator", 0.0)

        def out(caller: Samples, spoken: Samples) -> None:
            sound.speaker.feed(spoken)
            onlooker.sound(caller, spoken)
            kept.append(np.stack([caller, spoken], axis=1))

        caller = LiveCaller(sound.microphone, sound, recorder)
        line = Line(caller, WallClock(None), out, lambda: sound.speaker.delay_s, lambda: sound.counters)
        records = Records(call, plan.as_of, recorder, live_sink(agent.config, masker.mask))
        duties = live_duties(agent.config, recorded=plan.record)
        session = Session(agent.parts, line, records, duties)
        onlooker.begin(lambda: session.state)
        with _hanging_up(caller.hang_up):
            await session.run()
            if not caller.hung_up:
                await asyncio.sleep(min(sound.speaker.delay_s or LAST_WORDS_S, LAST_WORDS_S))
        return Kept(journal.path, path if plan.record else None)


class _Overheard:
    """Passes every event to the journal first, then to whoever watches."""

    def __init__(self, journal: Recorder, tell: Callable[[str, dict[str, object]], None]) -> None:
        self._journal = journal
        self._tell = tell

    def write(self, kind: str, t: float, turn: int, **data: object) -> None:
        self._journal.write(kind, t, turn, **data)
        self._tell(kind, data)


@contextmanager
def _hanging_up(hang_up: Callable[[], None]) -> Iterator[None]:
    """The first signal ends the call in order, the second at once."""

    def once(number: int, frame: FrameType | None) -> None:
        hang_up()
        for name, handler in before.items():
            signal.signal(name, handler)

    before = {name: signal.signal(name, once) for name in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


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
