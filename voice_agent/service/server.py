"""The running process: uvicorn over the application, with its signals.

SIGTERM and SIGINT: readiness goes first, calls are handed over to people, then no more connections, then the requests
in hand finish. A second one ends at once. SIGHUP: the knowledge base is taken anew.
"""

from __future__ import annotations

import asyncio
import math
import signal
import socket
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, ExitStack
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from voice_agent.config import Config, Service
from voice_agent.errors import ConfigError
from voice_agent.record.telemetry import Outlets, Telemetry, open_telemetry
from voice_agent.service.app import create_app
from voice_agent.service.desk import Desk
from voice_agent.service.guard import is_loopback
from voice_agent.service.hosting import Host
from voice_agent.service.keys import ENVIRONMENT, KeyRing
from voice_agent.service.measured import exposition
from voice_agent.service.parts import Parts
from voice_agent.service.rates import Rate
from voice_agent.service.readiness import Watch
from voice_agent.service.shelf import Opening, Reloaded, Shelf
from voice_agent.service.switchboard import Switchboard
from voice_agent.service.wire import PatientProtocol, PatientSocket
from voice_agent.telephone import asterisk

CONNECTIONS = 200
"""At once; beyond it uvicorn answers 503 itself."""

IDLE_S = 5
"""A connection that asks nothing more is closed."""

MESSAGE_BYTES = 100_000
"""The largest of a call: a second of sound at 48 kHz and a little."""

PING_S, PONG_S = 5.0, 10.0
"""A page that is gone without a word is known after so long at most."""

LAST_S = 0.5
"""For calls that were cut, to tell their pages."""

LOOK_S = 0.1
"""Between two looks at whether the last call has ended."""

Say = Callable[[str], None]
"""Takes one line for the operator."""


def check_exposed(config: Config, ring: KeyRing) -> None:
    """Raises ConfigError when others than this machine could ask without a key."""
    if not is_loopback(config.service.host) and not len(ring):
        raise ConfigError(
            f"service.host: {config.service.host} is open to others and there is no API key; make one with "
            f"voice-agent serve --new-key ask and set {ENVIRONMENT} or service.keys_file"
        )


def serve(config: Config, ring: KeyRing, opening: Opening, say: Say) -> None:
    """Serves until it is told to end. Raises RetrievalError, AgentError; ConfigError also for an address in use.

    What is wrong with the settings is told before anything is loaded.
    """
    check_exposed(config, ring)
    rate = Rate(config.service.rate)
    with ExitStack() as stack:
        bound = stack.enter_context(_bound(config.service.host, config.service.port))
        exchange = asterisk.bound(config.service)
        if exchange is not None:
            stack.enter_context(exchange)
            say(f"AudioSocket 在 {config.service.audiosocket_host}:{config.service.audiosocket_port}")
        say(f"正在加载知识库，随后在 http://{config.service.host}:{config.service.port} 提供服务")
        parts = _parts(config, opening, stack)
        server = listening(create_app(parts, ring, rate, config.service), parts, config.service)
        door = asterisk.answering(exchange, parts.host, say)
        asyncio.run(_run(server, bound, parts.desk, door, say))


def _bound(host: str, port: int) -> socket.socket:
    """Holds the address while the models load; it is not listened at before they are warm."""
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except OSError as e:
        bound.close()
        raise ConfigError(
            f"service.port: {host}:{port} cannot be served ({e.strerror}); choose another"
        ) from e
    return bound


def listening(app: ASGIApp, parts: Parts, settings: Service) -> DrainingServer:
    """The server of an application, not yet started."""
    given = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=PatientProtocol,
        ws=PatientSocket,
        ws_max_size=MESSAGE_BYTES,
        ws_per_message_deflate=False,
        ws_ping_interval=PING_S,
        ws_ping_timeout=PONG_S,
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=IDLE_S,
        timeout_graceful_shutdown=math.ceil(settings.deadline_s) + 1,
    )
    return DrainingServer(given, parts, settings)


def _parts(config: Config, opening: Opening, stack: ExitStack) -> Parts:
    shelf = stack.enter_context(Shelf(opening))
    metrics = exposition()
    outlets = Outlets(config.telemetry.spans, config.paths.logs / "spans.jsonl")
    tracer = stack.enter_context(open_telemetry(outlets)).tracer
    telemetry = Telemetry(metrics.metrics if metrics else None, tracer)
    desk = Desk(shelf, config, telemetry)
    host = Host(shelf, config, telemetry, metrics.refused if metrics else lambda reason: None)
    watch = Watch(shelf, config)
    stack.callback(watch.close)
    return Parts(shelf, desk, host, watch, Switchboard(), metrics)


class DrainingServer(uvicorn.Server):
    """Tells that it is going before it goes."""

    def __init__(self, given: uvicorn.Config, parts: Parts, settings: Service) -> None:
        super().__init__(given)
        self._watch = parts.watch
        self._host = parts.host
        self._drain_s = settings.drain_s
        self._farewell_s = settings.farewell_s
        self._loop: asyncio.AbstractEventLoop | None = None

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().serve(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Called by the signals. The default would die of the signal after a clean end; this ends with 0."""
        if self._watch.draining or self._loop is None:
            self.should_exit = self.force_exit = True
            return
        self._watch.draining = True
        self._loop.call_soon_threadsafe(self._drain, self._loop)

    def _drain(self, loop: asyncio.AbstractEventLoop) -> None:
        """Calls are handed over while requests still come; the port is closed when both have had their time."""
        self._host.drain()
        loop.call_later(self._drain_s, self._close, loop, loop.time() + self._farewell_s)

    def _close(self, loop: asyncio.AbstractEventLoop, until_s: float) -> None:
        if self._host.taken and loop.time() < until_s:
            loop.call_later(LOOK_S, self._close, loop, until_s)
            return
        self._host.hang_up()
        loop.call_later(LAST_S if self._host.taken else 0.0, self._end)

    def _end(self) -> None:
        self.should_exit = True


async def _run(
    server: DrainingServer,
    bound: socket.socket,
    desk: Desk,
    door: AbstractAsyncContextManager[None],
    say: Say,
) -> None:
    """`door` stands open while the server does."""
    wanted = asyncio.Event()
    if hasattr(signal, "SIGHUP"):
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, wanted.set)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_reload_when(wanted, server, desk, say), name="reloading")
        async with door:
            await server.serve([bound])
        wanted.set()


async def _reload_when(wanted: asyncio.Event, server: uvicorn.Server, desk: Desk, say: Say) -> None:
    while await wanted.wait():
        wanted.clear()
        if server.should_exit:
            return
        say(_told(await desk.reload()))


def _told(reloaded: Reloaded) -> str:
    if reloaded.why:
        return f"知识库未更换，仍用 {reloaded.kb_version}：{reloaded.why}"
    return f"已换用知识库 {reloaded.kb_version}"
