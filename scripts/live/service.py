"""The real service in a process of its own, on a free port of this machine, with its journals in a given folder."""

from __future__ import annotations

import os
import platform
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[2]

READY_S = 300.0


@contextmanager
def service(logs: Path, overrides: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The process's id and the service's address, once it is ready."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    given = [f"service.port={port}", "service.rate=null", f"paths.logs={logs}", *overrides]
    options = [part for override in given for part in ("--set", override)]
    command = [sys.executable, "-m", "voice_agent", "serve", *options]
    with subprocess.Popen(command, cwd=ROOT) as running:
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_ready(running, url)
            yield running.pid, url
        finally:
            running.terminate()


def machine() -> dict[str, object]:
    """What the figures were taken on."""
    return {
        "python": platform.python_version(),
        "arch": platform.machine(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
    }


def _wait_ready(running: subprocess.Popen[bytes], url: str) -> None:
    until = time.monotonic() + READY_S
    while running.poll() is None and time.monotonic() < until:
        try:
            if httpx.get(f"{url}/ready", trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    raise SystemExit("the service did not become ready")
