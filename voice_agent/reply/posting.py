"""One POST over HTTP(S), within one deadline: connect, send, read the status line, nothing more.

Redirects are not followed and the answer's body is not read: a status decides, and a receiver that trickles bytes for
ever is cut at the deadline.
"""

from __future__ import annotations

import http.client
import ipaddress
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

MAX_STATUS_LINE = 1024
"""Bytes; a status line is about twenty."""


class PostError(Exception):
    """Nothing came back that could be called an answer: refused, cut, too late, no HTTP."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where to post to. `path` holds the query too."""

    secure: bool
    host: str
    port: int
    path: str


def target_of(url: str) -> Target:
    """The parts of a webhook's address. ValueError, in words for the operator, when it may not be used.

    Over plain HTTP a caller's words would cross the network in the open, so it is for this machine only.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https") or not host:
        raise ValueError("not an http(s) address; write it as https://host/path")
    if parts.username is not None or parts.fragment:
        raise ValueError("no user name and no # in it; the key comes from the environment")
    if parts.scheme == "http" and not _is_loopback(host):
        raise ValueError("http is for this machine only (127.0.0.1); use https")
    return Target(parts.scheme == "https", host, _port(parts), _path(parts))


def post(target: Target, body: bytes, headers: Mapping[str, str], limit_s: float) -> int:
    """The status that came back within `limit_s` seconds of wall time. Raises PostError."""
    deadline = time.monotonic() + limit_s
    connection = _connection(target, limit_s)
    try:
        connection.connect()
        connection.sock.settimeout(_left(deadline))
        with suppress(
            BrokenPipeError, ConnectionResetError
        ):  # too large for it: its answer is there to be read
            connection.request("POST", target.path, body, dict(headers))
        return _status(connection, deadline)
    except (OSError, http.client.HTTPException, ValueError) as e:
        raise PostError(f"{target.host}:{target.port}: {type(e).__name__}: {e}"[:200]) from e
    finally:
        connection.close()


def _connection(target: Target, limit_s: float) -> http.client.HTTPConnection:
    if target.secure:
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(target.host, target.port, timeout=limit_s, context=context)
    return http.client.HTTPConnection(target.host, target.port, timeout=limit_s)


def _status(connection: http.client.HTTPConnection, deadline: float) -> int:
    """Reads the first line itself: the library's reader has a limit a byte, not a limit in all."""
    line = b""
    while b"\n" not in line:
        if len(line) > MAX_STATUS_LINE:
            raise ValueError("a status line without an end")
        connection.sock.settimeout(_left(deadline))
        some = connection.sock.recv(256)
        if not some:
            raise ConnectionError("closed before a status line")
        line += some
    version, _, rest = line.split(b"\n", 1)[0].partition(b" ")
    if not version.startswith(b"HTTP/1."):
        raise ValueError("no HTTP answer")
    return int(rest[:3])


def _left(deadline: float) -> float:
    """Seconds until then. Raises TimeoutError."""
    if (left_s := deadline - time.monotonic()) <= 0:
        raise TimeoutError("no status line in time")
    return left_s


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


def _path(parts: SplitResult) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


Post = Callable[[Target, bytes, Mapping[str, str], float], int]
"""`post`, or what stands in for it."""
