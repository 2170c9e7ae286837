"""Asterisk's door: a TCP server for AudioSocket, on this machine only unless peers are named.

AudioSocket knows no keys and no encryption: who may call is decided by where the connection comes from.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from ipaddress import ip_address

import anyio
from anyio.abc import SocketAttribute, SocketListener, SocketStream

from voice_agent.config import Service
from voice_agent.errors import ConfigError
from voice_agent.service.guard import is_loopback
from voice_agent.service.hosting import Host
from voice_agent.service.problem import Problem
from voice_agent.telephone.attending import (
    Attendance,
    LineLostError,
    Opening,
    attend,
    opening,
    send,
)
from voice_agent.telephone.audiosocket import AudioSocketReader
from voice_agent.telephone.news import Broken, News
from voice_agent.telephone.voices import AudioSocketVoice, Item

MAX_CONNECTIONS = 32
"""At once, calls and those that have not begun one. Beyond it a connection is closed unread."""

READ_BYTES = 4096

DOOR = "phone"

Say = Callable[[str], None]
"""Takes one line for the operator."""


def bound(settings: Service) -> socket.socket | None:
    """Holds the address while the models load; None when the door is not wanted.

    Raises ConfigError: in use, or open to others without peers.
    """
    host, port = settings.audiosocket_host, settings.audiosocket_port
    if port is None:
        return None
    if not is_loopback(host) and not settings.audiosocket_peers:
        raise ConfigError(
            f"service.audiosocket_host: {host} is open to others and AudioSocket has no keys; "
            "name the exchange's address in service.audiosocket_peers"
        )
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(MAX_CONNECTIONS)
        listening.setblocking(False)
    except OSError as e:
        listening.close()
        raise ConfigError(
            f"service.audiosocket_port: {host}:{port} cannot be served ({e.strerror}); choose another"
        ) from e
    return listening


@asynccontextmanager
async def answering(listening: socket.socket | None, host: Host, say: Say) -> AsyncIterator[None]:
    """The door stands open within the block, if there is one; at its end every connection still there is closed."""
    async with anyio.create_task_group() as tasks:
        if listening is not None:
            tasks.start_soon(_Door(host, say).serve, listening, name="audiosocket")
        yield
        tasks.cancel_scope.cancel()


class _Door:
    """One a process. Cancelling `serve` closes every connection."""

    def __init__(self, host: Host, say: Say) -> None:
        self._host = host
        self._settings = host.settings
        self._say = say
        self._peers = host.settings.audiosocket_peers
        self._calls: set[str] = set()
        self._connections = 0

    async def serve(self, listening: socket.socket) -> None:
        """Answers until it is cancelled."""
        async with await SocketListener.from_socket(listening) as listener:
            await listener.serve(self._answer)

    async def _answer(self, stream: SocketStream) -> None:
        """One connection, whose faults are its own: the door's boundary."""
        self._connections += 1
        try:
            async with stream:
                if self._connections <= MAX_CONNECTIONS and self._welcome(stream):
                    await self._hold(AudioSocketConnection(stream))
        except Exception as e:  # noqa: BLE001 - the door's boundary: one connection never ends the others
            self._say(f"AudioSocket：一通电话因故障中断：{type(e).__name__}: {e}")
        finally:
            self._connections -= 1

    def _welcome(self, stream: SocketStream) -> bool:
        """Whether calls may come from there."""
        if not self._peers:
            return True
        address = ip_address(stream.extra(SocketAttribute.remote_address)[0])
        return any(address in peer for peer in self._peers)

    async def _hold(self, connection: AudioSocketConnection) -> None:
        voice = AudioSocketVoice()
        opened = await opening(connection)
        if isinstance(opened, Broken):
            self._say(f"AudioSocket：一个连接没有成为通话：{opened.why}")
            return
        name = opened.began.call
        if name in self._calls:
            self._say(f"AudioSocket：UUID {name} 正在通话中，第二个连接被拒绝")
            return
        self._calls.add(name)
        try:
            reason = await self._attend(connection, opened, voice)
        finally:
            self._calls.remove(name)
        with suppress(LineLostError):
            for item in voice.ending(reason):
                await send(connection, item)

    async def _attend(
        self, connection: AudioSocketConnection, opened: Opening, voice: AudioSocketVoice
    ) -> str:
        settings = self._settings
        attendance = Attendance(
            self._host,
            DOOR,
            f"audiosocket:{opened.began.call}",
            settings.phone_record,
            settings.phone_person_key,
        )
        try:
            return await attend(connection, opened, voice, attendance)
        except Problem:
            return "busy"


class AudioSocketConnection:
    """A TCP connection as news."""

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream
        self._reader = AudioSocketReader()

    async def receive(self) -> Sequence[News]:
        """Raises LineLostError."""
        try:
            return self._reader.push(await self._stream.receive(READ_BYTES))
        except anyio.EndOfStream:
            return self._reader.finish()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as e:
            raise LineLostError("the connection broke") from e

    async def send(self, item: Item) -> None:
        """Raises LineLostError."""
        assert isinstance(item, bytes)
        try:
            await self._stream.send(item)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as e:
            raise LineLostError("the connection broke") from e
