"""WebSocket /call: a call from a web page or a program; docs/call.md tells what goes over it.

The handler of a call's first connection holds the call, also while it waits for another connection to go on with it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import ExitStack

from fastapi import APIRouter, WebSocket

from audio.errors import AudioError
from retrieval.errors import RetrievalError
from voice_agent.errors import AgentError
from voice_agent.service.call_shapes import PROTOCOL, Resume, Start
from voice_agent.service.connection import Connection
from voice_agent.service.hosting import Terms
from voice_agent.service.keys import Client
from voice_agent.service.parts import Parts, parts_of
from voice_agent.service.problem import Problem
from voice_agent.service.socket_call import SocketCall

router = APIRouter()

RESUME = "resume."
"""Before the token, where a call is to be gone on with."""


@router.websocket("/call")
async def call(socket: WebSocket) -> None:
    """A new call, or another connection of one."""
    parts, client = parts_of(socket), socket.state.client
    try:
        token = resumed_token(socket.scope["subprotocols"])
        with ExitStack() as admitted:
            if token is None:
                admitted.enter_context(parts.host.place())
                begun = None
            else:
                begun = parts.board.find(token, client.name)
            await socket.accept(PROTOCOL)
            connection = Connection(socket)
            if begun is None:
                await _begin(connection, parts, client)
            else:
                await _go_on(connection, begun)
    except Problem as problem:
        await socket.send_denial_response(problem.response())


def resumed_token(offered: Sequence[str]) -> str | None:
    """The token among the offered subprotocols. Raises Problem without ours."""
    if PROTOCOL not in offered:
        raise Problem("bad-request", f"offer the subprotocol {PROTOCOL}; see docs/call.md")
    tokens = [name.removeprefix(RESUME) for name in offered if name.startswith(RESUME)]
    return tokens[0] if tokens else None


async def _begin(connection: Connection, parts: Parts, client: Client) -> None:
    try:
        start = await connection.first()
        if not isinstance(start, Start):
            raise Problem("bad-message", "begin with start; to go on with a call, offer its token")
    except Problem as problem:
        await connection.refuse(problem)
        return
    held = SocketCall(start, client.name, parts.host.resume_s, time.monotonic)
    terms = Terms("page", client.name, start.record, "caller")
    unknown: Exception | None = None
    with parts.board.known(held):
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(connection.serve(held), name="first connection")
            try:
                await parts.host.hold(held.line, terms, held)
            except Problem as problem:
                held.fail(problem)
            except (AgentError, AudioError, RetrievalError):
                held.fail(Problem("unavailable", "the call could not be held or recorded"))
            except Exception as e:  # noqa: BLE001 - the door's boundary: told to the page first, raised below
                held.fail(Problem("internal", "the fault was written to the service's own log"))
                unknown = e
            held.end()
    if unknown is not None:
        raise unknown


async def _go_on(connection: Connection, held: SocketCall) -> None:
    try:
        resume = await connection.first()
        if not isinstance(resume, Resume):
            raise Problem("bad-message", "to go on with a call, begin with resume")
        await connection.take_over(held, resume.received)
    except Problem as problem:
        await connection.refuse(problem)
        return
    await connection.serve(held)
