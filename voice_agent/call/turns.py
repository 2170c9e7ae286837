"""The turns of a call as they are recorded: what was heard, how it ended, and what of it later turns may lean on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from audio.types import Transcript
from voice_agent.call.speech import Line, Sounding, Speech
from voice_agent.call.tally import Counts, Tally, UncheckedError
from voice_agent.floor.actions import Recognise, RecogniseEarly, TakeEarly
from voice_agent.floor.events import ReplyId, ReplyOutcome
from voice_agent.record.journal import Recorder
from voice_agent.reply.rewrite import Exchange

HISTORY_KEPT = 6
"""Exchanges kept for follow-ups. Callers seldom reach back further than one."""

Span = Recognise | RecogniseEarly | TakeEarly

TurnOutcome = ReplyOutcome | Literal["interrupted"]

_CLOSED_BY = ("answered", "clarify", "courtesy", "repeated", "interrupted")
"""Outcomes after which nothing more is said in the turn."""


@dataclass(slots=True)
class _Open:
    """The turn in hand. Times in seconds on the call's clock."""

    reply: ReplyId
    turn: int
    question: str
    question_ended_s: float
    sounded_s: float | None = None
    outcome: TurnOutcome | None = None
    tally: Tally = field(default_factory=Tally)


class Turns:
    """Follows one turn at a time; a turn that ends in a hand-off is closed when the call is."""

    def __init__(self, recorder: Recorder, speech: Speech) -> None:
        self._recorder = recorder
        self._speech = speech
        self._question_ended_s = 0.0
        self._open: _Open | None = None
        self._history: tuple[Exchange, ...] = ()
        self._last: tuple[Line, ...] = ()
        self.counts = Counts()

    @property
    def history(self) -> tuple[Exchange, ...]:
        return self._history

    @property
    def last(self) -> tuple[Line, ...]:
        """The checked sentences of the last answer that were heard whole: what may be said again."""
        return self._last

    def question_ended(self, at_s: float) -> None:
        """The end of the caller's last voiced sample."""
        self._question_ended_s = at_s

    def heard(self, transcript: Transcript, span: Span, turn: int, now_s: float) -> None:
        """Records what the recogniser made of a span, dropped or not."""
        self._recorder.write(
            "transcript",
            now_s,
            turn,
            text=transcript.text,
            raw=transcript.raw,
            confidence=round(transcript.confidence, 4),
            voiced_s=round(transcript.voiced_s, 3),
            seconds=round(transcript.seconds, 3),
            dropped=transcript.dropped,
            hot_words=transcript.hot_words,
            start_s=round(span.from_s, 3),
            end_s=round(span.until_s, 3),
        )

    def begin(self, reply: ReplyId, turn: int, question: str) -> Tally:
        """A reply begins; the turn before it that was taken back is forgotten, but what it counted is not.

        Returns the count of its sentences, for whoever makes them.
        """
        if self._open is not None:
            self.counts = self.counts.plus(self._open.tally.counts)
            self._speech.forget(self._open.reply)
        self._open = _Open(reply, turn, question, self._question_ended_s)
        return self._open.tally

    def sounding(self, sound: Sounding) -> str:
        """Something became audible; only the first of a turn counts, neither a hold phrase nor a lead-in is an answer.

        Not empty if it may not be heard: why.
        """
        line = sound.line
        if self._open is None or line.said in ("hold", "lead_in"):
            return ""
        if line.said == "answer" and line.reply == self._open.reply:
            try:
                self._open.tally.sounded(line.index)
            except UncheckedError as e:
                return str(e)
        if self._open.sounded_s is None:
            self._open.sounded_s = sound.at_s
        return ""

    def ended(self, outcome: TurnOutcome, now_s: float) -> None:
        """The reply ended. A hand-off's phrase is still to come, so its turn stays open."""
        if self._open is None:
            return
        self._open.outcome = outcome
        if outcome in _CLOSED_BY:
            self.close(now_s)

    def close(self, now_s: float) -> None:
        """Writes the turn down."""
        if (turn := self._open) is None:
            return
        self._open = None
        counts = turn.tally.counts
        self.counts = self.counts.plus(counts)
        self._remember(turn)
        waited = None if turn.sounded_s is None else round(turn.sounded_s - turn.question_ended_s, 3)
        self._recorder.write(
            "reply_ended",
            now_s,
            turn.turn,
            outcome=turn.outcome or "unfinished",
            first_audio_s=waited,
            sentences=counts.as_json(),
        )

    def _remember(self, turn: _Open) -> None:
        """What was heard whole, and what was cut, flagged: later turns may lean on the one and know of the other."""
        whole = tuple(line for line in self._speech.heard(turn.reply) if line.said == "answer")
        broken = self._speech.cut(turn.reply)
        self._speech.forget(turn.reply)
        if turn.outcome not in ("answered", "interrupted") or not turn.question:
            return
        interrupted = broken.written if broken is not None and broken.said == "answer" else ""
        answer = "".join(line.written for line in whole)
        if answer or turn.outcome == "interrupted":
            exchange = Exchange(turn.question, answer, interrupted)
            self._history = (*self._history, exchange)[-HISTORY_KEPT:]
            self._last = whole
