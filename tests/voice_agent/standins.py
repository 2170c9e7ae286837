"""Language model servers on the loopback that misbehave as told: raw bytes, so that nothing is too wrong to send.

A script is made of chunks to send, seconds to wait, HANG (say nothing more until the client is gone) and SLAM (hang up
in the middle of the response).
"""

from __future__ import annotations

import json
import socketserver
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from voice_agent.reply.llm import Llm, Sampling
from voice_agent.reply.llm_http import Endpoint
from voice_agent.reply.ollama_chat import OllamaChat
from voice_agent.reply.openai_chat import OpenAiChat


class Act(Enum):
    HANG = "hang"
    SLAM = "slam"


HANG, SLAM = Act.HANG, Act.SLAM

Step = bytes | float | Act
Script = Callable[[], Iterable[Step]]


@dataclass
class Standin:
    """What a server sends, and what was asked of it. `gone` is set when a client left in the middle."""

    script: Script
    status: int = 200
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    gone: threading.Event = field(default_factory=threading.Event)


@contextmanager
def serving(*steps: Step, script: Script | None = None, status: int = 200) -> Iterator[Standin]:
    """A server that answers every request by the steps, or by a script that may never end."""
    standin = Standin(script or (lambda: steps), status)

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.settimeout(10.0)
            try:
                _answer(self.request, standin)
            except OSError:
                standin.gone.set()

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        standin.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield standin
        finally:
            server.shutdown()
            thread.join()


def _answer(line: Any, standin: Standin) -> None:
    head, body = _request(line)
    standin.headers.append(head)
    if body:
        standin.asked.append(json.loads(body))
    line.sendall(f"HTTP/1.1 {standin.status} Said\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
    for step in standin.script():
        if step is HANG:
            while line.recv(1024):
                pass
            standin.gone.set()
            return
        if step is SLAM:
            return
        if isinstance(step, bytes):
            line.sendall(b"%x\r\n%s\r\n" % (len(step), step))
        elif isinstance(step, float):
            time.sleep(step)
    line.sendall(b"0\r\n\r\n")


def _request(line: Any) -> tuple[str, bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        data += line.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [row for row in head.split(b"\r\n") if row.lower().startswith(b"content-length:")]
    while lengths and len(body) < int(lengths[0].split(b":")[1]):
        body += line.recv(65536)
    return head.decode(), body


class Ollama:
    """/api/chat, lines of JSON."""

    name = "ollama"

    def text(self, text: str) -> bytes:
        return self.line(message={"role": "assistant", "content": text}, done=False)

    def thinking(self, text: str) -> bytes:
        return self.line(message={"role": "assistant", "content": "", "thinking": text}, done=False)

    def end(self, reason: str = "stop", prompt_tokens: int | None = None) -> bytes:
        counted = {} if prompt_tokens is None else {"prompt_eval_count": prompt_tokens}
        return self.line(
            message={"role": "assistant", "content": ""}, done=True, done_reason=reason, **counted
        )

    def error(self, told: str) -> bytes:
        return self.line(error=told)

    def line(self, **values: Any) -> bytes:
        return json.dumps(values, ensure_ascii=False).encode() + b"\n"

    def llm(self, url: str, sampling: Sampling) -> Llm:
        return OllamaChat(Endpoint(url), sampling)


class OpenAi:
    """/chat/completions, server-sent events."""

    name = "openai"

    def text(self, text: str) -> bytes:
        return self.line(choices=[{"index": 0, "delta": {"content": text}, "finish_reason": None}])

    def thinking(self, text: str) -> bytes:
        return self.line(choices=[{"index": 0, "delta": {"reasoning_content": text}, "finish_reason": None}])

    def end(self, reason: str = "stop", prompt_tokens: int | None = None) -> bytes:
        usage = {} if prompt_tokens is None else {"usage": {"prompt_tokens": prompt_tokens}}
        last = self.line(choices=[{"index": 0, "delta": {}, "finish_reason": reason}], **usage)
        return last + b"data: [DONE]\n\n"

    def error(self, told: str) -> bytes:
        return self.line(error={"message": told, "type": "server_error"})

    def line(self, **values: Any) -> bytes:
        return b"data: " + json.dumps(values, ensure_ascii=False).encode() + b"\n\n"

    def llm(self, url: str, sampling: Sampling) -> Llm:
        return OpenAiChat(Endpoint(url + "/v1", key="secret"), sampling)


Dialect = Ollama | OpenAi
DIALECTS = (Ollama(), OpenAi())
