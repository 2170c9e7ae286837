"""Handing the call to a person: the packet first, then the phrase, which only a hang-up may cut."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from voice_agent import phrases
from voice_agent.call.clock import Job
from voice_agent.call.parts import Parts
from voice_agent.call.replying import Looking
from voice_agent.call.speech import Speech
from voice_agent.floor.state import HandoffReason
from voice_agent.record.journal import Recorder
from voice_agent.reply.handoff import HandoffPacket, HandoffSink
from voice_agent.reply.rewrite import Exchange

DELIVERY_LIMIT_S = 5.0
"""Wall seconds a call's end waits for the packet's delivery."""


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
        self._settled = asyncio.Event()
        self._settled.set()
        self.looking = Looking(0, "")

    async def run(
        self,
        reason: HandoffReason,
        turn: int,
        history: tuple[Exchange, ...],
        job: Job,
        now: Callable[[], float],
    ) -> None:
        """Delivers the packet and says the phrase to its end."""
        self._packet = self._pack(reason, turn, history)
        await self._deliver(turn, now)
        phrase = phrases.HANDOFF_ASKED if reason is HandoffReason.ASKED else phrases.HANDOFF
        await self._speech.say(self._parts.phrases[phrase], phrase, None, turn, job)
        if self._packet.added:
            await self._deliver(turn, now)

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

    def _pack(self, reason: HandoffReason, turn: int, history: tuple[Exchange, ...]) -> HandoffPacket:
        looking = self.looking
        return HandoffPacket(
            call=self._call,
            turn=turn,
            reason=reason,
            question=looking.question,
            detail=looking.detail,
            evidence=looking.evidence,
            withheld=looking.withheld,
            history=tuple((exchange.question, exchange.answer) for exchange in history),
        )

    async def _deliver(self, turn: int, now: Callable[[], float]) -> None:
        packet = self._packet
        if packet is None:
            return
        self._settled.clear()
        try:
            where = await self._parts.workers.delivering.run(self._sink.deliver, packet)
            self._recorder.write("handoff", now(), turn, reason=packet.reason, packet=where)
        except (OSError, TimeoutError) as e:
            self._recorder.write("error", now(), turn, where="handoff", message=f"{type(e).__name__}: {e}")
        finally:
            self._settled.set()
