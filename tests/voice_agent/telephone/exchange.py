"""An agent of scripted parts behind real sockets, and the telephone exchanges that call it at the pace of speech."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from audio.pcm import decode, encode, resample
from audio.segments import SegmentRules
from audio.types import CALL_RATE_HZ, Samples
from tests.fakes import (
    RULES,
    LevelDetector,
    Scripted,
    ScriptedAnswers,
    ScriptedRecognizer,
    ScriptedSynthesizer,
    voice,
)
from tests.voice_agent.serving import knowledge, settings
from voice_agent import phrases
from voice_agent.build import greeting_of
from voice_agent.call.parts import Parts, Workers
from voice_agent.call.threads import Worker
from voice_agent.config import Config
from voice_agent.record.telemetry import OFF
from voice_agent.service.hosting import Host
from voice_agent.service.shelf import Shelf, Stock
from voice_agent.telephone.asterisk import answering, bound
from voice_agent.telephone.audiosocket import Kind, frame
from voice_agent.telephone.news import RATE_HZ

ANSWER = "退款三天之内原路退回到账。"
QUIET = ("duties.greeting=false", "duties.prompt_after_s=null", "service.audiosocket_port=0")
PACKET = 160  # samples


@contextmanager
def scripted_agent(config: Config) -> Iterator[Any]:
    """Line 1 asks about a refund, line 3 for a person; phrases are half a second of level 0.25, sentences of 0.5."""
    workers = Workers(Worker("hearing"), Worker("speaking"), Worker("delivering"))
    said = {*phrases.ALL, config.handoff.callback_phrase, greeting_of(config, recorded=True)}
    parts = Parts(
        ScriptedRecognizer({1: "退款多久到账", 3: "转人工"}),
        ScriptedAnswers({"退款多久到账": Scripted(sentences=((f"{ANSWER}[S1]", None),))}),
        ScriptedSynthesizer(),
        {phrase: np.full(8000, 0.25, dtype=np.float32) for phrase in said},
        workers,
        RULES,
        SegmentRules(),
        0.3,
        LevelDetector,
    )
    knows = knowledge()
    yield AgentLike(config, knows, parts)
    for worker in (workers.hearing, workers.speaking, workers.delivering):
        worker.close()


@dataclass(frozen=True)
class AgentLike:
    """What the host needs of an agent."""

    config: Config
    knowledge: Any
    parts: Parts
    header: dict[str, object] = field(default_factory=lambda: {"models": {}})
    timings_ms: dict[str, float] = field(default_factory=lambda: {"all": 1.0})
    telemetry: Any = OFF

    def of_call(self, _call: str) -> AgentLike:
        return self


@dataclass
class Exchange:
    """A service that takes telephone calls, and what it has told its operator."""

    host: Host
    config: Config
    port: int
    told: list[str]

    def events(self, kind: str = "") -> list[dict[str, Any]]:
        """Of all journals, in order of the calls' names."""
        lines = [
            json.loads(line) for path in self.journals() for line in path.read_text("utf-8").splitlines()
        ]
        return [line for line in lines if not kind or line["type"] == kind]

    def journals(self) -> list[Path]:
        return sorted((self.config.paths.logs / "calls").glob("phone-*.jsonl"))


@asynccontextmanager
async def exchange(tmp_path: Path, *overrides: str) -> AsyncIterator[Exchange]:
    """AudioSocket on a free port. When it ends, no task and no connection is left: that is asserted."""
    config = settings(tmp_path, *QUIET, *overrides)
    with scripted_agent(config) as agent, Shelf(lambda: _stock(agent)) as shelf:
        host = Host(shelf, config, OFF)
        told: list[str] = []
        listening = bound(config.service)
        assert listening is not None
        port = listening.getsockname()[1]
        before = asyncio.all_tasks()
        async with answering(listening, host, told.append):
            yield Exchange(host, config, port, told)
        assert asyncio.all_tasks() == before
        assert host.taken == 0


@contextmanager
def _stock(agent: Any) -> Iterator[Stock]:
    yield Stock(agent.knowledge, agent)


def spoken(line: int, seconds: float = 1.0) -> Samples:
    """A caller's line at the telephone's rate, faded in and out: at a sharp edge every filter overshoots the level."""
    sound = resample(voice(line, seconds), CALL_RATE_HZ, RATE_HZ)
    ramp = np.linspace(0, 1, 80, dtype=np.float32)
    sound[:80] *= ramp
    sound[-80:] *= ramp[::-1]
    return sound


@dataclass
class Asterisk:
    """The other end of AudioSocket: one call, its sound sent at the pace of speech, what comes back kept."""

    port: int
    name: uuid.UUID = field(default_factory=uuid.uuid4)
    heard: bytearray = field(default_factory=bytearray)
    ended: list[tuple[int, bytes]] = field(default_factory=list)

    @asynccontextmanager
    async def calling(self) -> AsyncIterator[Asterisk]:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self.port)
        listening = asyncio.create_task(self._listen())
        try:
            yield self
        finally:
            self._writer.close()
            listening.cancel()
            await asyncio.wait({listening})

    async def begin(self) -> None:
        await self.send(frame(Kind.UUID, self.name.bytes))

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def say(self, sound: Samples) -> None:
        """At the pace of speech, until it is said or we are hung up."""
        due_s = asyncio.get_running_loop().time()
        for at in range(0, len(sound), PACKET):
            if self.ended:
                await asyncio.sleep(0)  # a deadline around whoever repeats this must fire
                return
            await self.send(frame(Kind.SOUND, encode(sound[at : at + PACKET], "s16")))
            due_s += PACKET / RATE_HZ
            await asyncio.sleep(max(0.0, due_s - asyncio.get_running_loop().time()))

    async def wait(self, most_s: float = 20.0) -> tuple[int, bytes]:
        """Silence until we are hung up; the last frame, kind -1 for a mere close."""
        async with asyncio.timeout(most_s):
            while not self.ended:
                await self.say(np.zeros(PACKET, dtype=np.float32))
        return self.ended[0]

    @property
    def sound(self) -> Samples:
        return decode(bytes(self.heard), "s16")

    async def _listen(self) -> None:
        try:
            while True:
                kind, length = (
                    (header := await self._reader.readexactly(3))[0],
                    int.from_bytes(header[1:], "big"),
                )
                payload = await self._reader.readexactly(length)
                if kind == Kind.SOUND:
                    self.heard += payload
                else:
                    self.ended.append((kind, payload))
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            self.ended.append((-1, b""))
