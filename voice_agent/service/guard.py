"""What every request passes before anything reads it: where it comes from, whose key it carries, how large it is.

A body is taken in whole, within its limits of size and time, so that nothing behind this waits for a slow sender.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from voice_agent.service.keys import PREFIX, Client, KeyRing
from voice_agent.service.presence import ClientGoneError
from voice_agent.service.problem import Problem
from voice_agent.service.rates import Rate

OPEN_PATHS: Final = frozenset({"/", "/health", "/ready", "/openapi.json"})
"""Without a key: they tell nothing of a caller, and load balancers have none."""

LATER_PATHS: Final = frozenset({"/media"})
"""WebSockets whose key may come in their first message: the route then calls `enter` itself."""

PAGE_FILES: Final = "/web/"
"""Begins the paths of the page's own files: as open as the page, which is where a key is typed."""

OFFERED: Final = "bearer."
"""Before a key that is offered as a subprotocol."""

_KEY_NAMES: Final = frozenset(
    {"key", "apikey", "api_key", "api-key", "x-api-key", "token", "access_token", "auth", "authorization"}
)
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "[::1]"})
_HEADERS: Final[Mapping[str, str]] = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(frozen=True, slots=True)
class Bounds:
    """The largest body, in bytes, and the seconds in which it must be here."""

    body_bytes: int
    body_s: float


class Guard:
    """The outermost layer of the application. `loopback`: the service is known by the names of this machine only."""

    def __init__(self, app: ASGIApp, ring: KeyRing, rate: Rate, bounds: Bounds, *, loopback: bool) -> None:
        self._app = app
        self._ring = ring
        self._rate = rate
        self._bounds = bounds
        self._loopback = loopback

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        safely = _with_headers(send)
        try:
            self._admit(scope, Headers(scope=scope))
            if scope["type"] == "websocket":
                await self._app(scope, receive, safely)
                return
            body = await self._body(Headers(scope=scope), receive)
        except Problem as problem:
            await problem.response({"Connection": "close"})(scope, receive, safely)
        except ClientGoneError:
            return
        else:
            await self._app(scope, _replayed(body, receive), safely)

    def _admit(self, scope: Scope, headers: Headers) -> None:
        """Raises Problem. What the client is is left in the scope, for the routes."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if any(name.lower() in _KEY_NAMES or PREFIX in value for name, value in query):
            raise Problem("key-in-url", "URLs end up in logs; send the key in the Authorization header only")
        self._check_origin(headers, linked=_is_link(scope, headers))
        if scope["path"] in OPEN_PATHS or scope["path"].startswith(PAGE_FILES):
            return
        authorization = headers.get("authorization") or _offered_key(scope)
        later = authorization is None and scope["type"] == "websocket" and scope["path"] in LATER_PATHS
        client = None if later else self._enter(authorization)
        scope.setdefault("state", {}).update(client=client, enter=self._enter)

    def _enter(self, authorization: str | None) -> Client:
        """Whose key this is, its use counted. Raises Problem."""
        client = self._ring.who(authorization)
        self._rate.count(client.name)
        return client

    def _check_origin(self, headers: Headers, *, linked: bool) -> None:
        """A web page of elsewhere may neither ask in its visitor's name nor reach us by a name of its own."""
        host = headers.get("host", "")
        if self._loopback and _name(host) not in _LOOPBACK:
            raise Problem("unknown-host", "address the service as localhost or 127.0.0.1")
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            raise Problem(
                "foreign-origin", "CORS is closed: ask from the service's own pages or without Origin"
            )
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not linked:
            raise Problem("foreign-origin", "CORS is closed: ask from the service's own pages")

    async def _body(self, headers: Headers, receive: Receive) -> bytes:
        most = self._bounds.body_bytes
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length) > most:
            raise Problem("too-large", f"at most {most} bytes")
        whole = bytearray()
        try:
            async with asyncio.timeout(self._bounds.body_s):
                more = True
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ClientGoneError
                    whole += message.get("body", b"")
                    more = message.get("more_body", False)
                    if len(whole) > most:
                        raise Problem("too-large", f"at most {most} bytes")
        except TimeoutError as e:
            raise Problem("too-slow", f"the body must be here within {self._bounds.body_s:g} s") from e
        return bytes(whole)


def _is_link(scope: Scope, headers: Headers) -> bool:
    """Whether a link elsewhere was followed to the page, which opens it by itself and lets nobody read it."""
    if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] != "/":
        return False
    return headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"


def is_loopback(host: str) -> bool:
    """Whether a service at this address can be reached from its own machine only."""
    return host in ("localhost", "::1") or host.startswith("127.")


def _offered_key(scope: Scope) -> str | None:
    """Of a WebSocket: a page cannot set its headers, but it can offer a subprotocol."""
    keys = [name.removeprefix(OFFERED) for name in scope.get("subprotocols", ()) if name.startswith(OFFERED)]
    return f"Bearer {keys[0]}" if keys else None


def _name(host: str) -> str:
    """The Host header without the port."""
    return host.rpartition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0].lower()


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Gives the body once; after that only the client's going can come."""
    given = False

    async def next_message() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return next_message


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sent
