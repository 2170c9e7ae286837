"""What can happen to a call. Frozen values; seconds are on the call's own clock.

Every piece of work carries an id and every result returns it, so a late result is recognised as stale.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NewType

from audio.types import Activity, Transcript

ReplyId = NewType("ReplyId", int)
JobId = NewType("JobId", int)


class Taken(StrEnum):
    """What became of the hand-off packet."""

    DELIVERED = "delivered"
    SPOOLED = "spooled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class CallBegan:
    """The line is open."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A frame has been classified: the run of voice or silence it belongs to, up to its end."""

    activity: Activity


@dataclass(frozen=True, slots=True)
class Recognised:
    """A recognition has ended. `spoken` is what the agent was saying meanwhile, where that may be its own echo."""

    job: JobId
    transcript: Transcript
    spoken: str = ""


@dataclass(frozen=True, slots=True)
class RecognitionFailed:
    """The recogniser raised or was too late."""

    job: JobId


@dataclass(frozen=True, slots=True)
class Guessed:
    """A partial recognition has ended. It covers the sound up to `until_s`; None if it came to nothing."""

    job: JobId
    transcript: Transcript | None
    until_s: float


@dataclass(frozen=True, slots=True)
class Foreseen:
    """The search for words not yet known to be the whole turn has ended; `sure`: its first sentence may be said."""

    job: JobId
    sure: bool


@dataclass(frozen=True, slots=True)
class SentencePassed:
    """A sentence of a reply has passed its check: the wait is over, what is left is its synthesis."""

    reply: ReplyId


@dataclass(frozen=True, slots=True)
class ReplySounding:
    """The first sample of a reply is being played."""

    reply: ReplyId


ReplyOutcome = Literal[
    "answered", "clarify", "refused", "blocked", "asked", "failed", "said", "courtesy", "repeated", "goodbye"
]
"""What became of a reply. `said`: a phrase of no turn; `courtesy`: words that asked for nothing were acknowledged."""


@dataclass(frozen=True, slots=True)
class ReplyEnded:
    """A reply has come to its end: all it had to say was played, or it has nothing it may say."""

    reply: ReplyId
    outcome: ReplyOutcome


@dataclass(frozen=True, slots=True)
class HandoffEnded:
    """A phrase of the hand-off was played, or could not be, and what became of the packet is known."""

    taken: Taken = Taken.DELIVERED


@dataclass(frozen=True, slots=True)
class HangUp:
    """The caller, or the recording, is over."""


@dataclass(frozen=True, slots=True)
class PersonCalled:
    """The caller pressed the key that calls for a person."""


@dataclass(frozen=True, slots=True)
class Fault:
    """We did something that cannot be; a person takes over."""


Event = (
    CallBegan
    | Heard
    | Recognised
    | RecognitionFailed
    | Guessed
    | Foreseen
    | SentencePassed
    | ReplySounding
    | ReplyEnded
    | HandoffEnded
    | HangUp
    | PersonCalled
    | Fault
)
