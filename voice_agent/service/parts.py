"""What the routes work with, and who may use them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request
from starlette.requests import HTTPConnection

from voice_agent.service.desk import Desk
from voice_agent.service.hosting import Host
from voice_agent.service.keys import LOCAL, Client
from voice_agent.service.measured import Exposition
from voice_agent.service.problem import Problem
from voice_agent.service.readiness import Watch
from voice_agent.service.shelf import Shelf
from voice_agent.service.switchboard import Switchboard


@dataclass(frozen=True, slots=True)
class Parts:
    """One service. `metrics` is None where the library for it is not installed."""

    shelf: Shelf
    desk: Desk
    host: Host
    watch: Watch
    board: Switchboard
    metrics: Exposition | None = None


def parts_of(request: HTTPConnection) -> Parts:
    """The service of the application that the request or WebSocket came to."""
    return cast(Parts, request.app.state.parts)


def client_of(request: Request) -> Client:
    """Whom the guard let in."""
    return cast(Client, request.state.client)


def _reader(client: Annotated[Client, Depends(client_of)]) -> Client:
    if client.role != "admin" and client != LOCAL:
        raise Problem("not-allowed", "calls are read with an admin key")
    return client


def _admin(client: Annotated[Client, Depends(client_of)]) -> Client:
    if client.role != "admin":
        raise Problem("not-allowed", "this needs an admin key")
    return client


InUse = Annotated[Parts, Depends(parts_of)]
Anyone = Annotated[Client, Depends(client_of)]
Reader = Annotated[Client, Depends(_reader)]
Admin = Annotated[Client, Depends(_admin)]
