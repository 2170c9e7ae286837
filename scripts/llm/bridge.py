#!/usr/bin/env python3
"""The Ollama protocol in front of an OpenAI-compatible server: POST /api/chat as lines of JSON, and GET /api/tags.

To test the agent's Ollama adapter against a model where no Ollama server can be had. Runs until it is interrupted.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

WAIT_S = 900.0


class Bridge(BaseHTTPRequestHandler):
    """One request in, one request on; an answer goes out piece by piece as it comes."""

    behind = ""
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:  # noqa: N802 - the library calls it so
        rows = httpx.get(f"{self.behind}/models", timeout=WAIT_S, trust_env=False).json()["data"]
        models = [{"name": row["id"], "model": row["id"]} for row in rows]
        self._whole(200 if self.path == "/api/tags" else 404, {"models": models})

    def do_POST(self) -> None:  # noqa: N802
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/api/chat":
            self._whole(404, {"error": f"{self.path} is not bridged"})
            return
        with httpx.stream(
            "POST",
            f"{self.behind}/chat/completions",
            json=openai_body(asked),
            timeout=WAIT_S,
            trust_env=False,
        ) as answer:
            if answer.status_code != 200:
                self._whole(answer.status_code, {"error": answer.read().decode(errors="replace")})
                return
            self.send_response(200)
            self.send_header("Content-Type", "application/x-ndjson")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for row in ollama_lines(answer.iter_lines(), asked["model"]):
                line = json.dumps(row, ensure_ascii=False).encode() + b"\n"
                self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""

    def _whole(self, status: int, value: object) -> None:
        body = json.dumps(value, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def openai_body(asked: dict[str, Any]) -> dict[str, Any]:
    """The same request in the other protocol. The context length is the server's own matter there."""
    options = asked.get("options") or {}
    names = {"num_predict": "max_tokens", "temperature": "temperature", "seed": "seed"}
    given = {ours: options[theirs] for theirs, ours in names.items() if theirs in options}
    return {"model": asked["model"], "messages": asked["messages"], "stream": True, **given}


def ollama_lines(events: Iterator[str], model: str) -> Iterator[dict[str, Any]]:
    """Each piece as a line, and a last one that says why it ended; none if the server broke off before its end."""
    for event in events:
        if not event.startswith("data:") or event.endswith("[DONE]"):
            continue
        choice = json.loads(event.removeprefix("data:"))["choices"][0]
        text = (choice.get("delta") or {}).get("content")
        if text:
            yield {"model": model, "message": {"role": "assistant", "content": text}, "done": False}
        if choice.get("finish_reason"):
            last = {"message": {"role": "assistant", "content": ""}, "done": True}
            yield {"model": model, **last, "done_reason": choice["finish_reason"]}


def main() -> int:
    """The door."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--behind", required=True, metavar="URL", help="with its version, as http://127.0.0.1:8000/v1"
    )
    parser.add_argument("--port", type=int, default=11434)
    args = parser.parse_args()
    Bridge.behind = args.behind.rstrip("/")
    try:
        ThreadingHTTPServer(("127.0.0.1", args.port), Bridge).serve_forever()
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main())
