"""Speculation: search, gate, first sentence and its sound for words that may turn out to be the whole turn.

Until the turn has ended with exactly these words nothing of it is said, remembered or recorded as a fact. Afterwards
it is the beginning of the answer: a walk like any other, whose first steps are already done.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from audio.stabilise import bare
from audio.types import Samples
from retrieval.types import Outcome
from voice_agent.call.clock import Job
from voice_agent.call.cores import Priority, ranked
from voice_agent.call.parts import Parts
from voice_agent.call.voicing import Fallback, voiced
from voice_agent.floor.events import JobId
from voice_agent.reply.answer import Asked, Checked, Looked, Walk
from voice_agent.reply.generator import Tell
from voice_agent.reply.requests import asks_for_person
from voice_agent.reply.spoken import spoken_form

Blocks = Iterator[Samples | Fallback]
"""The sound of one text, and who failed on the way; asked for on the worker that owns the voice."""


class Speculation:
    """One at a time. `run` it; then `adopt` it once, or give it up with `aclose`."""

    def __init__(self, number: JobId, asked: Asked, parts: Parts) -> None:
        self.number = number
        self._asked = asked
        self._parts = parts
        self._stages = _Stages()
        self._notes: list[tuple[str, dict[str, object]]] = []
        self._tell: Tell = self._keep
        self._walk: Walk | None = None
        self._known, self._ended = asyncio.Event(), asyncio.Event()
        self._looked: Looked | None = None
        self._first: Checked | None = None
        self._text: str | None = None
        self._sound: tuple[Samples | Fallback | None, Blocks] | None = None

    async def run(self, job: Job) -> bool:
        """Whether the first sentence may be said. Whatever raises is for the caller; nothing is usable then."""
        self._stages.job = job
        try:
            with ranked(Priority.SPECULATION):
                return await self._foresee(job)
        finally:
            self._known.set()
            self._ended.set()

    def about(self, asked: Asked) -> bool:
        """The same words to the letter, of the same call's same moment, and heard no less surely."""
        mine = self._asked
        same = bare(mine.question) == bare(asked.question)
        sure = (mine.confidence or 0.0) <= (asked.confidence or 0.0)
        return same and sure and (mine.history, mine.as_of) == (asked.history, asked.as_of)

    async def adopt(self, job: Job, tell: Tell) -> Walk | None:
        """From now on a reply's: waits for search and first check, tells what was held back. None if it failed."""
        if not self._known.is_set():
            await job.wait(self._known)
        if self._looked is None:
            return None
        self._stages.job = job
        for kind, data in self._notes:
            tell(kind, **data)
        self._tell = tell
        return self

    async def look(self) -> Looked:
        if self._looked is None:
            raise RuntimeError("nothing was found ahead")
        return self._looked

    async def next_sentence(self) -> Checked | None:
        if self._walk is None:
            raise RuntimeError("nothing was found ahead")
        if self._first is not None:
            first, self._first = self._first, None
            return first
        return await self._walk.next_sentence()

    async def aclose(self) -> None:
        if self._walk is not None:
            await self._walk.aclose()

    async def sound_of(self, text: str, job: Job) -> tuple[Samples | Fallback | None, Blocks] | None:
        """The first block and the rest, if it is this text that is prepared, as soon as it is. Given out once."""
        if self._text != text:
            return None
        if not self._ended.is_set():
            await job.wait(self._ended)
        sound, self._sound = self._sound, None
        return sound

    async def _foresee(self, job: Job) -> bool:
        """A demand for a person is not searched for. Where a model writes the answer, only the search is done."""
        if await self._parts.workers.hearing.run(asks_for_person, self._asked.question):
            return False
        self._walk = self._parts.answerer.begin(self._asked, self._stages, self._told)
        looked = await self._walk.look()
        wanted = looked.gate.outcome is Outcome.ANSWER and self._parts.foresee_chars > 0
        self._first = await self._walk.next_sentence() if wanted else None
        sure = self._first is not None and self._first.verdict.passed
        text = spoken_form(self._first.text) if sure and self._first is not None else ""
        self._text = text if 0 < len(text) <= self._parts.foresee_chars else None
        self._looked = looked
        self._known.set()
        if self._text is not None:
            await self._first_clause(self._text, job)
        return sure

    async def _first_clause(self, text: str, job: Job) -> None:
        """Spoken ahead, which only a short one is: a worker is busy for a whole chunk."""
        rest = voiced(text, self._parts.voices)
        async with job.stage("speech"):
            block = await self._parts.workers.speaking.run(next, rest, None)
        self._sound = block, rest

    def _told(self, kind: str, **data: object) -> None:
        self._tell(kind, **data)

    def _keep(self, kind: str, **data: object) -> None:
        self._notes.append((kind, data))


class _Stages:
    """The stages of whoever works on the walk at the moment: the speculation first, then the reply."""

    job: Job

    def stage(self, name: str) -> AbstractAsyncContextManager[None]:
        return self._stage(name)

    @asynccontextmanager
    async def _stage(self, name: str) -> AsyncIterator[None]:
        async with self.job.stage(name):
            yield
