"""A llama.cpp server of our own for as long as a bench runs: the OpenAI protocol on a free port of this machine."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

LOAD_S = 180.0
"""For a model of one gigabyte from a cold disk."""


@contextmanager
def served(python: Path, gguf: Path, num_ctx: int, threads: int) -> Iterator[str]:
    """The address, version and all, of a server in the environment of `python`, which has llama-cpp-python[server].

    Its words go to the folder of the model, `server.log`. Raises SystemExit when it does not come up.
    """
    port = _free_port()
    url = f"http://127.0.0.1:{port}/v1"
    command = [str(python), "-m", "llama_cpp.server", "--model", str(gguf), "--host", "127.0.0.1"]
    command += ["--port", str(port), "--n_ctx", str(num_ctx), "--n_threads", str(threads)]
    command += ["--n_threads_batch", str(threads)]
    log = gguf.with_name("server.log")
    with log.open("wb") as said:
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)
    try:
        _await(server, url, log)
        yield url
    finally:
        server.terminate()
        server.wait(30)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    return port


def _await(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    until = time.monotonic() + LOAD_S
    while time.monotonic() < until:
        if server.poll() is not None:
            raise SystemExit(f"the server ended with code {server.returncode}; see {log}")
        try:
            if httpx.get(f"{url}/models", timeout=2.0, trust_env=False).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.5)
    raise SystemExit(f"the server did not answer within {LOAD_S:.0f} s; see {log}")
