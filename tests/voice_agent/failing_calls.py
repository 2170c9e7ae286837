"""Eight recorded calls, each failing on purpose at one stage: real answering, gate, check and session, scripted models.

The search, the reranker's scores and the voices are scripted; the journal is a real file, as a call leaves it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from audio.types import Samples
from retrieval.conditions import Conditions
from retrieval.errors import RetrievalError
from retrieval.gate import LATE_INTERACTION, decide
from retrieval.homophones import NoRepairs
from retrieval.types import Channel, Evidence, Found, Gate, Hit, Passage, Query, Ranking
from tests.fakes import Dialogue, ScriptedRecognizer, ScriptedSynthesizer
from tests.voice_agent.answering import (
    DAY,
    FREIGHT,
    QUESTION,
    REFUND,
    FixedSearch,
    OneScale,
    ScriptedLlm,
    answerer,
    by_llm,
    extractive,
    inline,
)
from tests.voice_agent.test_session import question
from voice_agent.record.journal import Journal
from voice_agent.record.stages import Stage
from voice_agent.reply.answer import Answerer, Asked
from voice_agent.reply.checker import Checker
from voice_agent.reply.draft import Writers

HEADER = {"config_sha": "ab", "models": {}, "kb_version": "1", "as_of": "2026-11-30"}
SURE: Mapping[str, float | None] = {
    "asked": 1.0,
    "searched": 2.0,
    "transcript": 0.9,
    "rerank_top": 0.9,
    "rerank_margin": 0.3,
    "rerank_lead": 0.4,
    "dense_top": 0.95,
    "bm25_top": 0.8,
    "bm25_lead": 0.6,
    "agreement": 1.0,
    "answers": 2.0,
    "tellable": 1.0,
    "named": 1.0,
    "codes_covered": 1.0,
    "slot_stated": 1.0,
    "conditions_met": 1.0,
    "consistent": 1.0,
    "must_handoff": 0.0,
    "risk": 0.0,
}
"""What the gate measures of a question that it answers."""

THRESHOLDS = {
    **LATE_INTERACTION,
    "answer": 0.75,
    "clarify": 0.08,
    "bias": -22.79,
    "weight_rerank_margin": 5.74,
    "weight_rerank_lead": 7.89,
    "weight_dense_top": 17.2,
    "weight_bm25_lead": 3.74,
    "weight_agreement": 0.65,
    "weight_answers": 0.4,
    "weight_tellable": 4.08,
    "weight_named": 0.98,
}
"""Of these tests alone, so that a new fit of the shipped ones moves no figure in them."""

RECALLED: Mapping[Channel, tuple[Passage, ...]] = {"bm25": (REFUND, FREIGHT), "dense": (FREIGHT, REFUND)}


@dataclass
class RecordedSearch(FixedSearch):
    """Finds what each channel is told to find, in the order told."""

    channels: Mapping[Channel, tuple[Passage, ...]] = field(default_factory=lambda: RECALLED)
    order: tuple[Passage, ...] = (REFUND, FREIGHT)
    down: Mapping[Any, str] = field(default_factory=dict)
    fault: Exception | None = None

    def search(self, query: Query, as_of: date, conditions: Conditions | None = None) -> Found:
        if self.fault:
            raise self.fault
        rankings: dict[Channel, Ranking] = {
            name: [(p.id, 1.0 / rank) for rank, p in enumerate(found, start=1)]
            for name, found in self.channels.items()
        }
        evidence = tuple(
            Evidence(p, {"bm25": Hit(at, 1.0)}, 0.03 / at, 0.9 - 0.1 * at)
            for at, p in enumerate(self.order, start=1)
        )
        fused = [(p.id, 0.03 / at) for at, p in enumerate(self.order, start=1)]
        return Found(query, rankings, fused, evidence, "late", self.down, {"search": 20.0}, 2, as_of)


@dataclass
class RecordedGate:
    """The real decision over given measurements."""

    changes: Mapping[str, float | None]

    def judge(self, found: Found, confidence: float | None, /) -> Gate:
        return decide({**SURE, "transcript": confidence, **self.changes}, THRESHOLDS)


class BrokenVoice(ScriptedSynthesizer):
    """Never says anything."""

    def synthesize(self, text: str) -> Iterator[Samples]:
        raise RuntimeError("no voice today")


@dataclass(frozen=True)
class Call:
    """How one call goes, and the stage it fails at with the cause."""

    name: str
    stage: Stage | None
    cause: str | None
    features: Mapping[str, float | None] = field(default_factory=dict)
    search: Callable[[], RecordedSearch] = RecordedSearch
    writers: Callable[[], Writers] = lambda: Writers(extractive())
    heard: str | Exception = QUESTION
    voice: Callable[[], ScriptedSynthesizer] = ScriptedSynthesizer


NOTHING: Mapping[Channel, tuple[Passage, ...]] = {"bm25": (), "dense": ()}
CALLS = (
    Call("fine", None, None),
    Call("asr", "asr", "error", heard=RuntimeError("broken ears")),
    Call("asr_low", "asr", "low_confidence", heard=""),
    Call(
        "recall",
        "recall",
        "CHANNEL_DOWN",
        {"dense_top": None, "agreement": None},
        lambda: RecordedSearch(
            channels={"bm25": (FREIGHT,)}, order=(FREIGHT,), down={"dense": "late: nothing after 1500 ms"}
        ),
    ),
    Call(
        "recall_fault", "recall", "error", search=lambda: RecordedSearch(fault=RetrievalError("index gone"))
    ),
    Call(
        "recall_empty",
        "recall",
        "LOW_SCORE",
        {"rerank_margin": 0.0, "rerank_lead": 0.0, "dense_top": 0.1},
        lambda: RecordedSearch(channels=NOTHING, order=()),
    ),
    Call(
        "rerank",
        "rerank",
        "CHANNEL_DOWN",
        {"rerank_top": None, "rerank_margin": None, "rerank_lead": None},
        lambda: RecordedSearch(order=(FREIGHT, REFUND), down={"rerank": "late: over 400 ms"}),
    ),
    Call("gate_feature", "gate", "feature slot_stated", {"slot_stated": 0.0}),
    Call("gate_threshold", "gate", "threshold answer", {"dense_top": 0.65, "rerank_lead": 0.2}),
    Call(
        "generate", "generate", "error", writers=lambda: Writers(by_llm(ScriptedLlm(OSError("gone"))).first)
    ),
    Call(
        "check",
        "check",
        "NUM_UNSUPPORTED",
        writers=lambda: by_llm(ScriptedLlm("退款在审核通过后5天内到账。[S1]")),
    ),
    Call("speech", "speech", "error", voice=BrokenVoice),
)
"""The first does not fail: whatever names a stage in it is wrong."""


@cache
def warm() -> None:
    """Loads the dictionaries before a call is held: on a busy machine they take longer than a call may."""
    asked, parts = Asked(QUESTION, DAY), answerer(extractive())
    parts.check(asked, parts.look(asked), 0, f"{REFUND.text}[S1]")


def record(folder: Path, call: Call) -> Path:
    """Holds the call and leaves its journal."""
    warm()
    parts: Any = (
        NoRepairs(),
        call.search(),
        RecordedGate(call.features),
        call.writers(),
        Checker(OneScale(), 0.5),
        inline,
    )
    recognizer = ScriptedRecognizer({1: call.heard}, dropped="low_confidence")
    with Journal(folder, call.name, HEADER) as journal:
        recorded: Any = journal
        Dialogue(recognizer, Answerer(*parts), call.voice(), journal=recorded).run(question(1))  # type: ignore[arg-type]
    return journal.path


def named(name: str) -> Call:
    """The call of that name."""
    return next(call for call in CALLS if call.name == name)
