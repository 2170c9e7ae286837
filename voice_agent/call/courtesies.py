"""What a caller asks of the call itself: to hear it again, to end it, or nothing at all. None of it is searched for."""

from __future__ import annotations

from dataclasses import replace

from audio.types import Samples
from voice_agent import phrases
from voice_agent.call.clock import Job
from voice_agent.call.parts import Parts
from voice_agent.call.replying import Request
from voice_agent.call.speech import Line, Speech
from voice_agent.call.voicing import whole_sound
from voice_agent.floor.duties import Duties
from voice_agent.floor.events import ReplyId, ReplyOutcome
from voice_agent.reply.requests import Wish, wish


def wished(request: Request) -> Wish | None:
    """What these words ask of the call, if the duty is kept; None when they are a question."""
    duties = request.duties
    asked = wish(request.transcript.text)
    if asked == "no":
        asked = "goodbye" if request.may_clarify else "nothing"
    kept = {
        "again": duties.repeat != "off",
        "goodbye": duties.goodbye,
        "nothing": duties.courtesy,
        "wait": duties.courtesy,
    }
    return asked if asked is not None and kept.get(asked, True) else None


def asked_anew(request: Request) -> Request:
    """再说一遍 to an answer of which no sentence was heard whole: its question is asked once more, checks and all."""
    before = request.history[-1] if request.history else None
    if before is None or request.last or wished(request) != "again" or not before.interrupted:
        return request
    return replace(request, transcript=replace(request.transcript, text=before.question, confidence=1.0))


class Courtesies:
    """Answers for one reply whatever needs no documents."""

    def __init__(self, request: Request, parts: Parts, speech: Speech) -> None:
        self._request = request
        self._parts = parts
        self._speech = speech

    async def answer(self, job: Job) -> ReplyOutcome | None:
        """Says it to its end; None when the words are a question."""
        match await self._parts.workers.hearing.run(wished, self._request):
            case "person":
                return "asked"
            case "again":
                return await self._again(job)
            case "goodbye":
                return await self._say(phrases.GOODBYE, "goodbye", job)
            case "wait":
                return await self._say(phrases.GO_ON, "courtesy", job)
            case "nothing":
                asked_back = not self._request.may_clarify
                phrase = phrases.GO_ON if asked_back else phrases.ANYTHING_ELSE
                return await self._say(phrase, "courtesy", job)
            case "no" | None:
                return None

    async def _say(self, phrase: str, outcome: ReplyOutcome, job: Job) -> ReplyOutcome:
        request = self._request
        await self._speech.say(self._parts.phrases[phrase], phrase, request.reply, request.turn, job)
        return outcome

    async def _again(self, job: Job) -> ReplyOutcome:
        lines = again(self._request.last, self._request.duties)
        if not lines:
            return await self._say(phrases.NOTHING_TO_REPEAT, "courtesy", job)
        for line in lines:
            item = self._speech.begin(once_more(line, self._request.reply, self._request.turn))
            for block in await sound_of(line.text, self._parts, job):
                self._speech.add(item, block)
            self._speech.complete(item)
        await job.wait(self._speech.played_out(self._request.reply))
        return "repeated"


def again(last: tuple[Line, ...], duties: Duties) -> tuple[Line, ...]:
    """Which of the sentences heard whole are said again."""
    return last[-1:] if duties.repeat == "sentence" else last


def once_more(line: Line, reply: ReplyId, turn: int) -> Line:
    """A sentence that passed its check and was heard, as part of another reply."""
    return replace(line, reply=reply, turn=turn, said="again")


async def sound_of(text: str, parts: Parts, job: Job) -> list[Samples]:
    """Text that was not synthesised beforehand, whole. Raises AudioError, TimeoutError."""
    async with job.stage("speech"):
        return await parts.workers.speaking.run(whole_sound, text, (parts.synthesizer, *parts.spares))
