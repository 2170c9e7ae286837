"""Results of walked questions made by hand, for the tests of what is measured on them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import date

from retrieval.gate import LATE_INTERACTION
from retrieval.types import (
    Evidence,
    Found,
    Gate,
    GateReason,
    Outcome,
    Passage,
    PassageId,
    Query,
    Verdict,
    VerdictReason,
)
from voice_agent.evaluation.questions import Question
from voice_agent.evaluation.walk import Result
from voice_agent.reply.answer import Asked, Checked, Looked, Staged

DAY = date(2026, 11, 30)

FEATURES = {
    "asked": 1.0, "searched": 9.0, "transcript": None, "codes_covered": 1.0, "slot_stated": 1.0, "conditions_met": 1.0,
    "consistent": 1.0, "risk": 0.0, "must_handoff": 0.0,
    "rerank_margin": 0.1, "rerank_lead": 0.2, "dense_top": 0.9, "bm25_lead": 0.2, "agreement": 1.0,
    "answers": 0.0, "tellable": 1.0, "named": 1.0,
}  # fmt: skip


def question(
    ident: str, words: str = "甲", expect: Sequence[str] = ("a",), kind: str = "plain", history: object = ()
) -> Question:
    """Must be refused when nothing is expected."""
    return Question(ident, kind, Asked(words, DAY), tuple(expect), not expect)


def gate(outcome: Outcome, dense_top: float = 0.9, reason: GateReason | None = None) -> Gate:
    """A decision with all that the curve decides again by."""
    return Gate(outcome, reason, {**FEATURES, "dense_top": dense_top}, LATE_INTERACTION)


def checked(text: str, reason: VerdictReason | None = None, cited: Sequence[str] = ("a",)) -> Checked:
    ids = tuple(PassageId(one) for one in cited)
    return Checked(0, text, Verdict(reason is None, reason, ids), (), 1.0)


def result(
    asked: Question,
    outcome: Outcome,
    shown: Sequence[str] = ("a", "b", "c"),
    sentences: Sequence[Checked] = (),
    rankings: Mapping[str, Sequence[str]] | None = None,
    dense_top: float = 0.9,
) -> Result:
    ranked = {name: tuple(ids) for name, ids in (rankings or {"reranked": shown}).items()}
    return Result(asked, ranked, gate(outcome, dense_top), tuple(shown), tuple(sentences), {"look": 5.0})


class ScriptedAnswers:
    """Answers by a plan: words -> (dense ids, fused ids, evidence ids, outcome, sentences)."""

    def __init__(
        self, plans: Mapping[str, tuple[list[str], list[str], list[str], Outcome, list[Checked]]]
    ) -> None:
        self._plans = plans
        self.closed = 0

    def begin(self, asked: Asked, job: Staged) -> ScriptedAnswer:
        return ScriptedAnswer(self, asked, job)


class ScriptedAnswer:
    def __init__(self, owner: ScriptedAnswers, asked: Asked, job: Staged) -> None:
        self._owner, self._asked, self._job = owner, asked, job
        self._left = list(owner._plans[asked.question][4])

    async def look(self) -> Looked:
        dense, fused, evidence, outcome, _ = self._owner._plans[self._asked.question]
        found = Found(
            Query(self._asked.question, self._asked.question),
            {"dense": [(PassageId(name), 1.0 / n) for n, name in enumerate(dense, start=1)]},
            [(PassageId(name), 1.0) for name in fused],
            tuple(Evidence(Passage(PassageId(name), "文")) for name in evidence),
            timings_ms={"dense": 2.0},
        )
        cited = {f"S{n}": one for n, one in enumerate(found.evidence, start=1)}
        async with _stage(self._job, "search"):
            return Looked(self._asked.question, (), found, gate(outcome), cited, 5.0)

    async def next_sentence(self) -> Checked | None:
        async with _stage(self._job, "generate"):
            return self._left.pop(0) if self._left else None

    async def aclose(self) -> None:
        self._owner.closed += 1


@asynccontextmanager
async def _stage(job: Staged, name: str) -> AsyncIterator[None]:
    async with job.stage(name):
        yield
