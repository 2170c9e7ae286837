"""A call as its journal tells it: frozen facts, turn by turn. Made by inspection.py, shown by the doors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voice_agent.record.schema import SCHEMA_VERSION

PHRASE = "phrase"
"""The source of what was spoken that is no sentence of an answer."""


@dataclass(frozen=True, slots=True)
class RankedRecord:
    """A passage in a ranking; rank is 1-based."""

    id: str
    rank: int
    score: float | None


@dataclass(frozen=True, slots=True)
class GateRecord:
    """The gate's decision with what decided it."""

    outcome: str
    reason: str | None
    features: Mapping[str, float | None]
    thresholds: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class CitedRecord:
    """A passage as the sentence check saw it."""

    citation_id: str
    id: str
    source: str
    text: str


@dataclass(frozen=True, slots=True)
class SentenceRecord:
    """A generated sentence and its verdict; `ms` is how long the check took."""

    index: int
    text: str
    passed: bool
    reason: str | None
    detail: str
    cited: tuple[str, ...]
    evidence: tuple[CitedRecord, ...]
    ms: float | None


@dataclass(frozen=True, slots=True)
class SpokenRecord:
    """What was really played, in seconds of the call's clock; not `complete` if it was cut."""

    index: int
    text: str
    start_s: float | None
    end_s: float | None
    complete: bool
    source: str


@dataclass(frozen=True, slots=True)
class UtteranceRecord:
    """One stretch of the caller's voice as the recogniser read it; times on the call's clock, None if not told."""

    text: str
    raw: str
    confidence: float | None
    dropped: str | None
    voiced_s: float | None
    start_s: float | None
    end_s: float | None


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """One turn. Texts are empty and rankings are () where the journal holds none.

    `heard` is what was answered; `utterances` are all stretches of voice, those dropped or heard again included.
    `counts` are its sentences (generated, checked, blocked by reason, spoken); `delivery` is what became of the
    hand-off packet last: delivered, spooled or failed.
    """

    turn: int
    heard: str = ""
    raw: str = ""
    confidence: float | None = None
    dropped: str | None = None
    hot_words: tuple[str, ...] = ()
    utterances: tuple[UtteranceRecord, ...] = ()
    as_of: str = ""
    query: str = ""
    terms: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    history: tuple[str, ...] = ()
    repairs: tuple[Any, ...] = ()
    conditions: Mapping[str, Any] = field(default_factory=dict)
    lifted: tuple[str, ...] = ()
    rewritten: str = ""
    channels: Mapping[str, tuple[RankedRecord, ...]] = field(default_factory=dict)
    down: Mapping[str, str] = field(default_factory=dict)
    fused: tuple[RankedRecord, ...] = ()
    reranked: tuple[RankedRecord, ...] = ()
    gate: GateRecord | None = None
    sentences: tuple[SentenceRecord, ...] = ()
    spoken: tuple[SpokenRecord, ...] = ()
    outcome: str | None = None
    counts: Mapping[str, Any] = field(default_factory=dict)
    handoff: str | None = None
    delivery: str | None = None
    halted: str | None = None
    barge_ins: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    stages_ms: Mapping[str, float] = field(default_factory=dict)
    first_audio_s: float | None = None

    @property
    def said(self) -> tuple[SpokenRecord, ...]:
        """What was played of the answer itself: our own phrases rest on nothing and are left out."""
        return tuple(spoken for spoken in self.spoken if spoken.source != PHRASE)

    @property
    def slowest_stage(self) -> str | None:
        """The stage that took longest, ties broken by name."""
        return max(sorted(self.stages_ms), key=lambda stage: self.stages_ms[stage], default=None)


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call. `length_s` is None unless the journal tells it; `ended` is None if the call never ended properly.

    `torn`: the last line is incomplete. `broken`: lines within that are no event.
    """

    call: str
    path: Path
    header: Mapping[str, Any]
    turns: tuple[TurnRecord, ...]
    ready_ms: Mapping[str, float]
    ended: str | None
    length_s: float | None
    stale_events: int | None
    counters: Mapping[str, Any]
    events: int
    torn: bool
    broken: int

    @property
    def started(self) -> str:
        """Wall time of the start, ISO 8601; empty if unknown."""
        started = self.header.get("started")
        return started if isinstance(started, str) else ""

    @property
    def handoff(self) -> str | None:
        """Why the call went to a person, if it did."""
        return next((turn.handoff for turn in self.turns if turn.handoff), None)

    @property
    def slowest_stage(self) -> str | None:
        """The stage with the longest single time in the call."""
        slowest = [(t.stages_ms[s], s) for t in self.turns if (s := t.slowest_stage) is not None]
        return max(slowest)[1] if slowest else None

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the journal itself, one line each."""
        found = []
        if not self.header:
            found.append("no header line")
        elif self.header.get("schema") != SCHEMA_VERSION:
            found.append(f"schema {self.header.get('schema')}, this version reads {SCHEMA_VERSION}")
        if self.broken:
            found.append(f"{self.broken} unreadable lines skipped")
        if self.torn:
            found.append("last line torn (the process was killed while writing)")
        if self.ended is None:
            found.append("no call_ended: the call was cut off or is still running")
        return tuple(found)
