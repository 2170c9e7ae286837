"""Laws of the listening socket: bytes that are no request, clients that trickle or vanish, and the end under load."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import httpx
import pytest

import voice_agent.service.server
from tests.voice_agent.answering import answerer, extractive
from tests.voice_agent.serving import QUESTION, HeldAnswers, until
from tests.voice_agent.wiring import wired
from voice_agent.service.wire import PatientProtocol

pytestmark = pytest.mark.asyncio


def request(*headers: str, body: bytes = b"", line: str = "POST /ask HTTP/1.1") -> bytes:
    told = [line, "Host: 127.0.0.1", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(told).encode() + b"\r\n\r\n" + body


async def test_a_slow_loris_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Headers that never end, on a fresh connection and after an answered request; a request in hand is not touched."""
    monkeypatch.setattr(PatientProtocol, "HEADERS_S", 0.2)
    monkeypatch.setattr(voice_agent.service.server, "IDLE_S", 1)
    answers = HeldAnswers(answerer(extractive()))
    async with wired(tmp_path, answers=answers) as there, there.client() as client:
        async with asyncio.TaskGroup() as tasks:
            asked = tasks.create_task(client.post("/ask", json=QUESTION))
            assert await there.raw(b"POST /ask HTTP/1.1\r\nX-A: ") == b""
            health = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            assert (await there.raw(health + b"GET /health HT")).startswith(b"HTTP/1.1 200")
            answers.go.set()
        assert asked.result().status_code == 200


@pytest.mark.parametrize(
    "sent",
    [
        request(line="GET /health\r\nX: y HTTP/1.1"),
        request("X-A: b\x00c"),
        request("Content-Length: 5"),
        request("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/9.9\r\n\r\n",
        b"A" * 100_000,
    ],
    ids=["line", "nul", "two lengths", "two encodings", "tls", "version", "long"],
)
async def test_bytes_that_are_no_request_are_refused(tmp_path: Path, sent: bytes) -> None:
    """Header injection and smuggling end in 400 at the wire; the service lives on."""
    async with wired(tmp_path) as there, there.client() as client:
        got = await there.raw(sent)
        assert got.startswith(b"HTTP/1.1 4") and b"Traceback" not in got
        assert (await client.get("/health")).status_code == 200


async def test_line_ends_in_a_path_make_no_header(tmp_path: Path) -> None:
    """Escaped ones are text."""
    async with wired(tmp_path) as there:
        got = await there.raw(request(line="GET /calls/a%0d%0aSet-Cookie:%20x=1 HTTP/1.1"))
    assert got.startswith(b"HTTP/1.1 404") and b"set-cookie" not in got.lower()


async def test_clients_that_vanish_leave_nothing(tmp_path: Path) -> None:
    """Fifty that hang up while they wait or are worked for: no task, no place, no open file."""
    answers = HeldAnswers(answerer(extractive()))
    async with wired(tmp_path, "service.queue=100", "service.rate=null", answers=answers) as there:
        queue, before = there.service.parts.desk.queue, len(asyncio.all_tasks())
        files = len(os.listdir("/proc/self/fd"))
        writers = []
        for _ in range(50):
            _, writer = await asyncio.open_connection("127.0.0.1", there.port)
            writer.write(
                request("Content-Type: application/json", body=b'{"query": "\xe9\x80\x80\xe6\xac\xbe"}')
            )
            writers.append(writer)
        await until(lambda: queue.held == 50)
        for writer in writers:
            writer.transport.abort()
        await until(lambda: queue.held == 0 and len(asyncio.all_tasks()) <= before)
        await until(lambda: len(os.listdir("/proc/self/fd")) <= files)
        assert answers.begun == answers.given_up


async def test_sigterm_loses_no_request(tmp_path: Path) -> None:
    """Not ready at once; what is worked on and what waits is answered; then the port is closed and all ends."""
    answers = HeldAnswers(answerer(extractive()))
    async with wired(tmp_path, "service.drain_s=0.3", answers=answers) as there, there.client() as client:
        asked = [
            asyncio.create_task(client.post("/ask", json={**QUESTION, "query": f"退款{n}"})) for n in range(4)
        ]
        await until(lambda: there.service.parts.desk.queue.held == 4)
        os.kill(os.getpid(), signal.SIGTERM)
        await until(lambda: there.service.parts.watch.draining)
        assert (await client.get("/ready")).status_code == 503
        await until(lambda: there.server.should_exit)
        assert not there.running.done()
        answers.go.set()
        responses = await asyncio.gather(*asked)
        assert [response.json()["status"] for response in responses] == ["answered"] * 4
        await there.running
        with pytest.raises(httpx.ConnectError):
            await client.get("/health")
    assert len(list((tmp_path / "logs" / "calls").glob("*.jsonl"))) == 4
