"""A scripted service behind the real page: what a call and a typed question tell is written down here, word for word.

It speaks the wire format of docs/call.md and keeps what the page sent.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import uvicorn
from fastapi import FastAPI, Request, Response, WebSocket
from starlette.responses import JSONResponse, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

from voice_agent.service import page
from voice_agent.service.problem import Problem

RATE_HZ = 16_000

WAIT, DROP = "wait", "drop"
"""Steps of a script beside messages: wait until the test says `go`, cut the connection."""

Step = dict[str, Any] | bytes | str
TOKEN = "token-1"

PHONE = {
    "citation_id": "S1",
    "id": "warranty-phone",
    "source": "产品与保修手册 1.1 节",
    "title": "手机保修期",
    "text": "手机主机保修期为12个月。手机保修期从签收次日起计算。电池和充电器保修6个月，人为损坏不在保修范围内。",
}


def ready(greeting: str | None = None) -> dict[str, Any]:
    return {
        "type": "ready", "call": "web-1", "resume": TOKEN, "rate": RATE_HZ, "greeting": greeting, "recorded": False,
    }  # fmt: skip


def state(name: str) -> dict[str, Any]:
    return {"type": "state", "state": name}


def event(kind: str, t: float, turn: int, **data: Any) -> dict[str, Any]:
    return {"type": "event", "kind": kind, "t": t, "turn": turn, "data": data}


def tone(seconds: float) -> bytes:
    """A quiet hum in place of a voice."""
    at = np.arange(int(seconds * RATE_HZ)) / RATE_HZ
    return (np.sin(2 * np.pi * 220 * at) * 3000).astype("<i2").tobytes()


def checked(index: int, text: str, span: str, t: float, turn: int, **changes: Any) -> dict[str, Any]:
    """The event of a sentence that passed, resting on PHONE."""
    evidence = [{**PHONE, "span": span}]
    told = {"index": index, "text": text, "passed": True, "reason": None, "cited": [PHONE["id"]], "ms": 10.3}
    return event("sentence", t, turn, **{**told, "evidence": evidence, **changes})


def spoken(index: int, text: str, start_s: float, end_s: float, turn: int, **changes: Any) -> dict[str, Any]:
    told = {"index": index, "text": text, "complete": True, "source": PHONE["source"]}
    return event("spoken", end_s, turn, start_s=start_s, end_s=end_s, **{**told, **changes})


def question(text: str, t: float, turn: int) -> list[Step]:
    """The caller speaks until `t`, and is understood."""
    half = text[: len(text) // 2]
    return [
        event("speech_started", t - 1.8, turn - 1),
        event("partial", t - 1.0, turn, text=half, settled=half[:3]),
        event("partial", t - 0.4, turn, text=text[:-1], settled=half),
        event("speech_ended", t + 0.62, turn, ended_s=t),
        state("thinking"),
        event("transcript", t + 0.62, turn, text=text, confidence=0.92, dropped=None, end_s=t, seconds=0.31),
    ]


def answered(t: float = 3.0) -> list[Step]:
    """One question and its answer of two sentences, each said aloud; the test lets each go on."""
    return [
        *question("手机的保修期是多久？", t, 1),
        event("gate", t + 0.7, 1, outcome="ANSWER", reason=None),
        checked(0, "手机主机保修期为12个月。[S1]", "手机主机保修期为12个月。", t + 0.72, 1),
        state("speaking"),
        tone(0.5),
        checked(1, "手机保修期从签收次日起计算。[S1]", "手机保修期从签收次日起计算。", t + 0.9, 1),
        WAIT,
        spoken(0, "手机主机保修期为十二个月。", t + 1.4, t + 3.4, 1),
        tone(0.5),
        WAIT,
        spoken(1, "手机保修期从签收次日起计算。", t + 3.4, t + 6.0, 1),
        event("timing", t + 6.0, 1, stages_ms={"asr": 310.0, "search": 61.2, "check": 20.0, "speech": 690.0}),
        event("reply_ended", t + 6.0, 1, outcome="answered", first_audio_s=1.4),
        state("listening"),
    ]


def handed_off(t: float = 12.0) -> list[Step]:
    """A question that the documents do not answer."""
    history = [["手机的保修期是多久？", "手机主机保修期为12个月。手机保修期从签收次日起计算。"]]
    packet = {
        "call": "web-1", "turn": 2, "reason": "GATE", "question": "帮我预测一下下周的黄金价格。",
        "detail": "LOW_SCORE", "added": [],
        "evidence": [["price-protect", "下单后七天内降价可申请价保。"]], "withheld": None, "history": history,
    }  # fmt: skip
    return [
        *question("帮我预测一下下周的黄金价格。", t, 2),
        event("gate", t + 0.7, 2, outcome="REFUSE", reason="LOW_SCORE"),
        event("halt", t + 0.7, 2, reason="GATE"),
        state("handing_off"),
        event("handoff", t + 0.72, 2, reason="GATE", delivery="delivered", packet=packet),
        tone(0.4),
        spoken(0, "这个问题我转给人工客服，请稍等。", t + 1.0, t + 3.2, 2, source="phrase"),
        event("reply_ended", t + 3.2, 2, outcome="refused", first_audio_s=1.0),
        state("ended"),
        {"type": "ended", "reason": "handed_off"},
    ]


def typed(text: str = "手机主机保修期为12个月。", **changes: Any) -> list[tuple[str, dict[str, Any]]]:
    """The server-sent events of an answer of one sentence."""
    passage = {key: value for key, value in PHONE.items() if key != "title"} | {"scores": {"rrf": 0.05}}
    sentence = {"text": f"{text}[S1]", "passed": True, "reason": None, "cited": [PHONE["id"]]}
    answer = {
        "status": "answered", "reason": None, "answer": text, "evidence": [passage],
        "citation_check": {"passed": True, "sentences": [sentence]},
        "timings_ms": {"search": 41.0, "look": 52.0, "check": 9.1, "total": 63.5}, "call": "ask-1", "turn": 1,
    }  # fmt: skip
    first = {"index": 0, "text": text, "marked": f"{text}[S1]", "cited": [PHONE["id"]]}
    return [("sentence", first), ("answer", {**answer, **changes})]


@dataclass
class StandIn:
    """What it will tell, and what it was told. `script` is a call's, `answers` those of typed questions, in order."""

    script: list[Step] = field(default_factory=list)
    answers: list[list[tuple[str, dict[str, Any]]]] = field(default_factory=list)
    key: str = ""
    port: int = 0
    offered: list[list[str]] = field(default_factory=list)
    messages: list[dict[str, Any]] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    frames: list[bytes] = field(default_factory=list)
    sent: list[dict[str, Any] | bytes] = field(default_factory=list)
    left: int = 0
    closing: bool = False
    _go: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def go(self) -> None:
        """Lets one WAIT of the script pass."""
        self._go.release()

    def last_played(self) -> int:
        return max((m["samples"] for m in self.messages if m["type"] == "played"), default=0)

    def app(self) -> ASGIApp:
        routes = FastAPI(openapi_url=None)
        routes.include_router(page.router)
        routes.add_api_route("/ready", self._ready)
        routes.add_api_route("/ask/stream", self._ask, methods=["POST"])
        routes.add_api_route("/call", self._no_upgrade)
        routes.add_api_websocket_route("/call", self._call)

        async def noted(scope: Scope, receive: Receive, send: Send) -> None:
            self.targets.append(scope.get("path", "") + "?" + scope.get("query_string", b"").decode())
            await routes(scope, receive, send)

        return noted

    async def _ready(self) -> JSONResponse:
        return JSONResponse({"ready": True, "draining": False, "passages": 273, "calls_free": 1})

    async def _no_upgrade(self, request: Request) -> Response:
        return Problem("not-found" if self._let_in(request) else "no-key", "…").response()

    def _let_in(self, request: Request) -> bool:
        return not self.key or request.headers.get("authorization") == f"Bearer {self.key}"

    async def _ask(self, request: Request) -> Response:
        if not self._let_in(request):
            return Problem("no-key", "…").response()
        self.asked.append(await request.json())
        events = self.answers.pop(0)
        told = [f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n" for kind, data in events]
        return StreamingResponse(iter(told), media_type="text/event-stream")

    async def _call(self, socket: WebSocket) -> None:
        offered = [one.strip() for one in socket.headers.get("sec-websocket-protocol", "").split(",")]
        self.offered.append(offered)
        if self.key and f"bearer.{self.key}" not in offered:
            await socket.close()
            return
        await socket.accept("voice-agent.v1")
        first = json.loads(await socket.receive_text())
        self.messages.append(first)
        listening = asyncio.create_task(self._listen(socket))
        try:
            if first["type"] == "resume":
                missed = self.sent[first["received"] :]
                await self._send(socket, {"type": "resumed", "call": "web-1", "replayed": len(missed)})
                for message in missed:
                    await self._send(socket, message)
            await self._tell(socket)
            await listening
        except (WebSocketDisconnect, RuntimeError):
            pass
        finally:
            listening.cancel()

    async def _tell(self, socket: WebSocket) -> None:
        while self.left < len(self.script):
            step = self.script[self.left]
            self.left += 1
            if step == DROP:
                await socket.close(1011)
                raise WebSocketDisconnect
            if step == WAIT:
                while not (self._go.acquire(blocking=False) or self.closing):  # noqa: ASYNC110 - the test's thread
                    await asyncio.sleep(0.02)
                if self.closing:
                    raise WebSocketDisconnect
                continue
            assert not isinstance(step, str)
            self.sent.append(step)
            await self._send(socket, step)
        if isinstance(self.sent[-1], dict) and self.sent[-1]["type"] == "ended":
            await socket.close(1000)

    async def _send(self, socket: WebSocket, message: dict[str, Any] | bytes) -> None:
        if isinstance(message, bytes):
            await socket.send_bytes(message)
        else:
            await socket.send_text(json.dumps(message, ensure_ascii=False))

    async def _listen(self, socket: WebSocket) -> None:
        while True:
            told = await socket.receive()
            if told["type"] == "websocket.disconnect":
                return
            if told.get("bytes") is not None:
                self.frames.append(told["bytes"])
                continue
            message = json.loads(told["text"])
            self.messages.append(message)
            if message["type"] == "hang_up":
                await self._send(socket, {"type": "ended", "reason": "hung_up"})
                await socket.close(1000)
                return


@contextmanager
def standing_in(stand_in: StandIn) -> Iterator[StandIn]:
    """Serves on a port of this machine, on a thread of its own."""
    server = uvicorn.Server(
        uvicorn.Config(stand_in.app(), port=0, log_level="error", lifespan="off", ws="websockets-sansio")
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        threading.Event().wait(0.02)
    stand_in.port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield stand_in
    finally:
        stand_in.closing = server.should_exit = True
        thread.join(20)
