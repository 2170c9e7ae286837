"""A service over a scripted search, reached without a socket; and gates to hold an answer where a test wants it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from starlette.types import ASGIApp

from retrieval.corpus import Corpus
from retrieval.types import Passage
from tests.voice_agent.answering import FREIGHT, REFUND, answerer, extractive
from voice_agent.build import Agent
from voice_agent.call.parts import Parts as CallParts
from voice_agent.config import Config, load_config
from voice_agent.gating import Gating
from voice_agent.knowledge import Knowledge
from voice_agent.record.telemetry import Telemetry
from voice_agent.reply.answer import Answerer, Asked, Staged, Walk
from voice_agent.reply.generator import Tell, silent
from voice_agent.service.app import create_app
from voice_agent.service.desk import Desk
from voice_agent.service.hosting import Host
from voice_agent.service.keys import KeyRing, Role, hash_of
from voice_agent.service.measured import exposition
from voice_agent.service.parts import Parts
from voice_agent.service.rates import Rate
from voice_agent.service.readiness import Watch
from voice_agent.service.shelf import Shelf, Stock
from voice_agent.service.switchboard import Switchboard

ROOT = Path(__file__).resolve().parents[2]
QUESTION = {"query": "退款多久到账", "as_of": "2026-11-30"}
KEYS: Mapping[str, Role] = {"va_ask_key": "ask", "va_admin_key": "admin"}
ADMIN = {"Authorization": "Bearer va_admin_key"}
ASKER = {"Authorization": "Bearer va_ask_key"}


@dataclass
class Named:
    """Stands where only an id is read."""

    id: str
    scale: str = "unit"


@dataclass
class HeldAnswers:
    """Answers as the one within does, each search held until the test lets it go."""

    within: Answerer
    go: asyncio.Event = field(default_factory=asyncio.Event)
    begun: int = 0
    given_up: int = 0

    def begin(self, asked: Asked, job: Staged, tell: Tell = silent) -> Walk:
        return _HeldWalk(self, self.within.begin(asked, job, tell))

    @property
    def writers(self) -> Any:
        return self.within.writers


class _HeldWalk:
    def __init__(self, held: HeldAnswers, walk: Walk) -> None:
        self._held = held
        self._walk = walk

    async def look(self) -> Any:
        self._held.begun += 1
        try:
            await self._held.go.wait()
        except asyncio.CancelledError:
            self._held.given_up += 1
            raise
        return await self._walk.look()

    async def next_sentence(self) -> Any:
        return await self._walk.next_sentence()

    async def aclose(self) -> None:
        await self._walk.aclose()


def knowledge(
    answers: Any = None, version: str = "v1", passages: tuple[Passage, ...] = (REFUND, FREIGHT)
) -> Knowledge:
    """As open_knowledge would give it, without a model."""
    parts: Any = (None, Named("letters"), Named("flat"))
    gating = Gating({"answer": 0.5}, "shipped", None)
    corpus = Corpus(passages, f"sha-{version}", version)
    return Knowledge(corpus, *parts, answers or answerer(extractive(), passages), gating, {})


@dataclass
class Opened:
    """What there is to open: the next knowledge, or the fault that opening meets. Counts what is open."""

    next: Knowledge | Exception
    open: int = 0
    wait: threading.Event | None = None
    agent: Agent | None = None

    @contextmanager
    def __call__(self) -> Iterator[Stock]:
        if self.wait is not None:
            assert self.wait.wait(20)
        if isinstance(self.next, Exception):
            raise self.next
        self.open += 1
        try:
            yield Stock(self.next, self.agent)
        finally:
            self.open -= 1


@dataclass
class Served:
    """A service and a client of it."""

    app: ASGIApp
    parts: Parts
    client: httpx.AsyncClient
    opened: Opened
    config: Config

    async def ask(self, **changes: object) -> httpx.Response:
        return await self.client.post("/ask", json={**QUESTION, **changes})

    def journals(self) -> list[Path]:
        return sorted(self.parts.desk.calls.glob("*.jsonl"))


def settings(tmp_path: Path, *overrides: str) -> Config:
    """The shipped configuration with its journals in the test's folder."""
    return load_config(ROOT / "config.yaml", [f"paths.logs={tmp_path / 'logs'}", *overrides], {})


def ring(*, keyed: bool) -> KeyRing:
    return KeyRing({hash_of(key): role for key, role in KEYS.items()} if keyed else {})


@asynccontextmanager
async def served(
    tmp_path: Path, *overrides: str, answers: Any = None, keyed: bool = False, speech: CallParts | None = None
) -> AsyncIterator[Served]:
    """Everything but the socket; with `speech`, calls too."""
    config = settings(tmp_path, *overrides)
    opened = Opened(knowledge(answers))
    if speech is not None:
        opened.agent = Agent(config, knowledge(answers), speech, {"all": 1.0})
    with Shelf(opened) as shelf:
        counted = exposition()
        telemetry = Telemetry(counted.metrics if counted else None)
        desk = Desk(shelf, config, telemetry)
        host = Host(shelf, config, telemetry, counted.refused if counted else lambda reason: None)
        watch = Watch(shelf, config)
        parts = Parts(shelf, desk, host, watch, Switchboard(), counted)
        app = create_app(parts, ring(keyed=keyed), Rate(config.service.rate), config.service)
        transport = httpx.ASGITransport(app, raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            yield Served(app, parts, client, opened, config)
        watch.close()


async def until(condition: Any) -> None:
    """Lets the loop run until it is so."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - what is waited for knows of no event
            await asyncio.sleep(0.005)
