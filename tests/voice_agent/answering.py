"""An answerer of real parts over a scripted search: what is found and how near it is are given, all else is judged."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

from retrieval.conditions import Conditions
from retrieval.filters import Filters
from retrieval.homophones import NoRepairs
from retrieval.narrowing import Narrowing
from retrieval.types import Evidence, Found, Gate, Outcome, Passage, PassageId, Query
from voice_agent.call.clock import WallClock
from voice_agent.reply.answer import Answerer, Asked, Checked
from voice_agent.reply.checker import Checker
from voice_agent.reply.draft import Writers
from voice_agent.reply.extractive import Extractive
from voice_agent.reply.generation import LlmGenerator
from voice_agent.reply.generator import Generator
from voice_agent.reply.llm import End, Llm, Prompt, Sampling
from voice_agent.reply.patience import Patience

DAY = date(2026, 11, 30)
QUESTION = "退款多久到账"
REFUND = Passage(PassageId("refund"), "退款在审核通过后3天内到账。退款原路退回。", "退款时效", source="手册")
FREIGHT = Passage(PassageId("freight"), "退货运费由买家承担。", "退货运费", source="手册")
SHORT = Patience(first_token_s=0.5, stall_s=0.4, total_s=1.5)
AMPLE = Patience(first_token_s=10.0, stall_s=10.0, total_s=20.0)
"""For tests that are not about time: a busy machine must not decide them."""

SAMPLING = Sampling("qwen3")


class OneScale:
    """Everything is equally near: only the rules decide."""

    scale: Literal["unit"] = "unit"

    def __init__(self, score: float = 1.0) -> None:
        self.score = score

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        return [self.score] * len(texts)


@dataclass
class FixedSearch:
    """Finds the same passages whatever is asked."""

    passages: Sequence[Passage] = (REFUND, FREIGHT)
    asked: list[Query] = field(default_factory=list)

    @property
    def narrowing(self) -> Narrowing:
        return Narrowing(self.passages, Filters(self.passages))

    def search(self, query: Query, as_of: date, conditions: Conditions | None = None) -> Found:
        self.asked.append(query)
        return Found(query, {}, [], tuple(map(Evidence, self.passages)), searched=len(self.passages))


class OpenGate:
    """Lets every question through."""

    def judge(self, found: Found, confidence: float | None, /) -> Gate:
        return Gate(Outcome.ANSWER, None, {}, {})


class ScriptedLlm:
    """Says the same to every prompt, one piece a character unless told otherwise, and remembers what it was told."""

    id = "scripted/one"

    def __init__(self, *pieces: str | Exception | End) -> None:
        self.pieces = pieces
        self.prompts: list[Prompt] = []
        self.closed = 0

    async def stream(self, prompt: Prompt, max_tokens: int | None = None) -> AsyncGenerator[str | End, None]:
        self.prompts.append(prompt)
        try:
            for piece in (*self.pieces, End("stop")):
                await asyncio.sleep(0)
                if isinstance(piece, Exception):
                    raise piece
                yield piece
        finally:
            self.closed += 1


async def inline(function: Callable[..., Any], *args: Any) -> Any:
    return function(*args)


def extractive(max_sentences: int = 2) -> Extractive:
    return Extractive(OneScale(), inline, max_sentences)


def by_llm(llm: Llm, patience: Patience = AMPLE, sampling: Sampling = SAMPLING) -> Writers:
    return Writers(LlmGenerator(llm, sampling, patience), extractive(), max_sentences=2)


def answerer(
    writers: Writers | Generator, passages: Sequence[Passage] = (REFUND, FREIGHT), *, attribute: bool = False
) -> Answerer:
    whole = writers if isinstance(writers, Writers) else Writers(writers)
    parts: Any = (NoRepairs(), FixedSearch(passages), OpenGate(), whole, Checker(OneScale(), 0.5), inline)
    return Answerer(*parts, attribute)


@dataclass
class Heard:
    """What one answer came to: each sentence judged, the facts told on the way, the fault that ended it."""

    sentences: list[Checked] = field(default_factory=list)
    told: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    fault: Exception | None = None

    @property
    def passed(self) -> list[str]:
        return [checked.text for checked in self.sentences if checked.verdict.passed]

    @property
    def reasons(self) -> list[str | None]:
        return [checked.verdict.reason for checked in self.sentences]


def hear(parts: Answerer, question: str = QUESTION) -> Heard:
    """Walks an answer as a call does: to its end, to its first blocked sentence, or to its fault."""
    return asyncio.run(_hear(parts, question))


async def _hear(parts: Answerer, question: str) -> Heard:
    heard = Heard()

    def tell(kind: str, **data: object) -> None:
        heard.told.append((kind, data))

    async with asyncio.timeout(20):
        async with aclosing(parts.begin(Asked(question, DAY), WallClock().job(), tell)) as answering:
            await answering.look()
            try:
                while (checked := await answering.next_sentence()) is not None:
                    heard.sentences.append(checked)
                    if not checked.verdict.passed:
                        break
            except Exception as e:  # noqa: BLE001 - a test looks at it
                heard.fault = e
    await asyncio.sleep(0.01)  # the loop itself closes the generators that libraries left in the middle
    assert len(asyncio.all_tasks()) == 1, "a task outlived its answer"
    return heard
