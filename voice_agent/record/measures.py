"""What monitoring may know of an event: numbers, and codes out of closed lists. Pure; no word of a call passes.

A code that is not on its list becomes "other", so that nothing a caller or a model says can ever be a label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from audio.types import DropReason
from retrieval.types import GateReason, Outcome, VerdictReason
from voice_agent.floor.actions import HandoffReason
from voice_agent.floor.events import ReplyOutcome, Taken

Data = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Metric:
    """A name without its prefix, what it tells, its labels; seconds are histograms, the rest counters."""

    name: str
    tells: str
    labels: tuple[str, ...] = ()
    kind: Literal["counter", "seconds"] = "counter"


@dataclass(frozen=True, slots=True)
class Measure:
    """One observation of a metric: a count, or seconds."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    value: float = 1.0


METRICS = (
    Metric("calls", "Calls that ended, by how", ("ended",)),
    Metric("call_seconds", "Length of a call", kind="seconds"),
    Metric("turns", "Turns, by what came of them", ("outcome",)),
    Metric("first_audio_seconds", "From the caller's last sound to the answer's first", kind="seconds"),
    Metric("gates", "Decisions before an answer", ("outcome", "reason")),
    Metric("sentences", "Sentences checked, by verdict", ("verdict",)),
    Metric(
        "handoffs", "Calls given to a person, by why and what became of the packet", ("reason", "delivery")
    ),
    Metric("transcripts", "Utterances recognised, by why one was not believed", ("dropped",)),
    Metric("barge_ins", "Times a caller cut the agent short"),
    Metric("stage_seconds", "Time that a stage of a turn took", ("stage",), "seconds"),
    Metric("fallbacks", "Answers begun again without the language model"),
    Metric("errors", "Faults inside a call", ("where",)),
)

STAGES = (
    "asr",
    "bm25",
    "dense",
    "phonetic",
    "examples",
    "recall",
    "rerank",
    "search",
    "look",
    "check",
    "speech",
)
_WHERE = ("asr", "reply", "floor", "handoff", "unchecked", "device", "speech")
_OUTCOMES = (*get_args(ReplyOutcome), "interrupted", "unfinished")
_ENDED = ("handed_off", "callback", "handoff_failed", "hung_up")
_NONE = "none"


def measures(kind: str, data: Data) -> Iterator[Measure]:
    """The observations of one event; none for most kinds."""
    measured = _BY_KIND.get(kind)
    if measured is not None:
        yield from measured(data)


def code(value: object, among: Iterable[str]) -> str:
    """The value if it is on its list, "none" for None, else "other"."""
    if value is None or value == "":
        return _NONE
    return str(value) if str(value) in set(among) else "other"


def number(value: object) -> float | None:
    """A number, or None for anything else."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _call(data: Data) -> Iterator[Measure]:
    yield Measure("calls", {"ended": code(data.get("reason"), _ENDED)})
    yield from _seconds("call_seconds", data.get("length_s"))


def _reply(data: Data) -> Iterator[Measure]:
    yield Measure("turns", {"outcome": code(data.get("outcome"), _OUTCOMES)})
    yield from _seconds("first_audio_seconds", data.get("first_audio_s"))


def _gate(data: Data) -> Iterator[Measure]:
    outcome, reason = code(data.get("outcome"), Outcome), code(data.get("reason"), GateReason)
    yield Measure("gates", {"outcome": outcome, "reason": reason})


def _sentence(data: Data) -> Iterator[Measure]:
    passed = data.get("passed") is True
    yield Measure("sentences", {"verdict": "passed" if passed else code(data.get("reason"), VerdictReason)})


def _handoff(data: Data) -> Iterator[Measure]:
    reason, delivery = code(data.get("reason"), HandoffReason), code(data.get("delivery"), Taken)
    yield Measure("handoffs", {"reason": reason, "delivery": delivery})


def _transcript(data: Data) -> Iterator[Measure]:
    yield Measure("transcripts", {"dropped": code(data.get("dropped"), get_args(DropReason))})


def _timing(data: Data) -> Iterator[Measure]:
    stages = data.get("stages_ms")
    for stage, ms in stages.items() if isinstance(stages, Mapping) else ():
        if (taken := number(ms)) is not None:
            yield Measure("stage_seconds", {"stage": code(stage, STAGES)}, taken / 1000)


def _seconds(name: str, value: object) -> Iterator[Measure]:
    if (seconds := number(value)) is not None:
        yield Measure(name, {}, seconds)


def _error(data: Data) -> Iterator[Measure]:
    yield Measure("errors", {"where": code(data.get("where"), _WHERE)})


_BY_KIND: Mapping[str, Callable[[Data], Iterator[Measure]]] = {
    "call_ended": _call,
    "reply_ended": _reply,
    "gate": _gate,
    "sentence": _sentence,
    "handoff": _handoff,
    "transcript": _transcript,
    "timing": _timing,
    "error": _error,
    "barge_in": lambda _: iter((Measure("barge_ins"),)),
    "fallback": lambda _: iter((Measure("fallbacks"),)),
}
