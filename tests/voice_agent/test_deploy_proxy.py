"""The shipped nginx file, run by nginx before two services on ports of this machine: what passes, and to whom."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect

from tests.fakes import pause, voice
from tests.voice_agent.serving import ADMIN, ASKER, QUESTION, ROOT, HeldAnswers, knowledge, until
from tests.voice_agent.test_serve_process import free_port
from tests.voice_agent.wiring import V1, Page, Wired, speech, wired

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")
pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.skipif(not (NGINX and shutil.which("openssl")), reason="no nginx: scripts/proxy installs it"),
]


@asynccontextmanager
async def proxied(tmp_path: Path, first: Wired, second: Wired) -> AsyncIterator[str]:
    """The shipped file, its names, port and folders put to this machine's; where it listens."""
    certificate, key = tmp_path / "fullchain.pem", tmp_path / "privkey.pem"
    make = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "1",
        "-subj",
        "/CN=localhost",
    ]
    await asyncio.to_thread(
        subprocess.run,
        [*make, "-keyout", str(key), "-out", str(certificate)],
        check=True,
        capture_output=True,
        timeout=60,
    )
    port = free_port()
    text = (ROOT / "deploy" / "nginx.conf").read_text("utf-8")
    for shipped, here in (
        ("/tmp/", f"{tmp_path}/"),  # noqa: S108 - nginx's own, in its container
        ("agent-1:8080", f"127.0.0.1:{first.port}"),
        ("agent-2:8080", f"127.0.0.1:{second.port}"),
        ("listen 8443", f"listen 127.0.0.1:{port}"),
        ("/etc/nginx/tls", str(tmp_path)),
        ("/dev/stdout", str(tmp_path / "access.log")),
        ("/dev/stderr", str(tmp_path / "error.log")),
    ):
        assert shipped in text
        text = text.replace(shipped, here)
    (tmp_path / "nginx.conf").write_text(text, "utf-8")
    command = [str(NGINX), "-p", str(tmp_path), "-c", "nginx.conf", "-e", str(tmp_path / "error.log")]
    running = await asyncio.create_subprocess_exec(*command, "-g", "daemon off;")
    try:
        await until(lambda: running.returncode is not None or (tmp_path / "nginx.pid").exists())
        assert running.returncode is None, (tmp_path / "error.log").read_text("utf-8")
        yield f"https://localhost:{port}"
    finally:
        if running.returncode is None:
            running.terminate()
        await asyncio.wait_for(running.wait(), 20)


def trusting(tmp_path: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(tmp_path / "fullchain.pem"))


@asynccontextmanager
async def both(
    tmp_path: Path, *overrides: str, **given: Any
) -> AsyncIterator[tuple[Wired, Wired, httpx.AsyncClient]]:
    """Two services and a client of the proxy before them."""
    async with (
        wired(tmp_path / "a", *overrides, **given) as one,
        wired(tmp_path / "b", *overrides, **given) as two,
        proxied(tmp_path, one, two) as url,
        httpx.AsyncClient(base_url=url, verify=trusting(tmp_path), timeout=20, trust_env=False) as there,
    ):
        yield one, two, there


@asynccontextmanager
async def calling(tmp_path: Path, url: str, *offered: str) -> AsyncIterator[Page]:
    protocols: Any = [V1, "bearer.va_ask_key", *offered]
    fixed: Any = {"compression": None, "proxy": None, "close_timeout": 1, "ssl": trusting(tmp_path)}
    fixed["origin"] = url
    async with connect(f"{url.replace('https', 'wss')}/call", subprotocols=protocols, **fixed) as socket:
        yield Page(socket)


