"""The caller's words: what the session's recognitions run, finals and partials, each journalled with its fault."""

from __future__ import annotations

from collections.abc import Callable

from audio.errors import ModelError
from audio.stabilise import Guesses, agree
from audio.types import Recognizer, Transcript
from voice_agent.call.clock import Job
from voice_agent.call.cores import Priority, ranked
from voice_agent.call.listen import Listener, Utterance
from voice_agent.call.parts import Parts
from voice_agent.floor.actions import Guess, Recognise, RecogniseEarly
from voice_agent.record.journal import Recorder

TAIL_S = 0.2
"""Sound after the last voiced frame given to the recogniser: a final consonant is unvoiced."""


class Hearing:
    """One a call. `now` gives seconds on the call's clock."""

    def __init__(
        self, parts: Parts, listener: Listener, recorder: Recorder, now: Callable[[], float]
    ) -> None:
        self._parts = parts
        self._listener = listener
        self._recorder = recorder
        self._now = now
        self._from_s = -1.0
        self._guesses = Guesses()

    async def final(self, span: Recognise | RecogniseEarly, turn: int, job: Job) -> Transcript | None:
        """The words of the whole span; None when the recogniser failed, which is recorded."""
        heard = self._listener.cut(span.from_s - self._parts.preroll_s, span.until_s + TAIL_S)
        recognise = self._parts.recognizer.transcribe
        try:
            async with job.stage("asr"):
                with ranked(Priority.FINAL):
                    return await self._parts.workers.hearing.run(recognise, heard.samples, heard.voiced_s)
        except Exception as e:  # noqa: BLE001 - the reply's boundary: recorded, and the caller is asked again
            message = f"{type(e).__name__}: {e}"
            self._recorder.write("error", self._now(), turn, where="asr", message=message)
            return None

    async def guess(self, span: Guess, turn: int, job: Job) -> Transcript | None:
        """The words so far; None when there are none. Recorded with the part of them that is settled."""
        heard = self._listener.cut(span.from_s - self._parts.preroll_s, span.until_s)
        before = self._guesses if span.from_s == self._from_s else Guesses()
        partials = self._parts.partials or self._parts.recognizer
        try:
            async with job.stage("partial"):
                with ranked(Priority.PARTIAL):
                    worker = self._parts.workers.guessing or self._parts.workers.hearing
                    transcript, guesses = await worker.run(_partial, partials, before, heard)
        except (ModelError, TimeoutError) as e:
            # No fault of the call: the final recognition is still to come, and will say so if it fails too.
            self._recorder.write("partial", self._now(), turn, text="", fault=f"{type(e).__name__}: {e}")
            return None
        self._from_s, self._guesses = span.from_s, guesses
        if not transcript.text:
            return None
        self.note(transcript, span.until_s, turn, guesses.settled_text)
        return transcript

    def note(self, transcript: Transcript, until_s: float, turn: int, settled: str) -> None:
        """Records words that are not known to be a whole turn."""
        facts = {"settled": settled, "until_s": round(until_s, 3), "seconds": round(transcript.seconds, 3)}
        self._recorder.write("partial", self._now(), turn, text=transcript.text, **facts)


def _partial(recognizer: Recognizer, before: Guesses, heard: Utterance) -> tuple[Transcript, Guesses]:
    transcript = recognizer.transcribe(heard.samples, heard.voiced_s)
    return transcript, agree(before, transcript.text) if transcript.text else before
