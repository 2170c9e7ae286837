"""HTTP and WebSockets on the wire, as uvicorn speaks them, without its endless patience: for a request that never
becomes one, and for a page that takes nothing any more.
"""

from __future__ import annotations

import asyncio
import socket
from asyncio.transports import BaseTransport
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol


class PatientProtocol(H11Protocol):
    """A connection whose next request has not all its headers in time is closed: a trickle holds no place for long."""

    HEADERS_S: ClassVar[float] = 10.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._expect()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._expect()

    def _expect(self) -> None:
        self.loop.call_later(self.HEADERS_S, self._give_up, self.cycle)

    def _give_up(self, before: RequestResponseCycle | None) -> None:
        """Closes, if no request has come since and none is on its way in whole."""
        if self.cycle is before and self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()


class PatientSocket(WebSocketsSansIOProtocol):
    """A connection that takes nothing for a while is cut. Little is kept for it meanwhile, here and in the system."""

    STALLED_S: ClassVar[float] = 5.0
    KEPT_BYTES: ClassVar[int] = 64 * 1024
    # Two seconds of speech.
    CLOSED_S: ClassVar[float] = 2.0
    # For the page's half of a close.

    _stalls = 0

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        self.close_timeout = self.CLOSED_S
        wire = transport.get_extra_info("socket")
        if wire is not None:
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self.KEPT_BYTES)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalls += 1
        self.loop.call_later(self.STALLED_S, self._give_up, self._stalls)

    async def send(self, message: Any) -> None:
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body"):
            self.handshake_complete = True  # by a refusal; uvicorn would write an error to its log

    def _give_up(self, stall: int) -> None:
        """Cuts, if this stall has not ended since."""
        if self._stalls == stall and not self.writable.is_set():
            self.transport.abort()
