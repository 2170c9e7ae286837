"""One reply, from heard words to the last sample of the answer: the task behind `BeginReply`."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import date

from audio.types import Samples, Transcript
from retrieval.marks import strip_marks
from retrieval.types import Outcome
from voice_agent import phrases
from voice_agent.call.clock import Job
from voice_agent.call.cores import Priority, ranked
from voice_agent.call.parts import Parts
from voice_agent.call.speculating import Blocks, Speculation
from voice_agent.call.speech import Line, Speech
from voice_agent.call.tally import Tally
from voice_agent.call.voicing import Fallback, voiced
from voice_agent.floor.duties import Duties
from voice_agent.floor.events import ReplyId, ReplyOutcome
from voice_agent.record.journal import Recorder
from voice_agent.reply.answer import Asked, Checked, Looked, Walk, best_few
from voice_agent.reply.handoff import Withheld
from voice_agent.reply.rewrite import Exchange
from voice_agent.reply.spoken import spoken_form
from voice_agent.reply.telling import tell_search, tell_sentence

Now = Callable[[], float]
"""Seconds on the call's clock."""


@dataclass(slots=True)
class Looking:
    """What the reply in hand rests on so far: the person who takes over is given this."""

    turn: int
    question: str
    detail: str = ""
    evidence: tuple[tuple[str, str], ...] = ()
    withheld: Withheld | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What to answer. `may_clarify` is False when the caller was asked to be clearer just before.

    `last` are the checked sentences of the last answer that were heard whole. `ahead` is what was done for these
    very words before their turn had ended.
    """

    reply: ReplyId
    turn: int
    transcript: Transcript
    as_of: date
    history: tuple[Exchange, ...]
    may_clarify: bool
    last: tuple[Line, ...] = ()
    duties: Duties = Duties()
    ahead: Speculation | None = None

    @property
    def asked(self) -> Asked:
        """The question in its call."""
        return Asked(self.transcript.text, self.as_of, self.history, self.transcript.confidence)


@dataclass(frozen=True, slots=True)
class Voice:
    """How a reply is heard. `passed` is to be called as soon as there is something that may be spoken."""

    speech: Speech
    tally: Tally
    passed: Callable[[], None]


class Replying:
    """Answers one request aloud. Every step is journalled; nothing is spoken that has no passed verdict.

    While a sentence plays the next ones are generated, checked and synthesised, as many as `Speech.room` allows.
    """

    def __init__(self, request: Request, parts: Parts, voice: Voice, recorder: Recorder, now: Now) -> None:
        self._request = request
        self._parts = parts
        self._speech = voice.speech
        self._voice = voice
        self._recorder = recorder
        self._now = now
        self._ahead = request.ahead
        self._stages_ms: dict[str, float] = {"asr": request.transcript.seconds * 1000}
        self.looking = Looking(request.turn, request.transcript.text)

    async def run(self, job: Job) -> ReplyOutcome:
        """Returns when the last sample was heard, or as soon as it is clear that nothing more may be said."""
        try:
            return await self._run(job)
        finally:
            self._write("timing", stages_ms={stage: round(ms, 1) for stage, ms in self._stages_ms.items()})

    async def _run(self, job: Job) -> ReplyOutcome:
        request = self._request
        spoken = 0
        async with aclosing(await self._walk(job)) as answering:
            if (outcome := await self._looked(await answering.look(), job)) is not None:
                return outcome
            while (sentence := await answering.next_sentence()) is not None:
                if not self._checked(sentence):
                    return "blocked"
                self._voice.passed()
                await self._speak(sentence, job)
                await self._wait_for_room(job)
                spoken += 1
        if not spoken:
            return "refused"
        await job.wait(self._speech.played_out(request.reply))
        return "answered"

    async def _walk(self, job: Job) -> Walk:
        """The road to the answer, from where the speculation has come to if it was about these words."""
        asked, ahead = self._request.asked, self._ahead
        if ahead is not None and ahead.about(asked) and (walk := await ahead.adopt(job, self._write)):
            return walk
        return self._parts.answerer.begin(asked, job, self._write)

    async def _looked(self, looked: Looked, job: Job) -> ReplyOutcome | None:
        tell_search(self._write, looked)
        self._stages_ms |= {**looked.found.timings_ms, "look": looked.ms}
        gate = looked.gate
        self.looking.detail = gate.reason or ""
        self.looking.evidence = tuple((e.passage.id, e.passage.text) for e in best_few(looked.found))
        if gate.outcome is Outcome.ANSWER:
            return None
        if gate.outcome is Outcome.REFUSE or not self._request.may_clarify:
            return "refused"
        self._voice.passed()
        phrase = phrases.clarification(gate.reason)
        await self._speech.say(
            self._parts.phrases[phrase], phrase, self._request.reply, self._request.turn, job
        )
        return "clarify"

    def _checked(self, checked: Checked) -> bool:
        verdict = checked.verdict
        self._voice.tally.judged(checked.index, verdict)
        self._stages_ms["check"] = self._stages_ms.get("check", 0.0) + checked.ms
        tell_sentence(self._write, checked)
        if not verdict.passed:
            self.looking.withheld = Withheld(checked.text, str(verdict.reason))
        return verdict.passed

    async def _speak(self, checked: Checked, job: Job) -> None:
        self._voice.tally.release(checked.index)
        text = spoken_form(checked.text)
        source = ", ".join(passage.source or passage.id for _, passage in checked.evidence) or "phrase"
        line = Line(
            self._request.reply, self._request.turn, checked.index, text, source, strip_marks(checked.text)
        )
        item = self._speech.begin(line)
        began = time.perf_counter()
        try:
            await self._sound(item, text, job)
        except BaseException:
            self._speech.break_off(item)
            raise
        self._speech.complete(item)
        spent_ms = (time.perf_counter() - began) * 1000
        self._stages_ms["speech"] = self._stages_ms.get("speech", 0.0) + spent_ms

    async def _sound(self, item: int, text: str, job: Job) -> None:
        """The sentence clause by clause; each is queued as soon as it is there. Raises ModelError when no voice could
        make all of it."""
        prepared = None if self._ahead is None else await self._ahead.sound_of(text, job)
        if prepared is not None:
            block, blocks = prepared
        else:
            blocks = voiced(text, self._parts.voices)
            async with job.stage("speech"):
                block = await self._next_block(blocks, Priority.FIRST_CLAUSE)
        while block is not None:
            if isinstance(block, Fallback):
                self._write("fallback", **block.as_json())
            else:
                self._speech.add(item, block)
            block = await self._next_block(blocks, Priority.NEXT_CLAUSE)

    async def _next_block(self, blocks: Blocks, priority: Priority) -> Samples | Fallback | None:
        with ranked(priority):
            return await self._parts.workers.speaking.run(next, blocks, None)

    async def _wait_for_room(self, job: Job) -> None:
        if not (room := self._speech.room(self._request.reply)).is_set():
            await job.wait(room)

    def _write(self, kind: str, **data: object) -> None:
        self._recorder.write(kind, self._now(), self._request.turn, **data)
