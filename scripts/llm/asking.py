"""One labelled question asked of the shipped chain with a language model in it, and what came of it as one row."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace

from llm.kept import Row
from retrieval.marks import strip_marks
from retrieval.types import Evidence, Found, Gate, Outcome
from voice_agent.call.clock import WallClock
from voice_agent.evaluation.questions import Question
from voice_agent.reply.answer import Answerer, Checked, Looked
from voice_agent.reply.generator import Generator, Piece
from voice_agent.reply.llm import LlmError, LlmFault
from voice_agent.reply.spoken import spoken_form


class Overheard:
    """A generator whose words are written down: text, how many pieces, and when they came.

    They are read to their end before the first is given on, so that the same words can be judged again by other rules
    however early they were stopped.
    """

    def __init__(self, writer: Generator) -> None:
        self._writer = writer
        self.text, self.pieces, self.first_s, self.last_s = "", 0, 0.0, 0.0

    @property
    def id(self) -> str:
        return self._writer.id

    async def stream(self, question: str, evidence: Mapping[str, Evidence]) -> AsyncGenerator[Piece, None]:
        """See `Generator`."""
        began, kept = time.perf_counter(), []
        async with aclosing(self._writer.stream(question, evidence)) as pieces:
            async for piece in pieces:
                kept.append(piece)
                if isinstance(piece, str):
                    self.last_s = time.perf_counter() - began
                    self.first_s = self.first_s or self.last_s
                    self.pieces += 1
                    self.text += piece
        for piece in kept:
            yield piece


class Repeating:
    """A generator that says what a model said to the same question before."""

    def __init__(self, name: str, said: str) -> None:
        self.id = name
        self._said = said

    async def stream(self, question: str, evidence: Mapping[str, Evidence]) -> AsyncGenerator[Piece, None]:
        """See `Generator`. Raises LlmError where it said nothing then, as on a question that was not let through."""
        if not self._said:
            raise LlmError(LlmFault.EMPTY, f"{self.id}: was not asked, or said nothing")
        yield self._said


class OpenGate:
    """Lets every question through that found anything, to see what a model does where it should have said nothing."""

    def judge(self, found: Found, confidence: float | None, /) -> Gate:
        """See `Judge`."""
        return Gate(Outcome.ANSWER if found.evidence else Outcome.REFUSE, None, {}, {})


async def asked(question: Question, answerer: Answerer) -> Row:
    """Walks one answer as a call does: to its end, to its first blocked sentence, or to its fault."""
    overheard = Overheard(answerer.writers.first)
    parts = replace(answerer, writers=replace(answerer.writers, first=overheard))
    told: dict[str, Mapping[str, object]] = {}
    sentences: list[Checked] = []
    fault = None
    async with aclosing(
        parts.begin(question.asked, WallClock().job(), lambda kind, **data: told.update({kind: data}))
    ) as answering:
        looked = await answering.look()
        try:
            while (checked := await answering.next_sentence()) is not None:
                sentences.append(checked)
                if not checked.verdict.passed:
                    break
        except LlmError as e:
            fault = e.fault.value
    fallen = told.get("fallback", {}).get("reason")
    passed = [checked for checked in sentences if checked.verdict.passed]
    return {
        "id": question.id,
        "kind": question.kind,
        "question": question.asked.question,
        "must_refuse": question.must_refuse,
        "expect": question.expect,
        "gate": {"outcome": looked.gate.outcome, "reason": looked.gate.reason},
        "outcome": _outcome(looked, sentences, str(fault or fallen or "")),
        "fault": fault or fallen,
        "standalone": looked.standalone,
        "shown": [_shown(mark, evidence) for mark, evidence in looked.cited.items()],
        "generated": overheard.text,
        "sentences": [_judged(checked) for checked in sentences],
        "spoken": [_said(checked) for checked in passed],
        "speed": {
            "pieces": overheard.pieces,
            "first_s": round(overheard.first_s, 2),
            "last_s": round(overheard.last_s, 2),
        },
    }


def _outcome(looked: Looked, sentences: list[Checked], fault: str) -> str:
    """answered, halted, not_found (the model says so itself), asked_back, refused (both by the gate), or fault."""
    if looked.gate.outcome is not Outcome.ANSWER:
        return "asked_back" if looked.gate.outcome is Outcome.CLARIFY else "refused"
    if fault:
        return "fault"
    if not sentences:
        return "not_found"
    return "answered" if all(checked.verdict.passed for checked in sentences) else "halted"


def _shown(mark: str, evidence: Evidence) -> Row:
    passage = evidence.passage
    return {"citation_id": mark, "id": passage.id, "title": passage.title, "text": passage.text}


def _judged(checked: Checked) -> Row:
    verdict = checked.verdict
    return {
        "text": checked.text,
        "passed": verdict.passed,
        "reason": verdict.reason,
        "detail": verdict.detail,
        "cited": [mark for mark, _ in checked.evidence],
        "ms": checked.ms,
    }


def _said(checked: Checked) -> Row:
    """What the voice is given, and what it rests on."""
    return {
        "text": strip_marks(checked.text).strip(),
        "voiced": spoken_form(checked.text),
        "cited": [mark for mark, _ in checked.evidence],
    }
