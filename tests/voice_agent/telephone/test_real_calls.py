"""Recorded callers on the telephone: real models, real sockets, 8 kHz, in real time. What comes back is transcribed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest

from audio.halfband import Doubler
from audio.pcm import decode, encode, resample
from audio.types import CALL_RATE_HZ, Samples
from audio.wav import read_wav
from tests.voice_agent.serving import ring, until
from tests.voice_agent.telephone.exchange import Asterisk
from tests.voice_agent.telephone.provider_side import provider
from voice_agent.build import Agent, open_agent
from voice_agent.config import Config, load_config
from voice_agent.record.inspection import read_call
from voice_agent.record.telemetry import OFF
from voice_agent.service.app import create_app
from voice_agent.service.desk import Desk
from voice_agent.service.hosting import Host
from voice_agent.service.parts import Parts
from voice_agent.service.rates import Rate
from voice_agent.service.readiness import Watch
from voice_agent.service.server import listening
from voice_agent.service.shelf import Shelf, Stock
from voice_agent.service.switchboard import Switchboard
from voice_agent.telephone.asterisk import answering, bound
from voice_agent.telephone.news import RATE_HZ

pytestmark = pytest.mark.models

CALLS = Path(__file__).resolve().parents[3] / "data" / "calls"
OVERRIDES = ("duties.greeting=false", "service.audiosocket_port=0", "service.port=0", "service.rate=null")


class Side(Protocol):
    """A telephone side that speaks at the pace of speech."""

    async def say(self, sound: Samples) -> None: ...


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    """The shipped agent, its journals in a folder of the test's."""
    logs = tmp_path_factory.mktemp("telephone")
    config = load_config(None, [f"paths.logs={logs}", *OVERRIDES])
    with open_agent(config, lambda *_: None, OFF) as opened:
        yield opened


@asynccontextmanager
async def service(agent: Agent) -> AsyncIterator[tuple[Host, int, int]]:
    """Both doors open: the host, the port of the WebSocket, the port of AudioSocket."""
    config = agent.config
    with Shelf(lambda: _stock(agent)) as shelf:
        host = Host(shelf, config, OFF)
        parts = Parts(shelf, Desk(shelf, config, OFF), host, Watch(shelf, config), Switchboard())
        app = create_app(parts, ring(keyed=False), Rate(None), config.service)
        server = listening(app, parts, config.service)
        exchange = bound(config.service)
        assert exchange is not None
        running = asyncio.create_task(server.serve())
        await until(lambda: server.started)
        try:
            async with answering(exchange, host, lambda line: None):
                yield host, server.servers[0].sockets[0].getsockname()[1], exchange.getsockname()[1]
        finally:
            server.should_exit = True
            await running
            parts.watch.close()


@contextmanager
def _stock(agent: Agent) -> Iterator[Stock]:
    yield Stock(agent.knowledge, agent)


def recorded(wav: str) -> Samples:
    """A caller of data/calls as the telephone brings it: 8 kHz, µ-law and back."""
    narrow = resample(read_wav(CALLS / wav).samples, CALL_RATE_HZ, RATE_HZ)
    return decode(encode(narrow, "mulaw"), "mulaw")


def newest(config: Config) -> list[dict[str, Any]]:
    """The events of the last call to begin."""
    journals = sorted(
        (config.paths.logs / "calls").glob("phone-*.jsonl"), key=lambda path: path.stat().st_mtime_ns
    )
    return [json.loads(line) for line in journals[-1].read_text("utf-8").splitlines()] if journals else []


def outcomes(config: Config) -> list[str]:
    return [event["outcome"] for event in newest(config) if event["type"] == "reply_ended"]


