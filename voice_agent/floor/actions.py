"""What is to be done about a call. Frozen values; seconds are on the call's own clock."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from audio.types import Transcript
from voice_agent.floor.duties import Ending, Said
from voice_agent.floor.events import JobId, ReplyId


class HandoffReason(StrEnum):
    """Why a person takes over."""

    VERDICT = "VERDICT"
    GATE = "GATE"
    ASKED = "ASKED"
    LOW_ASR = "LOW_ASR"
    FAULT = "FAULT"
    MAX_LENGTH = "MAX_LENGTH"


@dataclass(frozen=True, slots=True)
class Recognise:
    """Turn the sound of this span into words."""

    job: JobId
    from_s: float
    until_s: float


@dataclass(frozen=True, slots=True)
class Guess:
    """Recognise this span roughly; the caller has not finished."""

    job: JobId
    from_s: float
    until_s: float


@dataclass(frozen=True, slots=True)
class RecogniseEarly:
    """Turn the sound of this span into words, in case the turn ends here. Nothing of it is a fact yet."""

    job: JobId
    from_s: float
    until_s: float


@dataclass(frozen=True, slots=True)
class TakeEarly:
    """The turn has ended where an early recognition did: its words are the turn's, here or still to come."""

    job: JobId
    from_s: float
    until_s: float
    transcript: Transcript | None


@dataclass(frozen=True, slots=True)
class Speculate:
    """Search for these words in case they are the turn's. Nothing of it is said, recorded as fact or remembered."""

    job: JobId
    transcript: Transcript


@dataclass(frozen=True, slots=True)
class BeginReply:
    """Answer these words. `may_clarify` is False when the caller was asked to be clearer just before.

    `ahead` is the speculation that may be used if it was about the same words.
    """

    reply: ReplyId
    transcript: Transcript
    may_clarify: bool
    ahead: JobId | None = None


@dataclass(frozen=True, slots=True)
class AskAgain:
    """Say that we did not understand."""

    reply: ReplyId


@dataclass(frozen=True, slots=True)
class ReadBack:
    """Ask whether these are the words: they hold a code, and were not heard well."""

    reply: ReplyId
    transcript: Transcript


@dataclass(frozen=True, slots=True)
class Say:
    """Say a phrase that no turn asked for."""

    reply: ReplyId
    said: Said


@dataclass(frozen=True, slots=True)
class SayHold:
    """Say that we are still at it; `again` when it was said before. The answer waits for the phrase's end."""

    again: bool


@dataclass(frozen=True, slots=True)
class SayLeadIn:
    """Say the words that go before this reply's first sentence: it may be spoken, but its sound is not there."""

    reply: ReplyId


@dataclass(frozen=True, slots=True)
class CancelReply:
    """Stop this reply: generation, checks and synthesis. Says nothing of what is already playing."""

    reply: ReplyId


@dataclass(frozen=True, slots=True)
class Duck:
    """Lower the voice: somebody may be speaking."""


@dataclass(frozen=True, slots=True)
class Unduck:
    """Raise it again."""


@dataclass(frozen=True, slots=True)
class PausePlayback:
    """Fall silent, keeping the place."""


@dataclass(frozen=True, slots=True)
class ResumePlayback:
    """Go on from the place kept."""

    why: Literal["backchannel", "echo", "nothing"] = "nothing"


@dataclass(frozen=True, slots=True)
class LineEchoes:
    """The agent heard itself again and again: from now on the line is half duplex. For the record."""


@dataclass(frozen=True, slots=True)
class Silence:
    """Drop all sound not yet played."""


@dataclass(frozen=True, slots=True)
class BargedIn:
    """The caller took the floor; for the record. `heard` is empty when they were cut to without waiting for words."""

    heard: str


@dataclass(frozen=True, slots=True)
class HandOff:
    """Say the hand-off phrase and give the call to a person."""

    reason: HandoffReason


@dataclass(frozen=True, slots=True)
class TellUntaken:
    """Nobody took the call: say what happens now. `kept`: the packet is safe, so somebody will call back."""

    kept: bool


@dataclass(frozen=True, slots=True)
class AddToPacket:
    """The caller said this while being handed over."""

    transcript: Transcript


@dataclass(frozen=True, slots=True)
class EndCall:
    """Nothing more is said or heard."""

    reason: Ending


Action = (
    Recognise
    | Guess
    | RecogniseEarly
    | TakeEarly
    | Speculate
    | BeginReply
    | AskAgain
    | ReadBack
    | Say
    | SayHold
    | SayLeadIn
    | CancelReply
    | Duck
    | Unduck
    | PausePlayback
    | ResumePlayback
    | LineEchoes
    | Silence
    | BargedIn
    | HandOff
    | TellUntaken
    | AddToPacket
    | EndCall
)
