"""Question–answer–source triples for a cold start: a language model proposes, the guard decides what is kept.

A pair is kept only if every sentence of its answer passes the citation check against the passage it was made from, and
its question finds that passage by itself. What a model invents is dropped and counted, never mended.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any, Protocol

from retrieval.marks import find_marks, strip_marks
from retrieval.normalize import canonical
from retrieval.sentences import split_sentences
from retrieval.types import Passage, PassageId, Verdict
from voice_agent.errors import AgentError

WITHIN = 3
"""Places among which the question must find its passage: what an answer may cite."""

MAX_REPLY = 8000
"""Characters read of one completion; a model that goes on has lost the task."""

MAX_QUESTION = 80
"""Characters of a question: nobody asks longer ones on the phone."""

_OBJECT = re.compile(r"\{[^{}]*\}")


class Writer(Protocol):
    """A language model: a prompt in, its whole answer out."""

    async def complete(self, prompt: str) -> str:
        """Raises AgentError when the model gives none."""
        ...


class Find(Protocol):
    """The agent's own search."""

    def __call__(self, question: str, as_of: date, /) -> Sequence[PassageId]:
        """Passages of the question, best first. Blocking."""
        ...


class Check(Protocol):
    """The agent's own sentence check."""

    def check(
        self, sentence: str, question: str, evidence: dict[str, Passage], as_of: date, /
    ) -> Verdict: ...


class Dropped(StrEnum):
    """Why a proposed pair was not kept, besides the reasons of the sentence check."""

    NO_ANSWER = "NO_ANSWER"
    NOT_JSON = "NOT_JSON"
    NOT_A_QUESTION = "NOT_A_QUESTION"
    REPEATED = "REPEATED"
    NOT_FOUND = "NOT_FOUND"


@dataclass(frozen=True, slots=True)
class Triple:
    """A kept pair. `answer` is without marks; `source` is where the passage comes from."""

    id: str
    question: str
    answer: str
    passage: PassageId
    source: str
    as_of: date

    def as_row(self) -> dict[str, Any]:
        """A line that `eval` reads as a labelled question."""
        row = {"id": self.id, "kind": "synthetic", "question": self.question, "expect": [self.passage]}
        more = {"must_refuse": False, "as_of": self.as_of.isoformat()}
        return {**row, **more, "answer": self.answer, "source": self.source}


@dataclass(frozen=True, slots=True)
class Refused:
    """A pair that was not kept. `reason` is a Dropped or a verdict's reason, `detail` what the operator may read."""

    passage: PassageId
    reason: str
    question: str = ""
    detail: str = ""


def prompt_of(passage: Passage, count: int) -> str:
    """Asks for `count` pairs about one passage, one JSON object a line."""
    return (
        f"下面是一段客服资料。请写出 {count} 个打电话的顾客会问、而这段资料能完整回答的问题，并给出回答。\n"
        "要求：问题用口语，不超过 30 个字，不照抄资料；回答只用资料里的话，一到两句，数字、条件和否定原样保留。\n"
        '每行一个 JSON 对象，形如 {"question": "…", "answer": "…"}，不要写别的。\n\n'
        f"标题：{passage.title}\n资料：{passage.text}\n"
    )


def pairs_in(text: str) -> list[tuple[str, str]]:
    """The pairs that a completion holds, whatever stands around them; objects without both texts are left out."""
    found = []
    for match in _OBJECT.finditer(text[:MAX_REPLY]):
        try:
            row = json.loads(match[0])
        except ValueError:
            continue
        question, answer = row.get("question"), row.get("answer")
        if isinstance(question, str) and isinstance(answer, str) and question.strip() and answer.strip():
            found.append((" ".join(question.split()), " ".join(answer.split())))
    return found


@dataclass(frozen=True, slots=True)
class Synthesis:
    """The parts of a run: who writes, who finds, who checks, on which day, and how many pairs a passage."""

    writer: Writer
    find: Find
    checker: Check
    as_of: date
    per_passage: int = 3

    async def run(self, passages: Sequence[Passage]) -> AsyncGenerator[Triple | Refused, None]:
        """Each pair's fate, passage by passage. A passage for a person, or not valid on the day, is left out.

        A model that fails on one passage is a Refused; the run goes on.
        """
        asked: set[str] = set()
        for passage in passages:
            if passage.must_handoff or not passage.valid_on(self.as_of):
                continue
            try:
                text = await self.writer.complete(prompt_of(passage, self.per_passage))
            except AgentError as e:
                yield Refused(passage.id, Dropped.NO_ANSWER, detail=str(e))
                continue
            pairs = pairs_in(text)
            if not pairs:
                yield Refused(passage.id, Dropped.NOT_JSON, detail=" ".join(text.split())[:120])
            for number, (question, answer) in enumerate(pairs[: self.per_passage], start=1):
                yield self._judged(passage, number, question, answer, asked)

    def _judged(
        self, passage: Passage, number: int, question: str, answer: str, asked: set[str]
    ) -> Triple | Refused:
        """Cheap first: its form, a repeat, the sentences, the search."""
        key = canonical(question).rstrip("？?。.！! ")
        if len(question) > MAX_QUESTION or not key or find_marks(question):
            return Refused(passage.id, Dropped.NOT_A_QUESTION, question[:MAX_QUESTION])
        if key in asked:
            return Refused(passage.id, Dropped.REPEATED, question)
        asked.add(key)
        spoken = strip_marks(answer).strip()
        for sentence in split_sentences(spoken) or [spoken]:
            evidence = {"S1": passage}
            verdict = self.checker.check(f"{sentence.strip()}[S1]", question, evidence, self.as_of)
            if not verdict.passed:
                return Refused(
                    passage.id, str(verdict.reason), question, f"{sentence.strip()}：{verdict.detail}"
                )
        found = self.find(question, self.as_of)[:WITHIN]
        if passage.id not in found:
            return Refused(passage.id, Dropped.NOT_FOUND, question, f"首先找到 {found[0] if found else '–'}")
        ident = f"synth-{passage.id}-{number}"[:200]
        return Triple(ident, question, spoken, passage.id, passage.source, self.as_of)


class Streamed:
    """A Writer over a model that streams: its texts joined, whatever else it yields left out."""

    def __init__(self, stream: Callable[[str], AsyncGenerator[object, None]]) -> None:
        self._stream = stream

    async def complete(self, prompt: str) -> str:
        """At most MAX_REPLY characters; the stream is closed behind them. Raises what the stream raises."""
        pieces: list[str] = []
        length = 0
        async with aclosing(self._stream(prompt)) as stream:
            async for piece in _texts(stream):
                pieces.append(piece)
                length += len(piece)
                if length >= MAX_REPLY:
                    break
        return "".join(pieces)[:MAX_REPLY]


async def _texts(stream: AsyncIterator[object]) -> AsyncIterator[str]:
    async for piece in stream:
        if isinstance(piece, str):
            yield piece
