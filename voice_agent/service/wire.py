"""HTTP on the wire, as uvicorn speaks it, without its endless patience for a request that never becomes one."""

from __future__ import annotations

import asyncio
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle


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
