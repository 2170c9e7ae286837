"""From a heard question to its answer: what was found, whether it may be answered, and each sentence with its verdict.

The one road to an answer: calls, `ask` and the service all walk it, so none can speak what was not checked.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Protocol

from retrieval.conditions import Conditions, conditions_of
from retrieval.homophones import Repair, Repaired
from retrieval.marks import strip_marks
from retrieval.normalize import whole
from retrieval.search import Searcher, make_query
from retrieval.terms import terms
from retrieval.types import Cut, Evidence, Found, Gate, Outcome, Passage, Verdict, VerdictReason, Wording
from voice_agent.reply.attribution import attributed, conditions_for, lacks_a_mark, meant
from voice_agent.reply.basis import Basis
from voice_agent.reply.checker import ALONE, Beside, Checker
from voice_agent.reply.draft import Draft, Writers
from voice_agent.reply.generator import Tell, silent
from voice_agent.reply.markup import without_stem
from voice_agent.reply.prompt import not_found
from voice_agent.reply.rewrite import Exchange, leaned_on, neutral, standalone

EVIDENCE_SHOWN = 3
"""Passages an answer may cite at most. More would only tempt a generator to wander."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question in its call. `confidence` is the recogniser's, None when it was typed; `conditions` are what
    the asking program has laid down, whatever the words say.
    """

    question: str
    as_of: date
    history: tuple[Exchange, ...] = ()
    confidence: float | None = None
    conditions: Conditions | None = None


@dataclass(frozen=True, slots=True)
class Looked:
    """The search and the gate. `standalone` is the question made whole, `repairs` what was put right in it by its
    sound; `cited` maps S1… to passages; `conditions` are what was laid down and heard, before any was lifted;
    `shadow` is what other thresholds would have decided, for the journal only."""

    standalone: str
    repairs: tuple[Repair, ...]
    found: Found
    gate: Gate
    cited: Mapping[str, Evidence]
    ms: float
    conditions: Conditions | None = None
    shadow: Gate | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """One generated sentence, marks included, and whether it may be spoken. `basis` is for the journal."""

    index: int
    text: str
    verdict: Verdict
    evidence: tuple[tuple[str, Passage], ...]
    ms: float
    basis: Basis | None = None


class Judge(Protocol):
    """Decides whether what was found may be answered from."""

    def judge(self, found: Found, confidence: float | None, /) -> Gate:
        """`confidence` is the recogniser's, None for typed words."""
        ...


class Repairs(Protocol):
    """Puts right what was misheard, by sound."""

    def repair(self, text: str, confidence: float | None = None) -> Repaired: ...


class Rewriter(Protocol):
    """Finds other words for a question, for the search alone."""

    async def rewrite(self, question: str, history: Sequence[Exchange], tell: Tell) -> tuple[Wording, ...]:
        """Never raises for a model: what cannot be had is left out, and told."""
        ...


class Staged(Protocol):
    """The part of a clock's job that an answer needs: a name for each stretch that takes time."""

    def stage(self, name: str) -> AbstractAsyncContextManager[None]: ...


Run = Callable[..., Awaitable[Any]]
"""Runs a blocking function somewhere it may block: `await run(function, *args)`."""

Cites = Callable[[Found], Sequence[Evidence]]
"""Which of the passages found an answer may cite, best first."""


def best_few(found: Found) -> Sequence[Evidence]:
    """The first, however far behind."""
    return found.evidence[:EVIDENCE_SHOWN]


class Walk(Protocol):
    """An answer under way: look once, then sentence by sentence, under `aclosing`."""

    async def look(self) -> Looked: ...

    async def next_sentence(self) -> Checked | None: ...

    async def aclose(self) -> None: ...


class Answers(Protocol):
    """What a call needs of an answerer."""

    def begin(self, asked: Asked, job: Staged, tell: Tell = silent) -> Walk: ...