async def listen(side: Side, config: Config, replies: int) -> None:
    """The caller is silent until so many replies have ended, and a breath longer."""
    async with asyncio.timeout(60):
        while len(outcomes(config)) < replies:
            await side.say(np.zeros(RATE_HZ // 50, dtype=np.float32))
    await side.say(np.zeros(RATE_HZ * 4 // 5, dtype=np.float32))


def words(agent: Agent, heard: Samples) -> str:
    """What our own recogniser hears in what came back."""
    loud = np.flatnonzero(np.abs(heard) > 0.01)
    sound = heard[max(0, loud[0] - 2400) : loud[-1] + 2400]
    wide = Doubler().push(sound)
    return agent.parts.recognizer.transcribe(wide, len(loud) / RATE_HZ).text


@pytest.mark.asyncio
async def test_the_right_answer_is_heard_over_a_media_stream(agent: Agent) -> None:
    """The caller of the telephone recording asks about the return window; the provider's ear hears fifteen days."""
    async with service(agent) as (host, port, _), provider(port) as side:
        await side.begin()
        await side.say(recorded("phone_line.wav"))
        await listen(side, agent.config, 1)
        await side.tell("stop", stop={})
        await until(lambda: host.taken == 0)
    events = newest(agent.config)
    assert outcomes(agent.config) == ["answered"]
    cited = [event["cited"] for event in events if event["type"] == "sentence"][0]
    assert "return-window-2026" in json.dumps(cited)
    heard = words(agent, side.heard)
    assert "15天" in heard or "十五天" in heard, heard


@pytest.mark.slow
@pytest.mark.asyncio
async def test_a_whole_call_over_audiosocket(agent: Agent) -> None:
    """Question, follow-up, asking for a person: both answers are heard, then the socket is hung up for a person."""
    async with service(agent) as (host, _, port), Asterisk(port).calling() as caller:
        await caller.begin()
        await caller.say(recorded("follow_up.wav"))
        await listen(caller, agent.config, 1)
        first = len(caller.sound)
        await caller.say(recorded("follow_up_2.wav"))
        await listen(caller, agent.config, 2)
        second = len(caller.sound)
        await caller.say(recorded("demo_3.wav"))
        assert await caller.wait() == (0, b"")
        await until(lambda: host.taken == 0)
    assert outcomes(agent.config) == ["answered", "answered", "asked"]
    sound = caller.sound
    answers = words(agent, sound[:first]), words(agent, sound[first:second])
    cited = [event["cited"] for event in newest(agent.config) if event["type"] == "sentence"]
    assert "roaming-japan-2026" in json.dumps(cited[0]) and "roaming-usa" in json.dumps(cited[-1])
    assert any(price in answers[0] for price in ("28元", "二十八元")), answers
    assert any(price in answers[1] for price in ("30元", "三十元")), answers
    assert "人工" in words(agent, sound[second:])


@pytest.mark.slow
@pytest.mark.asyncio
async def test_what_is_not_in_the_documents_is_handed_over(agent: Agent) -> None:
    """No answer is spoken; the phrase is heard, the packet lies there, the stream is stopped for a person."""
    async with service(agent) as (host, port, _), provider(port) as side:
        await side.begin()
        await side.say(recorded("refusal.wav"))
        assert await side.wait(60) == (1000, "handed_off")
        await until(lambda: host.taken == 0)
    assert outcomes(agent.config) == ["refused"]
    assert "人工" in words(agent, side.heard)
    (handed,) = [event for event in newest(agent.config) if event["type"] == "handoff"]
    assert (handed["delivery"], "handoff" in handed["packet"]) == ("delivered", True)


@pytest.mark.slow
@pytest.mark.asyncio
async def test_a_caller_cuts_in_over_a_media_stream(agent: Agent) -> None:
    """The second recording begins while the agent speaks: what is out is cleared, the new words are answered."""
    async with service(agent) as (host, port, _), provider(port) as side:
        await side.begin()
        await side.say(recorded("barge_in.wav"))
        async with asyncio.timeout(30):
            while not any(event["type"] == "reply_ended" for event in newest(agent.config)):
                loud = np.abs(side.heard[-RATE_HZ // 2 :]).max(initial=0) > 0.05
                await side.say(recorded("barge_in_2.wav") if loud else np.zeros(800, dtype=np.float32))
                if loud:
                    break
        await listen(side, agent.config, 2)
        await side.tell("stop", stop={})
        await until(lambda: host.taken == 0)
    assert "clear" in side.got
    assert outcomes(agent.config) == ["interrupted", "answered"]


def test_the_journal_of_a_telephone_call_reads_like_any_other(agent: Agent) -> None:
    """inspect finds nothing wrong with what the calls before left."""
    for path in (agent.config.paths.logs / "calls").glob("phone-*.jsonl"):
        assert read_call(path).problems == ()
