"""Receivers of hand-off packets that behave badly in scripted ways, on this machine's loopback."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Self


@dataclass
class Request:
    """What came in: header names in lower case."""

    line: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """Answers one connection after the other by its script; the last line of the script goes on for ever.

    A number is a status, "stall" never answers, "trickle" sends a byte now and then, "cut" closes without an answer,
    "noise" is no HTTP, "flood" a status line without an end, "redirect" points at the receiver's own /elsewhere.
    """

    script: Sequence[int | str]
    requests: list[Request] = field(default_factory=list)
    connections: int = 0

    def __enter__(self) -> Self:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        with socket.socket() as last:
            last.settimeout(1)
            last.connect_ex(self._listening.getsockname())
        self._thread.join(5)
        self._listening.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}/packets?team=a"

    def _serve(self) -> None:
        while True:
            connection, _ = self._listening.accept()
            with connection:
                if self._over.is_set():
                    return
                how = self.script[min(self.connections, len(self.script) - 1)]
                self.connections += 1
                connection.settimeout(5)
                try:
                    self.requests.append(_read(connection))
                    self._answer(connection, how)
                except OSError:
                    continue

    def _answer(self, connection: socket.socket, how: int | str) -> None:
        elsewhere = self.url.replace("/packets?team=a", "/elsewhere")
        whole = {
            "cut": b"",
            "noise": b"SSH-2.0-OpenSSH\r\n",
            "flood": b"H" * 5000,
            "redirect": f"HTTP/1.1 307 Moved\r\nLocation: {elsewhere}\r\n\r\n".encode(),
        }
        if how == "stall":
            self._over.wait(5)
        elif how == "trickle":
            self._trickle(connection)
        elif isinstance(how, int):
            connection.sendall(f"HTTP/1.1 {how} So\r\nContent-Length: 0\r\n\r\n".encode())
        else:
            connection.sendall(whole[how])

    def _trickle(self, connection: socket.socket) -> None:
        for byte in b"HTTP/1.1 200 OK\r\n":
            connection.sendall(bytes([byte]))
            if self._over.wait(0.1):
                return


def _read(connection: socket.socket) -> Request:
    data = b""
    while b"\r\n\r\n" not in data:
        data += _some(connection)
    head, body = data.split(b"\r\n\r\n", 1)
    line, *rest = head.decode().split("\r\n")
    headers = {name.lower(): value for name, value in (header.split(": ", 1) for header in rest)}
    while len(body) < int(headers.get("content-length", "0")):
        body += _some(connection)
    return Request(line, headers, body)


def _some(connection: socket.socket) -> bytes:
    if not (data := connection.recv(65536)):
        raise ConnectionError("the sender went away")
    return data


@contextmanager
def nobody() -> Iterator[str]:
    """An address where nobody listens: the port is taken, so that nobody else gets it, and connections are refused."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/"
