"""Milvus Lite as a server of its own, which a test can kill and start again on the same port and folder."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START_S = 180.0


class LiteServer:
    """One process; what it stored outlives it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = int(free.getsockname()[1])
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Returns when it listens."""
        options = ["--host", "127.0.0.1", "--port", str(self._port), "--data-dir", str(self._folder)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "milvus_lite", "server", *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + START_S
        while not self._listens():
            assert time.monotonic() < deadline and self._process.poll() is None
            time.sleep(0.05)

    def kill(self) -> None:
        """As `kill -9` does: nothing is written at the end."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(30)

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self._port)) == 0


@contextmanager
def lite_server(folder: Path) -> Iterator[LiteServer]:
    server = LiteServer(folder)
    try:
        yield server
    finally:
        server.kill()
