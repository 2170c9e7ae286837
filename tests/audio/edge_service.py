"""The speech service behind edge-tts on the loopback, misbehaving as told: the same frames over a real WebSocket."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
import pytest
from aiohttp import web
from av import AudioFrame, CodecContext
from av.audio.codeccontext import AudioCodecContext


class Act(Enum):
    END = "turn.end"
    HANG = "hang"
    SLAM = "slam"


END, HANG, SLAM = Act.END, Act.HANG, Act.SLAM

Step = bytes | str | float | Act
"""MP3 to send, a text frame's path, seconds to wait, or an act."""


@dataclass
class Service:
    """What each connection gets, the last script for all further ones; and what was asked of it."""

    scripts: Sequence[Sequence[Step]]
    status: int = 101
    url: str = ""
    connections: int = 0
    asked: list[str] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        script = self.scripts[min(self.connections, len(self.scripts) - 1)] if self.scripts else ()
        self.connections += 1
        if self.status != 101:
            return web.Response(status=self.status)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.receive_str()
        self.asked.append(await socket.receive_str())
        for step in script:
            if not await self._step(socket, request, step):
                break
        return socket

    async def _step(self, socket: web.WebSocketResponse, request: web.Request, step: Step) -> bool:
        match step:
            case bytes():
                await socket.send_bytes(_binary(step))
            case str():
                await socket.send_str(step)
            case float():
                await asyncio.sleep(step)
            case Act.END:
                await socket.send_str("X-RequestId:1\r\nPath:turn.end\r\n\r\n{}")
            case Act.HANG:
                await socket.receive()
            case Act.SLAM:
                if request.transport is not None:
                    request.transport.abort()
                return False
        return True


def _binary(data: bytes) -> bytes:
    head = b"X-RequestId:1\r\nContent-Type:audio/mpeg\r\nPath:audio\r\n"
    return len(head).to_bytes(2, "big") + head + data


def metadata() -> str:
    """A text frame that tells where a sentence lies in the sound."""
    told = {"Offset": 0, "Duration": 1, "text": {"Text": "您好"}}
    body = json.dumps({"Metadata": [{"Type": "SentenceBoundary", "Data": told}]})
    return f"X-RequestId:1\r\nPath:audio.metadata\r\n\r\n{body}"


def mp3(seconds: float, level: float = 0.5, rate_hz: int = 24_000) -> bytes:
    """A tone as the service would send it, with a little silence before and after."""
    codec = CodecContext.create("libmp3lame", "w")
    assert isinstance(codec, AudioCodecContext)
    codec.sample_rate, codec.layout, codec.format, codec.bit_rate = rate_hz, "mono", "fltp", 48_000  # type: ignore[assignment]
    tone = level * np.sin(np.arange(int(seconds * rate_hz)) / 20)
    sound = np.pad(tone, int(0.2 * rate_hz)).astype(np.float32)
    codec.open()
    size = codec.frame_size or 576
    packets = []
    for begin in range(0, len(sound), size):
        frame = AudioFrame.from_ndarray(
            sound[begin : begin + size].reshape(1, -1), format="fltp", layout="mono"
        )
        frame.sample_rate, frame.pts = rate_hz, begin
        packets += codec.encode(frame)
    return b"".join(map(bytes, [*packets, *codec.encode(None)]))


def pieces(data: bytes, size: int = 720) -> list[bytes]:
    """The stream in the service's portions of about 0.1 s."""
    return [data[begin : begin + size] for begin in range(0, len(data), size)]


@contextmanager
def serving(patch: pytest.MonkeyPatch, *scripts: Sequence[Step], status: int = 101) -> Iterator[Service]:
    """A service for the length of a test; edge-tts is pointed at it."""
    service = Service(scripts, status)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> web.AppRunner:
        app = web.Application()
        app.router.add_get("/edge", service.answer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner

    runner = asyncio.run_coroutine_threadsafe(start(), loop).result(10)
    service.url = f"ws://127.0.0.1:{runner.addresses[0][1]}/edge?t=1"
    patch.setattr("edge_tts.communicate.WSS_URL", service.url)
    try:
        yield service
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
