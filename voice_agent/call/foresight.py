"""The one speculation a call may have: begun, then used by a reply or wasted, and counted either way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from voice_agent.call.clock import Job
from voice_agent.call.parts import Parts
from voice_agent.call.speculating import Speculation
from voice_agent.floor.events import Foreseen, JobId
from voice_agent.record.journal import Recorder
from voice_agent.reply.answer import Asked


class Foresight:
    """One a call. `now` gives seconds on the call's clock."""

    def __init__(self, parts: Parts, recorder: Recorder, now: Callable[[], float]) -> None:
        self._parts = parts
        self._recorder = recorder
        self._now = now
        self._slot: tuple[Speculation, int] | None = None
        self.counters: Counter[str] = Counter()

    def begin(self, number: JobId, asked: Asked, turn: int) -> Speculation:
        """Takes the slot; what is in it must have been given up before."""
        speculation = Speculation(number, asked, self._parts)
        self._slot = speculation, turn
        self._note("begun", number, turn, text=asked.question)
        return speculation

    async def run(self, speculation: Speculation, turn: int, job: Job) -> Foreseen:
        """Looks ahead. A fault inside is no fault of the call: the reply will look for itself, and meet it there."""
        number = speculation.number
        try:
            return Foreseen(number, await speculation.run(job))
        except Exception as e:  # noqa: BLE001 - the reply's boundary: noted, and nothing of it is used
            self._note("failed", number, turn, message=f"{type(e).__name__}: {e}")
            return Foreseen(number, sure=False)

    def adopt(self, number: JobId | None, asked: Asked, turn: int) -> Speculation | None:
        """The speculation, if it is this one and about these words; it leaves the slot."""
        if self._slot is None or number != self._slot[0].number or not self._slot[0].about(asked):
            return None
        speculation, self._slot = self._slot[0], None
        self._note("used", speculation.number, turn)
        return speculation

    async def give_up(self) -> None:
        """Closes what is in the slot. Its task must have been cancelled before."""
        if self._slot is not None:
            (speculation, turn), self._slot = self._slot, None
            self._note("wasted", speculation.number, turn)
            await speculation.aclose()

    @property
    def number(self) -> JobId | None:
        """Of the speculation in the slot."""
        return self._slot[0].number if self._slot else None

    def _note(self, state: str, number: JobId, turn: int, **facts: object) -> None:
        self.counters[f"speculations_{state}"] += 1
        self._recorder.write("speculation", self._now(), turn, state=state, job=number, **facts)
