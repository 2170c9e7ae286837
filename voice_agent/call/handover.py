"""Handing the call to a person: the packet goes out while the phrase is spoken, which only a hang-up may cut."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from voice_agent import phrases
from voice_agent.call.clock import Job
from voice_agent.call.parts import Parts
from voice_agent.call.replying import Looking
from voice_agent.call.speech import Speech
from voice_agent.floor.actions import HandoffReason
from voice_agent.floor.events import Taken
from voice_agent.record.journal import Recorder
from voice_agent.reply.handoff import HandoffPacket, HandoffSink
from voice_agent.reply.rewrite import Exchange

DELIVERY_LIMIT_S = 5.0
"""Wall seconds that a phrase's end, and then the call's, waits for a delivery under way."""

Now = Callable[[], float]
"""Seconds on the call's clock."""


class Handover:
    """Belongs to the call, not to the reply that failed. `looking` is what the last reply rested on."""

    def __init__(
        self, call: str, parts: Parts, speech: Speech, recorder: Recorder, sink: HandoffSink
    ) -> None:
        self._call = call
        self._parts = parts
        self._speech = speech
        self._recorder = recorder
        self._sink = sink
        self._packet: HandoffPacket | None = None
        self._delivered_words = 0
        self._taken = Taken.FAILED
        self._settled = asyncio.Event()
        self._settled.set()
        self.looking = Looking(0, "")

    def pack(self, reason: HandoffReason, turn: int, history: tuple[Exchange, ...]) -> None:
        """What the person is given; a delivery of it is now expected."""
        looking = self.looking
        self._settled.clear()
        self._packet = HandoffPacket(
            call=self._call,
            turn=turn,
            reason=reason,
            question=looking.question,
            detail=looking.detail,
            evidence=looking.evidence,
            withheld=looking.withheld,
            history=tuple((exchange.question, exchange.answer) for exchange in history),
        )

    async def deliver(self, now: Now, job: Job | None = None) -> None:
        """Gives the packet to the sink and records what became of it."""
        if (packet := self._packet) is None:
            return
        self._settled.clear()
        self._delivered_words = len(packet.added)
        try:
            delivery = await self._parts.workers.delivering.run(self._sink.deliver, packet)
            self._taken = Taken.DELIVERED if delivery.taken else Taken.SPOOLED
            self._record(packet, now, delivery.where, delivery.detail)
        except (OSError, TimeoutError) as e:
            self._taken = Taken.FAILED
            message = f"{type(e).__name__}: {e}"
            self._recorder.write("error", now(), packet.turn, where="handoff", message=message)
            self._record(packet, now, "", message)
        finally:
            self._settled.set()

    async def run(self, kept: bool | None, job: Job, now: Now) -> Taken:
        """Says a phrase to its end, then tells what became of the packet.

        `kept` is None at first; later, when nobody took the call, whether its packet is safe.
        """
        phrase = self._phrase(kept)
        turn = 0 if self._packet is None else self._packet.turn
        await self._speech.say(self._parts.phrases[phrase], phrase, None, turn, job)
        try:
            async with asyncio.timeout(DELIVERY_LIMIT_S):
                await job.wait(self._settled)
        except TimeoutError:
            late = f"no word of the packet {DELIVERY_LIMIT_S:.0f} s after the phrase"
            self._recorder.write("error", now(), turn, where="handoff", message=late)
            return Taken.FAILED
        if self._packet is not None and len(self._packet.added) > self._delivered_words:
            await self.deliver(now)
        return self._taken

    def add(self, words: str) -> None:
        """What the caller said while being handed over; delivered with the phrase's end."""
        if self._packet is not None:
            self._packet = self._packet.with_words(words)

    async def delivered(self) -> None:
        """Waits for a delivery under way, within the limit."""
        try:
            async with asyncio.timeout(DELIVERY_LIMIT_S):
                await self._settled.wait()
        except TimeoutError:
            return

    def _phrase(self, kept: bool | None) -> str:
        if kept is not None:
            return self._parts.callback if kept else phrases.CALL_LATER
        reason = None if self._packet is None else self._packet.reason
        if reason == HandoffReason.MAX_LENGTH:
            return phrases.TOO_LONG
        return phrases.HANDOFF_ASKED if reason == HandoffReason.ASKED else phrases.HANDOFF

    def _record(self, packet: HandoffPacket, now: Now, where: str, detail: str) -> None:
        facts = {"packet": where, "delivery": self._taken, "detail": detail}
        self._recorder.write("handoff", now(), packet.turn, reason=packet.reason, **facts)
