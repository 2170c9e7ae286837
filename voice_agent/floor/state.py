"""The words of the floor: where a call stands, what can happen to it, and what is to be done about it.

Everything here is a frozen value. Seconds are on the call's own clock. Every piece of work carries an id and every
result returns it, so a late result is recognised as stale.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NewType

from audio.types import Activity, Transcript
from voice_agent.floor.duties import Duties, Ending, Kept, Over, Said

ReplyId = NewType("ReplyId", int)
JobId = NewType("JobId", int)


class Caller(StrEnum):
    """What the caller is doing."""

    QUIET = "quiet"
    VOICED = "voiced"
    SOFT_SILENCE = "soft_silence"


class Floor(StrEnum):
    """Who holds the floor."""

    IDLE = "idle"
    THINKING = "thinking"
    SPEAKING = "speaking"
    PAUSED = "paused"
    HANDING_OFF = "handing_off"
    ENDED = "ended"


class HandoffReason(StrEnum):
    """Why a person takes over."""

    VERDICT = "VERDICT"
    GATE = "GATE"
    ASKED = "ASKED"
    LOW_ASR = "LOW_ASR"
    FAULT = "FAULT"
    MAX_LENGTH = "MAX_LENGTH"


class Taken(StrEnum):
    """What became of the hand-off packet."""

    DELIVERED = "delivered"
    SPOOLED = "spooled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Rules:
    """The lengths, in seconds, that `step` decides by (config: turn).

    `early_asr` lets the final recognition start in the silence that must be waited for, `speculation` the search
    behind it; `partial_every_s` 0 is no partials.
    """

    end_pause_s: float
    rejoin_voice_s: float
    barge_in_pause_s: float
    barge_in_cut_s: float
    max_utterance_s: float
    reply_limit_s: float
    max_call_s: float
    hold_first_s: float = 1.5
    hold_again_s: float = 6.0
    barge_in_duck_s: float = 0.12
    barge_in_listen_s: float = 0.4
    barge_in_decide_s: float = 4.0
    duties: Duties = Duties()
    soft_pause_s: float = 0.2
    short_pause_s: float = 0.5
    long_pause_s: float = 1.6
    partial_every_s: float = 0.0
    partial_until_s: float = 12.0
    early_asr: bool = False
    speculation: bool = False


@dataclass(frozen=True, slots=True)
class Ahead:
    """What is done about the caller's words before their turn has ended. All of it may turn out to be for nothing.

    `guess` is the partial recognition in flight, `next_guess_s` where in the call the next is due. `said` is the newest
    partial, up to `said_until_s`. `early` is the final recognition begun at the soft silence from `early_until_s`, and
    `heard` what became of it. `speculation` is the search for those words; `sure`: it found an answer that may be said.
    """

    guess: JobId | None = None
    next_guess_s: float | None = None
    said: Transcript | None = None
    said_until_s: float = 0.0
    early: JobId | None = None
    early_until_s: float = 0.0
    heard: Recognised | RecognitionFailed | None = None
    speculation: JobId | None = None
    sure: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """Where the call stands.

    `utterance_from_s` is where the words not yet answered began, `hearing` the recognition in flight, `waiting_since_s`
    when the caller's turn ended. `turn_open` says that its reply is not audible yet. `asked_again` counts how often in
    a row we asked to repeat; `clarified` says that the last answer was a question back. `wait_from_s` is when the end
    of the turn was known, `holds` counts the hold phrases since, `passed` says that the reply has a sentence to speak.
    `untaken` is what the caller was told had become of the packet, None while it is not known or was taken. `ahead` is
    empty but while the caller's words are being waited for.
    """

    caller: Caller = Caller.QUIET
    floor: Floor = Floor.IDLE
    turn: int = 0
    turn_open: bool = False
    reply: ReplyId | None = None
    hearing: JobId | None = None
    utterance_from_s: float | None = None
    waiting_since_s: float | None = None
    wait_from_s: float | None = None
    holds: int = 0
    passed: bool = False
    asked_again: int = 0
    clarified: bool = False
    untaken: Taken | None = None
    over: Over = Over()
    kept: Kept = Kept()
    ahead: Ahead = Ahead()
    last_id: int = 0
    stale: int = 0


# What can happen.


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
    | Fault
)


# What is to be done.


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


Step = tuple[State, tuple[Action, ...]]
"""What an event leads to: the next state and what is to be done."""


class IllegalEventError(Exception):
    """An event that cannot happen in this state. The state is unchanged."""
