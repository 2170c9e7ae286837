"""A call on its own clock: who did what from when to when, as spans in lanes, read from the events of its journal.

Pure. Times are seconds of the call's sample clock. What took wall time only, as a check, ends where it was recorded
and lies before it as long as it took.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, Literal, get_args

from voice_agent.record.call_record import PHRASE
from voice_agent.record.fields import Event, integer, number, optional, text

Lane = Literal[
    "caller", "vad", "partial", "endpoint", "asr", "search", "write", "check", "speech", "play", "floor"
]
LANES: Final[tuple[Lane, ...]] = get_args(Lane)

State = Literal["", "bad", "cut", "phrase"]

_BEFORE_THE_TURN: Final = frozenset(
    {"speech_started", "speech_ended", "partial", "speculation", "ready", "call_ended"}
)
"""Events that bear the number of the turn before them, or of none: their turn is told by when they lie."""

_FLOOR: Final = ("paused", "resumed", "barge_in", "halt", "handoff", "handoff_unspoken", "error", "device")


@dataclass(frozen=True, slots=True)
class Span:
    """What happened in a lane; a moment where both ends are the same. `text` is said or heard, or a code."""

    lane: Lane
    start_s: float
    end_s: float
    text: str = ""
    state: State = ""


@dataclass(frozen=True, slots=True)
class Waterfall:
    """A stretch of the call and all that lies in it, in order of time."""

    start_s: float
    end_s: float
    spans: tuple[Span, ...]


def waterfalls(events: Sequence[Event]) -> dict[int, Waterfall]:
    """Each turn's stretch of the call by its number; of others' turns what lies in it too, as a barge-in does."""
    spans = spans_of(events)
    starts = [span.start_s for span in spans]
    longest = max((span.end_s - span.start_s for span in spans), default=0.0)
    found = {}
    for turn, (start_s, end_s) in _stretches(events).items():
        near = spans[bisect_left(starts, start_s - longest) :]
        inside = _within(near, start_s, end_s)
        found[turn] = Waterfall(start_s, end_s, tuple(inside))
    return found


def _within(spans: Iterable[Span], start_s: float, end_s: float) -> Iterator[Span]:
    for span in spans:
        if span.start_s > end_s:
            return
        if span.end_s >= start_s:
            yield span


def spans_of(events: Sequence[Event]) -> tuple[Span, ...]:
    """Everything of the call that has a place in a lane, by its start."""
    readers = (_caller, _voices, _partials, _recognised, _searched, _sentences, _waited, _played, _floor)
    return tuple(sorted(chain.from_iterable(read(events) for read in readers), key=lambda span: span.start_s))


def _stretches(events: Iterable[Event]) -> dict[int, tuple[float, float]]:
    """From the first sound of the turn's question to its last event."""
    found: dict[int, tuple[float, float]] = {}
    for event in events:
        turn, at = integer(event, "turn"), number(event, "t")
        if turn is None or at is None or event["type"] in _BEFORE_THE_TURN:
            continue
        first = number(event, "start_s")
        start, end = found.get(turn, (at, at))
        found[turn] = (min(start, at if first is None else first), max(end, at))
    return found


def _of(events: Iterable[Event], *kinds: str) -> Iterator[tuple[float, Event]]:
    """The events of these kinds that tell when they were."""
    return (
        (at, event) for event in events if event["type"] in kinds and (at := number(event, "t")) is not None
    )


def _caller(events: Sequence[Event]) -> Iterator[Span]:
    for at, event in _of(events, "transcript"):
        start, end = number(event, "start_s"), number(event, "end_s")
        if start is not None:
            words = text(event, "text") or text(event, "raw")
            yield Span(
                "caller", start, at if end is None else end, words, "cut" if event.get("dropped") else ""
            )


def _voices(events: Sequence[Event]) -> Iterator[Span]:
    """Voice as the detector had it, and the silence behind it that it took to be sure of the end."""
    began: float | None = None
    for at, event in _of(events, "speech_started", "speech_ended", "call_ended"):
        if event["type"] == "speech_started":
            began = at
            continue
        ended = number(event, "ended_s")
        last = at if ended is None else ended
        if began is not None:
            yield Span("vad", min(began, last), last)
        if began is not None and ended is not None:
            yield Span("endpoint", ended, at)
        began = None


def _partials(events: Sequence[Event]) -> Iterator[Span]:
    return (Span("partial", at, at, text(event, "text")) for at, event in _of(events, "partial"))


def _recognised(events: Sequence[Event]) -> Iterator[Span]:
    """From the end of the caller's turn to the words."""
    ended: float | None = None
    for at, event in _of(events, "speech_ended", "transcript"):
        if event["type"] == "speech_ended":
            ended = at
        elif ended is not None:
            yield Span("asr", ended, at, text(event, "raw"), "cut" if event.get("dropped") else "")


def _searched(events: Sequence[Event]) -> Iterator[Span]:
    heard: dict[int, float] = {}
    for at, event in _of(events, "transcript", "gate"):
        turn = integer(event, "turn") or 0
        if event["type"] == "transcript":
            heard[turn] = at
        else:
            reason = " ".join(filter(None, (text(event, "outcome"), text(event, "reason"))))
            state: State = "" if event.get("outcome") == "ANSWER" else "bad"
            yield Span("search", heard.get(turn, at), at, reason, state)


def _sentences(events: Sequence[Event]) -> Iterator[Span]:
    """Each sentence from the one before it, or from the gate; its check lies at its end."""
    before: dict[int, float] = {}
    for at, event in _of(events, "gate", "sentence"):
        turn = integer(event, "turn") or 0
        if event["type"] == "sentence":
            state: State = "" if event.get("passed") is True else "bad"
            took = (number(event, "ms") or 0.0) / 1000.0
            verdict = text(event, "reason") or "✓"
            yield Span("write", min(before.get(turn, at), at), at, text(event, "text"), state)
            yield Span("check", max(at - took, 0.0), at, verdict, state)
        before[turn] = at


def _waited(events: Sequence[Event]) -> Iterator[Span]:
    """From the passed check to the first sound: synthesis, and waiting for the sentence before."""
    passed: dict[tuple[int, int], float] = {}
    for at, event in _of(events, "sentence", "spoken"):
        place = (integer(event, "turn") or 0, integer(event, "index") or 0)
        if event["type"] == "sentence":
            passed[place] = at
            continue
        start = number(event, "start_s")
        checked = None if event.get("source") == PHRASE else passed.get(place)
        if checked is not None and start is not None and start > checked:
            yield Span("speech", checked, start, text(event, "text"))


def _played(events: Sequence[Event]) -> Iterator[Span]:
    for at, event in _of(events, "spoken"):
        start, end = number(event, "start_s"), number(event, "end_s")
        if start is not None:
            yield Span("play", start, at if end is None else end, text(event, "text"), _heard_how(event))


def _heard_how(event: Mapping[str, object]) -> State:
    if event.get("complete") is not True:
        return "cut"
    return "phrase" if event.get("source") == PHRASE else ""


def _floor(events: Sequence[Event]) -> Iterator[Span]:
    for at, event in _of(events, *_FLOOR):
        told = (optional(event, key) for key in ("reason", "heard", "where", "why", "message", "delivery"))
        state: State = "bad" if event["type"] in ("halt", "error", "handoff_unspoken") else ""
        yield Span("floor", at, at, " ".join(filter(None, (event["type"], *told))), state)
