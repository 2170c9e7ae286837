"""Recorded callers on the service's WebSocket, in real time, as a page would send and hear them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from audio.pcm import decode, encode, rms
from audio.types import CALL_RATE_HZ, FRAME_MS, Samples
from voice_agent.call.recorded import Clip, RecordedCaller

VOICED = 0.02
"""Level above which the caller is speaking: the recordings' noise is below it."""

NEW_S = 0.3
"""Silence after which sound is a new utterance of the agent."""

STAYS_S = 5.0
"""The caller listens on for so long before hanging up: words may still be being recognised on a busy machine."""


@dataclass
class Heard:
    """What a page saw. `heard_s` is, for each utterance of the agent after the caller's, from the caller's last voiced
    sample to its first one here; `refused_s` how long a refusal took, None for a call that was held.
    """

    events: list[dict[str, Any]] = field(default_factory=list)
    sound: list[Samples] = field(default_factory=list)
    heard_s: list[float] = field(default_factory=list)
    refused_s: float | None = None
    status: int = 101

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The data of the events of one kind."""
        return [m["data"] for m in self.events if m["type"] == "event" and m["kind"] == kind]


class _Caller:
    """One connection: the recording on one side, what comes back on the other."""

    def __init__(self, socket: ClientConnection, clips: Sequence[Clip]) -> None:
        self._socket = socket
        self._recorded = RecordedCaller(clips)
        self._spoken_s = 0.0
        self._voiced_at: float | None = None
        self._sounded_at = self._busy_until = time.perf_counter()
        self._samples = 0
        self.heard = Heard()

    async def run(self) -> None:
        start = {"type": "start", "codec": "pcm16", "rate": CALL_RATE_HZ}
        await self._socket.send(json.dumps(start))
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._speak(), name="speaking")
                await self._listen()
        except* ConnectionClosed:
            pass  # either side may be the first to notice

    async def _speak(self) -> None:
        began, sent = time.perf_counter(), 0
        while not self._done():
            frame = await self._recorded.read()
            if frame is None:
                return
            if rms(frame.samples) > VOICED:
                self._voiced_at = time.perf_counter()
                self._busy_until = self._voiced_at
            sent += 1
            self._spoken_s = frame.end_s
            await self._socket.send(encode(frame.samples, "s16"))
            await asyncio.sleep(max(0.0, began + sent * FRAME_MS / 1000 - time.perf_counter()))
        await self._socket.send('{"type": "hang_up"}')

    def _done(self) -> bool:
        quiet_s = time.perf_counter() - max(self._busy_until, self._sounded_at)
        states = [m["state"] for m in self.heard.events if m["type"] == "state"]
        answered = states[-1:] == ["listening"] and len(self.heard.of("reply_ended")) > 0
        return self._recorded.exhausted and answered and quiet_s > STAYS_S

    async def _listen(self) -> None:
        while True:
            message = await self._socket.recv()
            if isinstance(message, bytes):
                await self._hear(decode(message, "s16"))
                continue
            told = json.loads(message)
            self.heard.events.append(told)
            self._busy_until = time.perf_counter()
            if told.get("kind") == "reply_ended":
                self._recorded.agent_finished(self._spoken_s)

    async def _hear(self, samples: Samples) -> None:
        now = time.perf_counter()
        self.heard.sound.append(samples)
        self._samples += len(samples)
        if np.any(samples):
            if now - self._sounded_at > NEW_S:
                self._recorded.agent_started(self._spoken_s)
                if self._voiced_at is not None:
                    self.heard.heard_s.append(now - self._voiced_at)
                    self._voiced_at = None
            self._sounded_at = now
        if self._samples % 3200 == 0:
            await self._socket.send(json.dumps({"type": "played", "samples": self._samples}))


async def call(url: str, clips: Sequence[Clip]) -> Heard:
    """Plays the clips to the service at `url` (http://…) and returns when the call has ended or was refused."""
    asked = time.perf_counter()
    address = url.replace("http://", "ws://") + "/call"
    protocol: Any = "voice-agent.v1"
    try:
        async with connect(address, subprotocols=[protocol], compression=None, proxy=None) as socket:
            caller = _Caller(socket, clips)
            await caller.run()
            return caller.heard
    except InvalidStatus as e:
        return Heard(refused_s=time.perf_counter() - asked, status=e.response.status_code)
