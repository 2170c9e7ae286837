"""Where a call stands, and the lengths it is decided by. Frozen values; seconds are on the call's own clock."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from audio.types import Transcript
from voice_agent.floor.actions import Action
from voice_agent.floor.duties import Duties, Kept, Over
from voice_agent.floor.events import JobId, Recognised, RecognitionFailed, ReplyId, Taken


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
    lead_in_s: float | None = None
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
    of the turn was known, `holds` counts the hold phrases since, `passed` says that the reply has a sentence to speak,
    `led_in` is the last reply before which words were said to bridge the making of its sound.
    `untaken` is what the caller was told had become of the packet, None while it is not known or was taken. `ahead` is
    empty but while the caller's words are being waited for. `full_until_s` is where an utterance was last cut at its
    longest: what comes after it is another one, though the voice never paused.
    """

    caller: Caller = Caller.QUIET
    floor: Floor = Floor.IDLE
    turn: int = 0
    turn_open: bool = False
    reply: ReplyId | None = None
    hearing: JobId | None = None
    utterance_from_s: float | None = None
    full_until_s: float = 0.0
    waiting_since_s: float | None = None
    wait_from_s: float | None = None
    holds: int = 0
    led_in: ReplyId | None = None
    passed: bool = False
    asked_again: int = 0
    clarified: bool = False
    untaken: Taken | None = None
    over: Over = Over()
    kept: Kept = Kept()
    ahead: Ahead = Ahead()
    last_id: int = 0
    stale: int = 0


Step = tuple[State, tuple[Action, ...]]
"""What an event leads to: the next state and what is to be done."""


class IllegalEventError(Exception):
    """An event that cannot happen in this state. The state is unchanged."""
