"""WebSocket /media: calls over a telephone provider's media stream; docs/telephone.md tells what goes over it.

The key comes in a header or, since most providers send none, as a parameter of the start message; never in the URL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

from fastapi import APIRouter, WebSocket
from starlette.websockets import WebSocketDisconnect

from voice_agent.config import Service
from voice_agent.service.keys import Client
from voice_agent.service.parts import parts_of
from voice_agent.service.problem import Problem
from voice_agent.telephone.attending import Attendance, LineLostError, Opening, attend, opening, send
from voice_agent.telephone.line import silence
from voice_agent.telephone.media_stream import MediaStreamReader
from voice_agent.telephone.news import Began, Broken, Ended, News
from voice_agent.telephone.voices import Item, MediaStreamVoice

router = APIRouter()

PATH: Final = "/media"
DOOR: Final = "phone"

IN_ORDER, REFUSED, FAULT, BUSY = 1000, 1008, 1011, 1013
"""Codes of a close: the call has ended, something was wrong with what was sent, or with us, or every place is taken."""

LEFT_IN_ORDER: Final = (1000, 1001)

MAX_REASON_BYTES: Final = 123
"""Of a close frame, by the WebSocket standard."""

Enter = Callable[[str | None], Client]
"""The guard's: an Authorization header -> whose it is. Raises Problem."""


@router.websocket(PATH)
async def media(socket: WebSocket) -> None:
    """One call. Whoever has no key, begins no call or breaks the protocol is told why by the close."""
    await socket.accept()
    connection = MediaConnection(socket)
    opened = await opening(connection)
    if isinstance(opened, Broken):
        await connection.close(REFUSED, opened.why)
        return
    settings = parts_of(socket).host.settings
    try:
        client = socket.state.client or let_in(opened.began, settings, socket.state.enter)
    except Problem as problem:
        await connection.close(REFUSED, problem.detail)
        return
    await _hold(connection, opened, _attendance(socket, client, opened.began))


def let_in(began: Began, settings: Service, enter: Enter) -> Client:
    """Whose key the start message holds. Raises Problem."""
    secret = began.parameters.get(settings.phone_secret_name)
    return enter(f"Bearer {secret}" if secret and secret.isascii() else None)


def _attendance(socket: WebSocket, client: Client, began: Began) -> Attendance:
    host = parts_of(socket).host
    settings = host.settings
    return Attendance(
        host, DOOR, f"{client.name}:{began.call}", settings.phone_record, settings.phone_person_key
    )


async def _hold(connection: MediaConnection, opened: Opening, attendance: Attendance) -> None:
    began = opened.began
    voice = MediaStreamVoice(began.stream, silence(began.encoding))
    try:
        reason = await attend(connection, opened, voice, attendance)
    except Problem:
        reason = "busy"
    with suppress(LineLostError):
        for item in voice.ending(reason):
            await send(connection, item)
    code = {"busy": BUSY, "fault": FAULT}.get(reason, REFUSED if connection.why else IN_ORDER)
    await connection.close(code, connection.why or reason)


class MediaConnection:
    """An accepted WebSocket as news. `why` is what was wrong with what came, if anything was."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._reader = MediaStreamReader()
        self._gone = False
        self.why = ""

    async def receive(self) -> Sequence[News]:
        """Raises LineLostError."""
        message: Any = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            self._gone = True
            if message["code"] in LEFT_IN_ORDER:
                return (Ended(),)
            raise LineLostError(f"the connection broke (close code {message['code']})")
        text = message.get("text")
        news = (
            Broken("a binary message: media streams are JSON text")
            if text is None
            else self._reader.read(text)
        )
        if isinstance(news, Broken):
            self.why = news.why
        return () if news is None else (news,)

    async def send(self, item: Item) -> None:
        """Raises LineLostError."""
        assert isinstance(item, str)
        try:
            await self._socket.send_text(item)
        except (WebSocketDisconnect, RuntimeError) as e:
            raise LineLostError("the connection broke") from e

    async def close(self, code: int, reason: str) -> None:
        """Unless the other side has closed it."""
        if not self._gone:
            short = reason.encode()[:MAX_REASON_BYTES].decode("utf-8", "ignore")
            with suppress(WebSocketDisconnect, RuntimeError):
                await self._socket.close(code, short)
