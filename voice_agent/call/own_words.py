"""What the floor itself has to say: a greeting, whether anybody is there, that we did not hear, what we may have heard.

None of it is an answer: it rests on nothing, so it states nothing.
"""

from __future__ import annotations

from typing import assert_never

import numpy as np

from audio.types import Samples
from voice_agent import phrases
from voice_agent.call.clock import Job
from voice_agent.call.courtesies import sound_of
from voice_agent.call.parts import Parts
from voice_agent.call.speech import Speech
from voice_agent.floor.actions import AskAgain, ReadBack, Say
from voice_agent.floor.duties import Duties, Said
from voice_agent.floor.events import ReplyOutcome
from voice_agent.floor.keeping import unsure_codes
from voice_agent.reply.spoken import spoken_form

OwnWord = AskAgain | ReadBack | Say


class OwnWords:
    """Says them, one at a time, each to its end."""

    def __init__(self, parts: Parts, speech: Speech, duties: Duties) -> None:
        self._parts = parts
        self._speech = speech
        self._duties = duties

    async def say(self, action: OwnWord, turn: int, job: Job) -> ReplyOutcome:
        """What became of it. Raises AudioError and TimeoutError where words must be synthesised first."""
        outcome: ReplyOutcome = "clarify"
        match action:
            case AskAgain():
                phrase = phrases.REPEAT
            case ReadBack():
                phrase = phrases.read_back("、".join(unsure_codes(action.transcript, self._duties)))
            case Say():
                phrase = self._phrase(action.said)
                outcome = "goodbye" if action.said is Said.NO_ANSWER else "said"
            case _:
                assert_never(action)
        await self._speech.say(await self._sound(phrase, job), phrase, action.reply, turn, job)
        return outcome

    async def _sound(self, phrase: str, job: Job) -> Samples:
        made = self._parts.phrases.get(phrase)
        return (
            made
            if made is not None
            else np.concatenate(await sound_of(spoken_form(phrase), self._parts, job))
        )

    def _phrase(self, said: Said) -> str:
        match said:
            case Said.GREETING:
                return self._duties.greeting or phrases.GREETING
            case Said.STILL_THERE:
                return phrases.STILL_THERE
            case Said.NO_ANSWER:
                return phrases.NO_ANSWER
            case _:
                assert_never(said)
