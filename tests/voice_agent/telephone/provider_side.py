"""The other end of a media stream, as a telephone provider: it plays what it gets in real time and returns marks."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from audio.pcm import decode, encode
from audio.types import Samples
from voice_agent.telephone.news import RATE_HZ

PACKET = 160
PLAY_S = 0.01
LATER_S = 0.1  # the network, both ways


@dataclass
class Provider:
    """One stream. `line` is what the caller's ear got, a sample for every moment; `got` the messages by event."""

    socket: ClientConnection
    got: list[str] = field(default_factory=list)
    line: list[bytes] = field(default_factory=list)
    reason: str = ""
    _buffer: deque[bytes | str] = field(default_factory=deque)

    async def tell(self, event: str, **parts: object) -> None:
        await self.socket.send(json.dumps({"event": event, "streamSid": "MZ1", **parts}))

    async def begin(self, parameters: Mapping[str, str] | None = None) -> None:
        form = {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1}
        start = {
            "streamSid": "MZ1",
            "callSid": "CA1",
            "mediaFormat": form,
            "customParameters": parameters or {},
        }
        await self.tell("connected", protocol="Call", version="1.0.0")
        await self.tell("start", start=start)

    async def say(self, sound: Samples) -> None:
        """At the pace of speech, until it is said or the socket is closed."""
        loop = asyncio.get_running_loop()
        due_s = loop.time()
        try:
            for at in range(0, len(sound), PACKET):
                payload = b64encode(encode(sound[at : at + PACKET], "mulaw")).decode()
                await self.tell("media", media={"track": "inbound", "payload": payload})
                due_s += PACKET / RATE_HZ
                await asyncio.sleep(max(0.0, due_s - loop.time()))
        except ConnectionClosed:
            return

    async def wait(self, most_s: float = 20.0) -> tuple[int, str]:
        """Silence until the service closes: the close's code and reason."""
        async with asyncio.timeout(most_s):
            while self.socket.close_code is None:
                await self.say(np.zeros(PACKET, dtype=np.float32))
        return self.socket.close_code, self.socket.close_reason or ""

    @property
    def heard(self) -> Samples:
        return decode(b"".join(self.line), "mulaw")

    async def listen(self) -> None:
        async for message in self.socket:
            self._take(json.loads(message))

    def _take(self, message: dict[str, Any]) -> None:
        self.got.append(message["event"])
        match message["event"]:
            case "media":
                self._buffer.append(b64decode(message["media"]["payload"]))
            case "mark":
                self._buffer.append(message["mark"]["name"])
            case "clear":
                marks = [item for item in self._buffer if isinstance(item, str)]
                self._buffer = deque(marks)
            case "stop":
                self.reason = message["stop"]["reason"]

    async def play(self) -> None:
        """20 ms by 20 ms, silence when there is nothing."""
        loop = asyncio.get_running_loop()
        due_s = loop.time()
        while True:
            while self._buffer and isinstance(self._buffer[0], str):
                name = self._buffer.popleft()
                await asyncio.sleep(0)
                await self._return(str(name))
            item = self._buffer.popleft() if self._buffer else b"\xff" * PACKET
            assert isinstance(item, bytes)
            self.line.append(item)
            due_s += PACKET / RATE_HZ
            await asyncio.sleep(max(0.0, due_s - loop.time()))

    async def _return(self, name: str) -> None:
        try:
            await self.tell("mark", mark={"name": name})
        except ConnectionClosed:
            return


@asynccontextmanager
async def provider(port: int, path: str = "/media", **options: Any) -> AsyncIterator[Provider]:
    """A connection that listens and plays until the block ends."""
    async with connect(f"ws://127.0.0.1:{port}{path}", compression=None, proxy=None, **options) as socket:
        side = Provider(socket)
        tasks = [asyncio.create_task(side.listen()), asyncio.create_task(side.play())]
        try:
            yield side
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            for task in tasks:
                if not task.cancelled() and isinstance(task.exception(), AssertionError):
                    raise AssertionError from task.exception()
