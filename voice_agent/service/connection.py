"""One WebSocket of a call: what comes is given to the call, what the call has to say is sent, until either is gone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Final

from starlette.websockets import WebSocket, WebSocketDisconnect

from voice_agent.service.call_shapes import First, read_first
from voice_agent.service.problem import Problem
from voice_agent.service.socket_call import SocketCall

FIRST_S = 5.0
"""In which the first message must be here."""

LEFT: Final = (1000, 1001, 1002, 1007, 1009)
"""Codes of connections that need not be waited for: the caller means to go, or the page does not speak the protocol."""

CLOSES: Final[Mapping[str, int]] = {
    "too-large": 1009,
    "internal": 1011,
    "unavailable": 1011,
    "slow-reader": 1013,
}
"""Problem -> the code of the close after it; any other is 1008."""


class Connection:
    """An accepted WebSocket. `fault` is why this one is closed while its call goes on."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._gone = False
        self.fault: Problem | None = None

    async def first(self) -> First:
        """The first message. Raises Problem, also when the page has gone."""
        try:
            async with asyncio.timeout(FIRST_S):
                message = await self._socket.receive()
        except TimeoutError as e:
            raise Problem("no-start", f"send the first message within {FIRST_S:g} s") from e
        if message["type"] == "websocket.disconnect":
            raise Problem("no-start", "the page has gone")
        if message.get("text") is None:
            raise Problem("bad-message", "the first message is text: start, or resume; see docs/call.md")
        return read_first(message["text"])

    async def take_over(self, call: SocketCall, received: int) -> None:
        """The call goes on over this connection, from the message after those received. Raises Problem."""
        resumed = call.resumed(received)
        await self._send(resumed.model_dump_json())

    async def serve(self, call: SocketCall) -> None:
        """Until the call is over, this connection is closed, or its page is gone."""
        call.line.attach()
        call.over_to(self.close)
        why = "closed"
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._speak(call), name="speaking to the page")
                why = await self._listen(call)
                self._gone = True
                call.outbox.wake()
        finally:
            call.line.detach(why)

    def close(self, problem: Problem) -> None:
        """Closes this connection only, as soon as the call's outbox wakes it."""
        self.fault = self.fault or problem

    async def refuse(self, problem: Problem) -> None:
        """Tells why, and closes."""
        try:
            await self._socket.send_text(error(problem))
            await self._socket.close(CLOSES.get(problem.kind, 1008))
        except WebSocketDisconnect:
            self._gone = True

    async def _listen(self, call: SocketCall) -> str:
        """Why no more will come."""
        while (message := await self._socket.receive())["type"] != "websocket.disconnect":
            if self.fault or call.fault:
                continue
            try:
                self._hear(call, message)
            except Problem as problem:
                call.fail(problem)
        if message["code"] in LEFT and not self.fault:
            call.line.hang_up()
        return f"close {message['code']}"

    def _hear(self, call: SocketCall, message: Mapping[str, Any]) -> None:
        if (data := message.get("bytes")) is not None:
            call.sound(data)
        else:
            call.told(message["text"])

    async def _speak(self, call: SocketCall) -> None:
        def enough() -> bool:
            nothing_left = call.over and call.outbox.waiting == 0
            return self._gone or bool(self.fault or call.fault) or nothing_left

        try:
            while (message := await call.outbox.next(enough)) is not None:
                await self._send(message)
        except WebSocketDisconnect:
            return
        if fault := self.fault or call.fault:
            await self.refuse(fault)
        elif not self._gone:
            await self._close_in_order()

    async def _send(self, message: str | bytes) -> None:
        if isinstance(message, bytes):
            await self._socket.send_bytes(message)
        else:
            await self._socket.send_text(message)

    async def _close_in_order(self) -> None:
        try:
            await self._socket.close(1000)
        except WebSocketDisconnect:
            self._gone = True


def error(problem: Problem) -> str:
    """The last message before a close: the kind, and what an HTTP response would have told."""
    told = {"type": "error", "kind": problem.kind, "title": problem.title, "detail": problem.detail}
    return json.dumps(told, ensure_ascii=False)
