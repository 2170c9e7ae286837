"""A service on a port of this machine, and the page's side of a call to it."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from websockets.asyncio.client import ClientConnection, connect

from audio.pcm import encode
from audio.segments import SegmentRules
from audio.types import Samples
from tests.fakes import (
    RULES,
    LevelDetector,
    Scripted,
    ScriptedAnswers,
    ScriptedRecognizer,
    ScriptedSynthesizer,
)
from tests.voice_agent.serving import Served, served, until
from voice_agent import phrases
from voice_agent.call.parts import Parts as CallParts
from voice_agent.call.parts import Workers
from voice_agent.call.threads import Worker
from voice_agent.service.server import DrainingServer, listening

V1 = "voice-agent.v1"


@dataclass
class Wired:
    """A service on a port of this machine."""

    service: Served
    server: DrainingServer
    port: int
    running: asyncio.Task[None]

    async def raw(self, sent: bytes) -> bytes:
        """All that comes back until the service closes."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(sent)
        async with asyncio.timeout(20):
            got = await reader.read()
        writer.close()
        await writer.wait_closed()
        return got

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=f"http://127.0.0.1:{self.port}", timeout=20, trust_env=False)


@asynccontextmanager
async def wired(
    tmp_path: Path, *overrides: str, answers: Any = None, keyed: bool = False, speech: CallParts | None = None
) -> AsyncIterator[Wired]:
    """Listening on the loopback interface."""
    given = ("service.port=0", *overrides)
    async with served(tmp_path, *given, answers=answers, keyed=keyed, speech=speech) as service:
        server = listening(service.app, service.parts, service.config.service)
        running = asyncio.create_task(server.serve())
        await until(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        try:
            yield Wired(service, server, port, running)
        finally:
            server.should_exit = True
            await running
    gc.collect()


REFUND = "退款三天之内原路退回到账。[S1]"
LONG = "退款在审核通过之后三天之内按原来的支付方式退回到您的账户请您注意查收。[S1]"

LINES: Mapping[int, str | Exception] = {
    1: "退款多久到账",
    3: "等一下我想问运费",
    5: "月球上怎么退货",
    6: "转人工",
}
ANSWERS = {
    "退款多久到账": Scripted(sentences=((REFUND, None),)),
    "等一下我想问运费": Scripted(sentences=((REFUND, None),)),
}


@contextmanager
def speech(answers: Mapping[str, Scripted] | None = None) -> Iterator[CallParts]:
    """Scripted parts of a call: what level is heard as which words, and how each question goes."""
    workers = Workers(Worker("hearing"), Worker("speaking"), Worker("delivering"))
    sounds = {phrase: np.full(3200, 0.25, dtype=np.float32) for phrase in phrases.ALL}
    yield CallParts(
        ScriptedRecognizer(LINES),
        ScriptedAnswers({**ANSWERS, **(answers or {})}),
        ScriptedSynthesizer(),
        sounds,
        workers,
        RULES,
        SegmentRules(),
        0.3,
        LevelDetector,
    )
    for worker in (workers.hearing, workers.speaking, workers.delivering):
        worker.close()


@dataclass
class Page:
    """One connection's view of a call. `seen` holds every message, `took` only those that count for a resume."""

    socket: ClientConnection
    acks: bool = True
    seen: list[dict[str, Any] | bytes] = field(default_factory=list)
    samples: int = 0

    async def tell(self, **message: object) -> None:
        await self.socket.send(json.dumps(message))

    async def begin(self, **start: object) -> dict[str, Any]:
        await self.tell(**{"type": "start", "codec": "pcm16", "rate": 16000, **start})
        return await self.until(lambda m: m["type"] == "ready")

    async def say(self, *sounds: Samples) -> None:
        """In messages of 200 ms, as fast as they go."""
        whole = np.concatenate(sounds)
        for at in range(0, len(whole), 3200):
            await self.socket.send(encode(whole[at : at + 3200], "s16"))

    async def next(self) -> dict[str, Any] | bytes:
        """The next message; sound counts as played when it comes."""
        async with asyncio.timeout(20):
            message = await self.socket.recv()
        if isinstance(message, bytes):
            self.samples += len(message) // 2
            if self.acks:
                await self.tell(type="played", samples=self.samples)
            self.seen.append(message)
            return message
        self.seen.append(json.loads(message))
        return self.seen[-1]

    async def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next text message that is so."""
        while True:
            message = await self.next()
            if isinstance(message, dict) and wanted(message):
                return message

    async def event(self, kind: str) -> dict[str, Any]:
        """The data of the next event of this kind."""
        told = await self.until(lambda m: m.get("kind") == kind and m["type"] == "event")
        return dict(told["data"])

    async def hears(self) -> None:
        """Until the agent sounds."""
        while True:
            message = await self.next()
            if isinstance(message, bytes) and any(message):
                return

    @property
    def took(self) -> list[dict[str, Any] | bytes]:
        return [m for m in self.seen if isinstance(m, bytes) or m["type"] != "resumed"]


@asynccontextmanager
async def page(there: Wired, *offered: str, **options: Any) -> AsyncIterator[Page]:
    """A connection; what it offers beside the protocol."""
    url = f"ws://127.0.0.1:{there.port}/call"
    protocols: Any = [V1, *offered]
    fixed: Any = {"compression": None, "proxy": None, "close_timeout": 1}
    async with connect(url, subprotocols=protocols, **fixed, **options) as socket:
        yield Page(socket)


def journal(there: Wired) -> list[dict[str, Any]]:
    """The only call's lines."""
    (path,) = there.service.journals()
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def kinds(events: Sequence[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] == kind]
