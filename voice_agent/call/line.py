"""What a call has of its own: the telephone line it is held on, and where it is written down and handed over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

from audio.types import Samples
from voice_agent.call.clock import Clock
from voice_agent.call.parts import Caller
from voice_agent.record.journal import Recorder
from voice_agent.reply.handoff import HandoffSink


@dataclass(frozen=True, slots=True)
class Line:
    """One telephone line. `out` takes the caller's and the agent's samples of the same stretch of time.

    `delay_s` is how long after that the agent's are heard; None while they cannot be: speech then waits. `faults`
    counts what went wrong with the sound, for the journal's end. `flush` takes back what is out and not heard yet.
    """

    caller: Caller
    clock: Clock
    out: Callable[[Samples, Samples], None]
    delay_s: Callable[[], float | None] = lambda: 0.0
    faults: Callable[[], Mapping[str, int]] = dict
    flush: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class Records:
    """Where a call is written down and handed over."""

    call: str
    as_of: date
    recorder: Recorder
    sink: HandoffSink
