"""A live call at this machine's microphone: the session on the caller's own time, watched by a screen.

Who watches the call is told every event after it is in the journal, and every stretch of sound.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from types import FrameType
from typing import Protocol

from audio.sound_line import SoundLine
from audio.types import Samples
from voice_agent.build import Agent
from voice_agent.floor.state import State
from voice_agent.keeping import sweep_calls
from voice_agent.live_call import Kept, Plan, named, open_call

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


async def talk(agent: Agent, sound: SoundLine, plan: Talk, onlooker: Onlooker) -> Kept:
    """Holds the call to its end; SIGINT and SIGTERM hang up. Raises AudioError, AgentError."""
    sweep_calls(agent.config)
    held = Plan(named("talk"), plan.as_of, plan.record, "operator", {})
    with open_call(agent, _Here(sound, onlooker), held, _Overhearing(onlooker)) as call:
        onlooker.begin(lambda: call.state)
        with _hanging_up(call.caller.hang_up):
            await call.session.run()
            if not call.caller.hung_up:
                await asyncio.sleep(min(sound.speaker.delay_s or LAST_WORDS_S, LAST_WORDS_S))
        return call.kept


class _Here:
    """The devices of this machine as the far end of a call, and who listens in."""

    def __init__(self, sound: SoundLine, onlooker: Onlooker) -> None:
        self._sound = sound
        self._onlooker = onlooker
        self.frames = sound.microphone
        self.devices = sound

    @property
    def delay_s(self) -> float | None:
        return self._sound.speaker.delay_s

    def play(self, caller: Samples, agent: Samples) -> None:
        self._sound.speaker.feed(agent)
        self._onlooker.sound(caller, agent)

    def flush(self) -> None:
        """What little the loudspeaker holds is played."""

    def faults(self) -> Mapping[str, int]:
        return self._sound.counters


class _Overhearing:
    """Tells the onlooker of every event."""

    def __init__(self, onlooker: Onlooker) -> None:
        self._onlooker = onlooker

    def saw(self, kind: str, t: float, turn: int, data: Mapping[str, object]) -> None:
        self._onlooker.tell(kind, dict(data))


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
