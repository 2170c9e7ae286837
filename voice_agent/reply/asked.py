"""A typed question's whole answer, in the one shape that the command line and the service share."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

from retrieval.marks import strip_marks
from retrieval.types import Evidence, Outcome
from voice_agent import phrases
from voice_agent.reply.answer import Checked, Looked, Walk
from voice_agent.reply.llm import LlmError

Status = Literal["answered", "clarify", "refused"]


@dataclass(frozen=True, slots=True)
class Answered:
    """What is said, what it rests on, and what was checked. A refusal rests on nothing and lists nothing."""

    status: Status
    reason: str | None
    answer: str
    evidence: tuple[dict[str, object], ...]
    sentences: tuple[dict[str, object], ...]
    timings_ms: dict[str, float]

    def as_json(self) -> dict[str, object]:
        """The shape of `ask --json` and POST /ask."""
        passed = bool(self.sentences) and all(sentence["passed"] for sentence in self.sentences)
        return {
            "status": self.status,
            "reason": self.reason,
            "answer": self.answer,
            "evidence": list(self.evidence),
            "citation_check": {"passed": passed, "sentences": list(self.sentences)},
            "timings_ms": self.timings_ms,
        }


async def answered(answering: Walk, began: float) -> Answered:
    """Walks the answer to its end. One blocked sentence takes the whole answer back: half of one misleads."""
    looked = await answering.look()
    checked: list[Checked] = []
    fault = None
    try:
        while (sentence := await answering.next_sentence()) is not None:
            checked.append(sentence)
    except LlmError as e:
        fault = e.fault.value
    total_ms = round((time.perf_counter() - began) * 1000, 1)
    timings = {
        **looked.found.timings_ms,
        "look": looked.ms,
        "check": sum(c.ms for c in checked),
        "total": total_ms,
    }
    status, reason, answer = _outcome(looked, checked, fault)
    cited = (
        {passage for sentence in checked for passage in sentence.verdict.cited}
        if status == "answered"
        else set()
    )
    evidence = tuple(_row(mark, e) for mark, e in looked.cited.items() if e.passage.id in cited)
    return Answered(status, reason, answer, evidence, tuple(_sentence(c) for c in checked), timings)


def _outcome(looked: Looked, checked: list[Checked], fault: str | None) -> tuple[Status, str | None, str]:
    gate = looked.gate
    if gate.outcome is Outcome.CLARIFY:
        return "clarify", gate.reason, phrases.clarification(gate.reason)
    blocked = next((c.verdict.reason for c in checked if not c.verdict.passed), None)
    if gate.outcome is Outcome.REFUSE or blocked or fault or not checked:
        return "refused", blocked or fault or gate.reason, phrases.HANDOFF
    return "answered", None, "".join(strip_marks(c.text).strip() for c in checked)


def _row(mark: str, evidence: Evidence) -> dict[str, object]:
    scores: dict[str, float | None] = {channel: hit.score for channel, hit in evidence.hits.items()}
    scores |= {"rrf": evidence.fused, "rerank": evidence.rerank}
    passage = evidence.passage
    return {
        "citation_id": mark,
        "id": passage.id,
        "source": passage.source,
        "text": passage.text,
        "scores": scores,
    }


def _sentence(checked: Checked) -> dict[str, object]:
    verdict = checked.verdict
    return {
        "text": checked.text,
        "passed": verdict.passed,
        "reason": verdict.reason,
        "cited": list(verdict.cited),
    }
