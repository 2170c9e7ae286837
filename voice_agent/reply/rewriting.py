"""Other words for a question, by a language model, for the search alone.

The original is always searched; what the model writes is fused in beside it and neither reaches the gate, the generator
nor the check. A wording that loses or adds a figure, a code or a negation is thrown away; a model that is dead or slow
costs a line in the journal.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from retrieval.types import Wording
from voice_agent.reply.breaker import Breaker, BreakerRules
from voice_agent.reply.faithful import altered
from voice_agent.reply.generation import Visible, visible
from voice_agent.reply.generator import Tell
from voice_agent.reply.llm import Llm, LlmError, LlmFault
from voice_agent.reply.prompt import Wanted, rewriting_prompt
from voice_agent.reply.rewrite import Exchange, leaned_on

WEIGHTS: Final[Mapping[Wanted, float]] = {
    "standalone": 1.0,
    "multi_query": 0.5,
    "hyde": 0.5,
    "step_back": 0.3,
}
"""Beside the original's 1. Set by hand: the further from the caller's words, the less it counts."""

MAX_TOKENS: Final = 120
MAX_TEXT: Final = 600
"""Characters of a model's output that are read; five wordings of a spoken question are about 150."""

MAX_WORDING: Final = 160

_STEM: Final = re.compile(r"^\s*(?:\d{1,2}\s*[.、)）:：]|[-*•·])\s*|^[\"“「]|[\"”」]$")


@dataclass(frozen=True, slots=True)
class RewriteRules:
    """What is asked for, and within how many seconds all of it must be there."""

    standalone: bool = False
    hyde: bool = False
    multi_query: int = 0
    step_back: bool = False
    deadline_s: float = 1.5

    @property
    def any(self) -> bool:
        return self.standalone or self.hyde or self.step_back or self.multi_query > 0

    def wanted(self, *, follow_up: bool) -> list[Wanted]:
        """The kinds to ask for; only a question that leans on an earlier turn can be made whole."""
        on: dict[Wanted, bool] = {
            "standalone": self.standalone and follow_up,
            "multi_query": self.multi_query > 0,
            "step_back": self.step_back,
            "hyde": self.hyde,
        }
        return [kind for kind, wanted in on.items() if wanted]


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question to be rewritten. `before` is the turn it leans on, as text."""

    question: str
    before: str
    earlier: str


class LlmRewriter:
    """Asks for every kind at once. Its breaker leaves a broken server alone, so that it costs one deadline, not all."""

    def __init__(
        self,
        llm: Llm,
        rules: RewriteRules,
        breaker: BreakerRules | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._llm = llm
        self._rules = rules
        self._breaker_rules = breaker or BreakerRules()
        self._now = now
        self._breaker = Breaker()

    async def rewrite(self, question: str, history: Sequence[Exchange], tell: Tell) -> tuple[Wording, ...]:
        """The wordings that may be searched, each told with what became of it. Never raises for the model."""
        before = leaned_on(question, history)
        kinds = self._rules.wanted(follow_up=before is not None)
        if not kinds or not question.strip():
            return ()
        if not self._breaker.allows(self._now()):
            told = f"{LlmFault.RESTING}: {self._llm.id} is left alone after {self._breaker.faults} faults in a row"
            tell("rewrite", before=question, after="", by="llm", kept=False, why=told)
            return ()
        earlier = " ".join(exchange.question for exchange in history)
        said = _shown(before) if before else ""
        asked = _Asked(question, said, earlier)
        self._breaker = self._breaker.begun()
        try:
            written = await self._written(kinds, asked)
        finally:
            self._breaker = self._breaker.abandoned()
        self._learn(written)
        return tuple(self._kept(written, asked, tell))

    async def _written(self, kinds: Sequence[Wanted], asked: _Asked) -> dict[Wanted, list[str] | str]:
        """Per kind what the model wrote, or in one line why there is nothing."""
        written: dict[Wanted, list[str] | str] = dict.fromkeys(kinds, "late: nothing within the deadline")

        async def ask(kind: Wanted) -> None:
            try:
                written[kind] = await self._ask(kind, asked)
            except LlmError as e:
                written[kind] = f"{e.fault}: {e}"

        try:
            async with asyncio.timeout(self._rules.deadline_s), asyncio.TaskGroup() as group:
                for kind in kinds:
                    group.create_task(ask(kind), name=f"rewrite:{kind}")
        except TimeoutError:
            pass  # each kind that is not there says so itself
        return written

    async def _ask(self, kind: Wanted, asked: _Asked) -> list[str]:
        count = self._rules.multi_query if kind == "multi_query" else 1
        prompt = rewriting_prompt(kind, asked.question, asked.before, count)
        async with (
            aclosing(self._llm.stream(prompt, max_tokens=MAX_TOKENS)) as raw,
            aclosing(visible(raw, self._llm.id)) as pieces,
        ):
            text = await _read(pieces)
        lines = [_STEM.sub("", line).strip() for line in text.split("\n")]
        return [line for line in lines if line and len(line) <= MAX_WORDING][:count]

    def _learn(self, written: Mapping[Wanted, list[str] | str]) -> None:
        if any(isinstance(lines, str) for lines in written.values()):
            self._breaker = self._breaker.failed(self._now(), self._breaker_rules)
        else:
            self._breaker = self._breaker.succeeded()

    def _kept(self, written: Mapping[Wanted, list[str] | str], asked: _Asked, tell: Tell) -> list[Wording]:
        kept: list[Wording] = []
        for kind, lines in written.items():
            if isinstance(lines, str):
                tell("rewrite", before=asked.question, after="", by=kind, kept=False, why=lines)
                continue
            for line in lines:
                why = altered(kind, asked.question, line, asked.earlier)
                tell("rewrite", before=asked.question, after=line, by=kind, kept=not why, why=why)
                if not why:
                    kept.append(Wording(line, WEIGHTS[kind]))
        return kept


def _shown(before: Exchange) -> str:
    """The turn before, as the model reads it: what the caller cut short is told apart from what they heard."""
    broken = f"（说到这里被打断：{before.interrupted}）" if before.interrupted else ""
    return f"{before.question} {before.answer}{broken}"


async def _read(pieces: AsyncGenerator[Visible, None]) -> str:
    text = ""
    async for piece in pieces:
        text = piece.text if piece.void else text + piece.text
        if len(text) > MAX_TEXT:
            return text[:MAX_TEXT]
    return text
