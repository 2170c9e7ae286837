"""What a call is made of, put together once by build.py and shared by every call of the process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from audio.segments import SegmentRules
from audio.types import AudioFrame, Recognizer, Samples, Synthesizer
from voice_agent.call.listen import VoiceActivity
from voice_agent.call.threads import Worker
from voice_agent.floor.echo import EchoRules
from voice_agent.floor.state import Rules
from voice_agent.phrases import CALLBACK
from voice_agent.reply.answer import Answers


class Caller(Protocol):
    """The other end of the line: a microphone, or recordings played as a caller would speak them."""

    async def read(self) -> AudioFrame | None:
        """The next frame; None when the line is dead."""
        ...

    @property
    def exhausted(self) -> bool:
        """Nothing more will be said unless the agent speaks. A live caller is never exhausted."""
        ...

    def agent_started(self, at_s: float) -> None:
        """The agent became audible."""
        ...

    def agent_finished(self, at_s: float) -> None:
        """The agent has said all it had to say."""
        ...


@dataclass(frozen=True, slots=True)
class Workers:
    """One thread a model, so that slow speech never delays hearing; the answerer has its own.

    `guessing` hears what is not final, so that no caller's last word waits for a guess at the one before it.
    """

    hearing: Worker
    speaking: Worker
    delivering: Worker
    guessing: Worker | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """Models and settings.

    `phrases` holds the sound of every fixed phrase, synthesised beforehand; `detector` makes one voice detector a call;
    `callback` is the phrase for a caller whom nobody takes over, when the packet is safe; `echo` is how a line is heard
    that carries the agent's own voice back. `partials` recognises while the caller still speaks, `recognizer` if None.
    `foresee_chars` is how long a first sentence may be to be spoken ahead; 0 lets speculation end with the gate.
    `spares` are the voices that speak a sentence when `synthesizer` cannot, in order.
    """

    recognizer: Recognizer
    answerer: Answers
    synthesizer: Synthesizer
    phrases: Mapping[str, Samples]
    workers: Workers
    rules: Rules
    segment_rules: SegmentRules
    preroll_s: float
    detector: Callable[[], VoiceActivity]
    callback: str = CALLBACK
    echo: EchoRules = EchoRules()
    partials: Recognizer | None = None
    foresee_chars: int = 0
    spares: tuple[Synthesizer, ...] = ()

    @property
    def voices(self) -> tuple[Synthesizer, ...]:
        """Who speaks a sentence, in the order in which they are tried."""
        return (self.synthesizer, *self.spares)