async def test_questions_pass_and_the_operators_paths_do_not(tmp_path: Path) -> None:
    """Key, origin and answer reach the other side unchanged; metrics and reload are the operator's; a large body is
    refused before a worker sees it; the log names no key and no query.
    """
    async with both(tmp_path, keyed=True) as (_, _, there):
        url = str(there.base_url).rstrip("/")
        answer = await there.post("/ask", json=QUESTION, headers={**ASKER, "Origin": url})
        assert (answer.status_code, answer.json()["status"]) == (200, "answered")
        assert "max-age" in answer.headers["strict-transport-security"]
        assert (await there.post("/ask", json=QUESTION)).status_code == 401
        foreign = {**ASKER, "Origin": "https://elsewhere.example"}
        assert (await there.post("/ask", json=QUESTION, headers=foreign)).status_code == 403
        for path in ("/metrics", "/reload"):
            assert (await there.post(path, headers=ADMIN)).status_code == 404
        assert (await there.post("/ask", content=b"x" * 70_000, headers=ASKER)).status_code == 413
        assert (await there.get("/calls?key=va_ask_key")).status_code == 400
    log = (tmp_path / "access.log").read_text("utf-8")
    assert "POST /ask 200" in log and "va_ask_key" not in log


async def test_a_full_worker_is_passed_over(tmp_path: Path) -> None:
    """Its 503 is no answer while the other has a place; when both are full the 503 is the client's, with its time."""
    held = HeldAnswers(knowledge().answerer)
    async with both(tmp_path, "service.queue=0", answers=held) as (one, two, there):
        asked = [asyncio.create_task(there.post("/ask", json=QUESTION)) for _ in range(2)]
        await until(lambda: held.begun == 2)
        refused = await there.post("/ask", json=QUESTION)
        assert (refused.status_code, "retry-after" in refused.headers) == (503, True)
        held.go.set()
        assert [(await each).status_code for each in asked] == [200, 200]
    assert len(one.service.journals()) == len(two.service.journals()) == 1


@dataclass
class HeldAfterOne:
    """Answers whose first sentence goes out at once and whose end waits for the test."""

    within: Any
    go: asyncio.Event = field(default_factory=asyncio.Event)

    def begin(self, *asked: Any) -> Any:
        return _HeldEnd(self.within.begin(*asked), self.go)

    @property
    def writers(self) -> Any:
        return self.within.writers


@dataclass
class _HeldEnd:
    within: Any
    go: asyncio.Event
    given: int = 0

    async def look(self) -> Any:
        return await self.within.look()

    async def next_sentence(self) -> Any:
        if self.given:
            await self.go.wait()
        self.given += 1
        return await self.within.next_sentence()

    async def aclose(self) -> None:
        await self.within.aclose()


async def test_sentences_are_passed_on_as_they_come(tmp_path: Path) -> None:
    """The first is here while the end of the answer is still held back."""
    held = HeldAfterOne(knowledge().answerer)
    async with (
        both(tmp_path, answers=held) as (_, _, there),
        asyncio.timeout(20),
        there.stream("POST", "/ask/stream", json=QUESTION) as stream,
    ):
        lines = stream.aiter_lines()
        assert await anext(lines) == "event: sentence"
        held.go.set()
        told = [line async for line in lines if line.startswith("event:")]
    assert told[-1] == "event: answer"


async def test_a_call_comes_back_to_its_worker(tmp_path: Path) -> None:
    """A call by wss with its page's origin and key; broken off, it is gone on with where it was."""
    with speech() as parts, speech() as others:
        async with (
            wired(tmp_path / "a", "duties.greeting=false", keyed=True, speech=parts) as one,
            wired(tmp_path / "b", "duties.greeting=false", keyed=True, speech=others) as two,
            proxied(tmp_path, one, two) as url,
        ):
            async with calling(tmp_path, url) as page:
                ready = await page.begin()
                await page.say(voice(1, 0.6))
                page.socket.transport.abort()
            async with calling(tmp_path, url, f"resume.{ready['resume']}") as again:
                await again.tell(type="resume", received=len(page.took))
                await again.until(lambda m: m["type"] == "resumed")
                await again.say(pause(1.2))
                assert (await again.event("sentence"))["passed"]
                await again.event("spoken")
                await again.tell(type="hang_up")
                ended = await again.until(lambda m: m["type"] == "ended")
                await again.socket.wait_closed()
    assert ended["reason"] == "hung_up"
    assert sorted(len(there.service.journals()) for there in (one, two)) == [0, 1]