@dataclass(frozen=True, slots=True)
class Answerer:
    """The parts of an answer, wired by build.py.

    `attribute`: a sentence without a mark is tried with each, one copied from another passage than it names with that
    one's, and one that lacks its passage's condition with that said behind it; all must pass the whole check.
    """

    repairer: Repairs
    searcher: Searcher
    gate: Judge
    writers: Writers
    checker: Checker
    run: Run
    attribute: bool = False
    rewriter: Rewriter | None = None
    shadow: Judge | None = None
    cut: Cut = terms
    citable: Cites = best_few

    def begin(self, asked: Asked, job: Staged, tell: Tell = silent) -> Answering:
        """Nothing is searched yet: walk it by `look`, then `next_sentence`, under `aclosing`.

        `tell` takes what happens on the way (`prompt`, `fallback`) for the journal.
        """
        return Answering(self, asked, job, tell)

    def by_its_shadow(self) -> Answerer:
        """The same with the two gates in each other's place, if there are two."""
        return replace(self, gate=self.shadow, shadow=self.gate) if self.shadow is not None else self

    async def find(self, asked: Asked, tell: Tell = silent) -> Looked:
        """Rewrites if there is a rewriter, then searches and judges where it may block. Raises RetrievalError."""
        also: tuple[Wording, ...] = ()
        if self.rewriter is not None:
            also = await self.rewriter.rewrite(asked.question, asked.history, tell)
        looked: Looked = await self.run(self.look, asked, also)
        return looked

    def look(self, asked: Asked, also: tuple[Wording, ...] = ()) -> Looked:
        """Searches, by other wordings too, and judges. Blocking. Raises RetrievalError."""
        began = time.perf_counter()
        said = whole(asked.question)
        words = said if asked.confidence is None else neutral(said)
        repaired = self.repairer.repair(words, asked.confidence)
        before = leaned_on(repaired.text, asked.history)
        question = standalone(repaired.text, before)
        query = make_query(repaired.text, (before.question, before.answer) if before else (), self.cut)
        query = replace(query, raw=repaired.raw, also=also)
        versions = self.searcher.narrowing.versions
        conditions = conditions_of(repaired.text, asked.as_of, versions, asked.conditions)
        found = self.searcher.search(query, asked.as_of, conditions=conditions)
        gate = self.gate.judge(found, asked.confidence)
        cited = {f"S{i}": evidence for i, evidence in enumerate(self.citable(found), start=1)}
        shadow = self.shadow.judge(found, asked.confidence) if self.shadow else None
        return Looked(question, repaired.repairs, found, gate, cited, _ms_since(began), conditions, shadow)

    def check(
        self, asked: Asked, looked: Looked, index: int, sentence: str, beside: Beside = ALONE
    ) -> Checked:
        """Judges one sentence beside the others of its answer, on the day its evidence is of. Blocking.

        The number of a list in front of it is left out: it is neither judged nor spoken. A fault inside is a verdict,
        CHECK_ERROR.
        """
        began = time.perf_counter()
        sentence = without_stem(sentence)
        passages = {mark: evidence.passage for mark, evidence in looked.cited.items()}
        day = looked.found.as_of or asked.as_of

        bases: dict[str, Basis] = {}

        def examine(text: str) -> Verdict:
            verdict, bases[text] = self.checker.judge(text, looked.standalone, passages, day, beside)
            return verdict

        verdict = examine(sentence)
        if self.attribute and lacks_a_mark(verdict) and not not_found(sentence):
            sentence, verdict = attributed(sentence, verdict, passages, examine)
        elif self.attribute:
            sentence, verdict = meant(sentence, verdict, passages, examine)
        named = tuple((mark, passage) for mark, passage in passages.items() if passage.id in verdict.cited)
        return Checked(index, sentence, verdict, named, _ms_since(began), bases[sentence])


class Answering:
    """One answer under way.

    A sentence is judged by what was said before it, as if nothing followed. One that lacks only its condition waits for
    the rest of the answer, where the condition may stand: then they are judged together, and all are given out or none.
    If the rest does not hold it and the answerer attributes, its passage's own words for it are said behind it.
    """

    def __init__(self, answerer: Answerer, asked: Asked, job: Staged, tell: Tell) -> None:
        self._answerer = answerer
        self._asked = asked
        self._job = job
        self._tell = tell
        self._draft: Draft | None = None
        self._looked: Looked | None = None
        self._said: list[str] = []
        self._together: deque[Checked] = deque()
        self._unjudged: deque[str] = deque()

    async def look(self) -> Looked:
        """The search and the gate, once."""
        async with self._job.stage("search"):
            looked = await self._answerer.find(self._asked, self._tell)
        self._looked = looked
        if looked.gate.outcome is Outcome.ANSWER:
            self._draft = Draft(self._answerer.writers, looked.standalone, looked.cited, self._tell)
        return looked

    async def next_sentence(self) -> Checked | None:
        """The next sentence and its verdict; None after the last, and always None when the gate did not say ANSWER.

        A generator that says at once that the evidence does not answer has nothing to say either. Raises LlmError.
        """
        if self._together:
            self._said.append(self._together[0].text)
            return self._together.popleft()
        sentence = await self._written()
        if sentence is None or (not self._said and not_found(sentence)):
            return None
        checked = await self._judged(sentence, ())
        if checked.verdict.reason is VerdictReason.SCOPE_DROPPED:
            checked = await self._with_the_rest(checked)
        self._said.append(checked.text)
        return checked

    async def aclose(self) -> None:
        """Stops generating."""
        if self._draft is not None:
            await self._draft.aclose()

    async def _written(self) -> str | None:
        if self._unjudged:
            return self._unjudged.popleft()
        if self._draft is None:
            return None
        async with self._job.stage("generate"):
            return await self._draft.next()

    async def _judged(self, sentence: str, after: tuple[str, ...]) -> Checked:
        beside = Beside(tuple(self._said), after)
        work = self._answerer.check, self._asked, self._looked, len(self._said), sentence, beside
        async with self._job.stage("check"):
            checked: Checked = await self._answerer.run(*work)
        return checked

    async def _with_the_rest(self, first: Checked) -> Checked:
        """The whole rest of the answer judged together; else `first` with its condition, or as it was."""
        texts = [first.text]
        while (sentence := await self._written()) is not None:
            texts.append(sentence)
        if together := await self._all_pass(texts):
            whole, *rest = together
            self._together.extend(rest)
            return whole
        return await self._with_its_condition(first, texts[1:])

    async def _with_its_condition(self, first: Checked, rest: list[str]) -> Checked:
        """`first` with the sentence of its passage that it lacks behind it; the rest is judged after the two."""
        if not self._answerer.attribute or self._looked is None:
            return first
        passages = {mark: evidence.passage for mark, evidence in self._looked.cited.items()}
        for condition in conditions_for(first.verdict, passages):
            if together := await self._all_pass([first.text, condition]):
                self._together.append(together[1])
                self._unjudged.extend(text for text in rest if strip_marks(text) != strip_marks(condition))
                return together[0]
        return first

    async def _all_pass(self, texts: list[str]) -> list[Checked]:
        """The next sentences of the answer, each judged beside all the others; none unless every one passes."""
        said, together = list(self._said), list[Checked]()
        try:
            for i, text in enumerate(texts):
                together.append(await self._judged(text, tuple(texts[i + 1 :])))
                if not together[-1].verdict.passed:
                    return []
                self._said.append(together[-1].text)
            return together
        finally:
            self._said = said


def _ms_since(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 2)
