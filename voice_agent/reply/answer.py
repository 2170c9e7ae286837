"""From a heard question to its answer: what was found, whether it may be answered, and each sentence with its verdict.

The one road to an answer: calls, `ask` and the service all walk it, so none can speak what was not checked.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Protocol

from retrieval.homophones import Repair, Repaired
from retrieval.search import Searcher, make_query
from retrieval.terms import terms
from retrieval.types import Cut, Evidence, Found, Gate, Outcome, Passage, Verdict
from voice_agent.reply.checker import Checker
from voice_agent.reply.rewrite import Exchange, leaned_on, neutral, standalone
from voice_agent.reply.sentences import SentenceBuffer

EVIDENCE_SHOWN = 3
"""Passages an answer may cite. More would only tempt a generator to wander."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question in its call. `confidence` is the recogniser's, None when it was typed."""

    question: str
    as_of: date
    history: tuple[Exchange, ...] = ()
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Looked:
    """The search and the gate. `standalone` is the question made whole, `repairs` what was put right in it by its
    sound; `cited` maps S1… to passages."""

    standalone: str
    repairs: tuple[Repair, ...]
    found: Found
    gate: Gate
    cited: Mapping[str, Evidence]
    ms: float


@dataclass(frozen=True, slots=True)
class Checked:
    """One generated sentence, marks included, and whether it may be spoken."""

    index: int
    text: str
    verdict: Verdict
    evidence: tuple[tuple[str, Passage], ...]
    ms: float


class Generator(Protocol):
    """Writes an answer from evidence, with a citation mark in every sentence."""

    def stream(self, question: str, evidence: Mapping[str, Evidence]) -> AsyncGenerator[str, None]:
        """Pieces of text of any size."""
        ...


class Judge(Protocol):
    """Decides whether what was found may be answered from."""

    def judge(self, found: Found, confidence: float | None, /) -> Gate:
        """`confidence` is the recogniser's, None for typed words."""
        ...


class Repairs(Protocol):
    """Puts right what was misheard, by sound."""

    def repair(self, text: str, confidence: float | None = None) -> Repaired: ...


class Staged(Protocol):
    """The part of a clock's job that an answer needs: a name for each stretch that takes time."""

    def stage(self, name: str) -> AbstractAsyncContextManager[None]: ...


Run = Callable[..., Awaitable[Any]]
"""Runs a blocking function somewhere it may block: `await run(function, *args)`."""


class Walk(Protocol):
    """An answer under way: look once, then sentence by sentence, under `aclosing`."""

    async def look(self) -> Looked: ...

    async def next_sentence(self) -> Checked | None: ...

    async def aclose(self) -> None: ...


class Answers(Protocol):
    """What a call needs of an answerer."""

    def begin(self, asked: Asked, job: Staged) -> Walk: ...


@dataclass(frozen=True, slots=True)
class Answerer:
    """The parts of an answer, wired by build.py."""

    repairer: Repairs
    searcher: Searcher
    gate: Judge
    generator: Generator
    checker: Checker
    run: Run
    cut: Cut = terms

    def begin(self, asked: Asked, job: Staged) -> Answering:
        """Nothing is searched yet: walk it by `look`, then `next_sentence`, under `aclosing`."""
        return Answering(self, asked, job)

    def look(self, asked: Asked) -> Looked:
        """Searches and judges. Blocking. Raises RetrievalError."""
        began = time.perf_counter()
        words = asked.question if asked.confidence is None else neutral(asked.question)
        repaired = self.repairer.repair(words, asked.confidence)
        before = leaned_on(repaired.text, asked.history)
        question = standalone(repaired.text, before)
        query = make_query(repaired.text, (before.question, before.answer) if before else (), self.cut)
        query = replace(query, raw=repaired.raw)
        found = self.searcher.search(query, asked.as_of)
        gate = self.gate.judge(found, asked.confidence)
        cited = {f"S{i}": evidence for i, evidence in enumerate(found.evidence[:EVIDENCE_SHOWN], start=1)}
        return Looked(question, repaired.repairs, found, gate, cited, _ms_since(began))

    def check(self, asked: Asked, looked: Looked, index: int, sentence: str) -> Checked:
        """Judges one sentence. Blocking. A fault inside is a verdict, CHECK_ERROR."""
        began = time.perf_counter()
        passages = {mark: evidence.passage for mark, evidence in looked.cited.items()}
        verdict = self.checker.check(sentence, looked.standalone, passages, asked.as_of)
        named = tuple((mark, passage) for mark, passage in passages.items() if passage.id in verdict.cited)
        return Checked(index, sentence, verdict, named, _ms_since(began))


class Answering:
    """One answer under way."""

    def __init__(self, answerer: Answerer, asked: Asked, job: Staged) -> None:
        self._answerer = answerer
        self._asked = asked
        self._job = job
        self._buffer = SentenceBuffer()
        self._ready: deque[str] = deque()
        self._pieces: AsyncGenerator[str, None] | None = None
        self._looked: Looked | None = None
        self._index = 0

    async def look(self) -> Looked:
        """The search and the gate, once."""
        async with self._job.stage("search"):
            looked: Looked = await self._answerer.run(self._answerer.look, self._asked)
        self._looked = looked
        if looked.gate.outcome is Outcome.ANSWER:
            self._pieces = self._answerer.generator.stream(looked.standalone, looked.cited)
        return looked

    async def next_sentence(self) -> Checked | None:
        """The next sentence and its verdict; None after the last, and always None when the gate did not say ANSWER."""
        if self._looked is None or self._pieces is None:
            return None
        if not self._ready:
            async with self._job.stage("generate"):
                self._ready.extend(await _next_sentences(self._pieces, self._buffer))
        if not self._ready:
            return None
        work = self._answerer.check, self._asked, self._looked, self._index, self._ready.popleft()
        async with self._job.stage("check"):
            checked: Checked = await self._answerer.run(*work)
        self._index += 1
        return checked

    async def aclose(self) -> None:
        """Stops generating."""
        if self._pieces is not None:
            await self._pieces.aclose()


async def _next_sentences(pieces: AsyncIterator[str], buffer: SentenceBuffer) -> Sequence[str]:
    """The next whole sentences of the stream; none when it has ended."""
    async for piece in pieces:
        if sentences := buffer.feed(piece):
            return sentences
    return buffer.finish()


def _ms_since(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 2)
