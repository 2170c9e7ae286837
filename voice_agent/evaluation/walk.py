"""One labelled question walked through the real answerer: what was found, what the gate said, what was answered."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from itertools import chain

from retrieval.types import Found, Gate, Outcome
from voice_agent.evaluation.questions import Question
from voice_agent.evaluation.recordings import Heard
from voice_agent.reply.answer import Answers, Checked, Looked

FUSED, RERANKED = "fused", "reranked"
"""The stages behind the channels, as the measures name them."""


@dataclass(frozen=True, slots=True)
class Result:
    """What one question came to.

    `rankings` holds each channel's and stage's ids, best first; `shown` the ids an answer could cite; `sentences` all
    that was generated, also behind one that was blocked. Times in milliseconds.
    """

    question: Question
    rankings: Mapping[str, tuple[str, ...]]
    gate: Gate
    shown: tuple[str, ...] = ()
    sentences: tuple[Checked, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    heard: Heard | None = None

    @property
    def top(self) -> str | None:
        """The first passage, which the gate judged."""
        return self.shown[0] if self.shown else None

    @property
    def is_right(self) -> bool:
        """The first passage is an expected one."""
        return self.top in self.question.expect

    @property
    def is_spoken(self) -> bool:
        """Answered, and every sentence passed its check."""
        return bool(self.sentences) and all(checked.verdict.passed for checked in self.sentences)

    @property
    def erred(self) -> str | None:
        """What went wrong: false_accept, wrong_answer, withheld, false_reject or asked_back; else None."""
        answered = self.gate.outcome is Outcome.ANSWER
        if self.question.must_refuse:
            return "false_accept" if answered else None
        if answered:
            return "wrong_answer" if not self.is_right else None if self.is_spoken else "withheld"
        return "asked_back" if self.gate.outcome is Outcome.CLARIFY else "false_reject"


async def walk(question: Question, answers: Answers, heard: Heard | None = None) -> Result:
    """Searches, judges, and where the gate answers, generates and checks to the end. Raises what the parts raise."""
    times = _Times()
    async with aclosing(answers.begin(question.asked, times)) as answering:
        looked = await answering.look()
        sentences: list[Checked] = []
        while (sentence := await answering.next_sentence()) is not None:
            sentences.append(sentence)
    timings = {**looked.found.timings_ms, "look": looked.ms, **times.spent_ms}
    if heard is not None:
        timings["asr"] = heard.ms
    return Result(
        question, _rankings(looked.found), looked.gate, _shown(looked), tuple(sentences), timings, heard
    )


def _shown(looked: Looked) -> tuple[str, ...]:
    """The cited passages; where nothing may be cited the first one found, which the gate judged."""
    cited = tuple(evidence.passage.id for evidence in looked.cited.values())
    return cited or tuple(evidence.passage.id for evidence in looked.found.evidence[:1])


def _rankings(found: Found) -> dict[str, tuple[str, ...]]:
    fused = [passage for passage, _ in found.fused]
    reranked = [evidence.passage.id for evidence in found.evidence]
    rankings: dict[str, tuple[str, ...]] = {
        channel: tuple(passage for passage, _ in ranking) for channel, ranking in found.rankings.items()
    }
    rankings[FUSED] = tuple(fused)
    rankings[RERANKED] = tuple(dict.fromkeys(chain(reranked, fused)))
    return rankings


class _Times:
    """A clock's job that only takes the time of each stage, in milliseconds; "search" is the searcher's own to tell."""

    def __init__(self) -> None:
        self.spent_ms: dict[str, float] = {}

    @asynccontextmanager
    async def stage(self, name: str) -> AsyncIterator[None]:
        began = time.perf_counter()
        yield
        if name != "search":
            self.spent_ms[name] = self.spent_ms.get(name, 0.0) + (time.perf_counter() - began) * 1000.0
