"""Laws of deploy/nginx.conf, held by nginx itself in front of services on this machine; skipped where there is none."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect

from tests.fakes import pause, voice
from tests.proxied import NGINX, OPENSSL, Proxy, checked, laid_out, proxy
from tests.voice_agent.serving import ASKER, QUESTION
from tests.voice_agent.test_serve_ask import events
from tests.voice_agent.wiring import V1, Page, speech, wired

pytestmark = pytest.mark.skipif(NGINX is None or OPENSSL is None, reason="needs nginx and openssl")


@contextmanager
def stand_in(name: str, statuses: dict[str, int], seen: list[str]) -> Iterator[int]:
    """A worker that says who it is; a path's status is 200 unless `statuses` says otherwise. Its port."""

    class Worker(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(name)
            body = name.encode()
            self.send_response(statuses.get(self.path, 200))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            """Silent."""

    with running(Worker) as port:
        yield port


@contextmanager
def running(worker: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    """Its port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), worker) as server:
        thread = Thread(target=server.serve_forever, args=(0.05,), name="worker")
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def two_workers(
    folder: Path, seen: list[str], of_a: dict[str, int] | None = None, of_b: dict[str, int] | None = None
) -> Iterator[tuple[Proxy, httpx.Client]]:
    with ExitStack() as stack:
        ports = [stack.enter_context(stand_in(*one, seen)) for one in (("a", of_a or {}), ("b", of_b or {}))]
        front = stack.enter_context(proxy(folder, ports))
        client = httpx.Client(base_url=front.url, verify=front.trust, trust_env=False, timeout=20)
        yield front, stack.enter_context(client)


def test_nginx_takes_the_configuration(tmp_path: Path) -> None:
    """`nginx -t` finds nothing, not even to warn of, but what it says to whoever is not root."""
    said = checked(laid_out(tmp_path, [9]))
    assert said.returncode == 0, said.stderr
    assert "[emerg]" not in said.stderr and (os.geteuid() == 0 or "[warn]" not in said.stderr)


def test_a_call_stays_with_its_worker(tmp_path: Path) -> None:
    """By the header or the page's cookie, whichever comes; many callers are spread over the workers."""
    with two_workers(tmp_path, []) as (_, client):
        calls = range(24)
        where = {
            n: {client.get("/call", headers={"X-Call-Pin": str(n)}).text for _ in range(3)} for n in calls
        }
        assert all(len(workers) == 1 for workers in where.values())
        assert {worker for (worker,) in where.values()} == {"a", "b"}
        for n, workers in where.items():
            assert {
                client.get("/call", headers={"Cookie": f"call_pin={n}"}).text for _ in range(3)
            } == workers


def test_the_page_is_given_its_pin_once(tmp_path: Path) -> None:
    """A cookie that no script reads and no other site sends; who has one keeps it."""
    with two_workers(tmp_path, []) as (_, client):
        given = client.get("/").headers["Set-Cookie"]
        assert given.startswith("call_pin=") and all(f"; {word}" in given for word in ("Secure", "HttpOnly"))
        assert "SameSite=Strict" in given
        assert "Set-Cookie" not in client.get("/", headers={"Cookie": given.split(";")[0]}).headers


@pytest.mark.parametrize("status", [503, 404], ids=["full", "not its call"])
def test_a_worker_that_cannot_is_not_the_last_word(tmp_path: Path, status: int) -> None:
    """Whoever is pinned to it is led to the next; it is not given up for that, and still holds its other calls."""
    refusing: dict[str, int] = {"/call": status}
    with two_workers(tmp_path, [], of_a=refusing) as (_, client):
        for n in range(12):
            assert client.get("/call", headers={"X-Call-Pin": str(n)}).text == "b"
        refusing.clear()
        assert {client.get("/call", headers={"X-Call-Pin": str(n)}).text for n in range(24)} == {"a", "b"}


def test_when_all_refuse_the_refusal_comes_through(tmp_path: Path) -> None:
    """Each is asked once, then it is told."""
    seen: list[str] = []
    with two_workers(tmp_path, seen, {"/call": 503}, {"/call": 503}) as (_, client):
        assert client.get("/call").status_code == 503
    assert sorted(seen) == ["a", "b"]


def test_a_question_is_never_sent_twice(tmp_path: Path) -> None:
    """What a worker refuses is told to whoever asked."""
    seen: list[str] = []
    with two_workers(tmp_path, seen, {"/ask": 503}, {"/ask": 503}) as (_, client):
        assert client.post("/ask", json=QUESTION).status_code == 503
    assert len(seen) == 1


@pytest.mark.parametrize(
    "path", ["/metrics", "/calls", "/calls/x", "/reload", "/docs", "/web/../calls", "/nosuch"]
)
def test_what_administers_is_not_reached_from_outside(tmp_path: Path, path: str) -> None:
    """404 by the proxy itself."""
    seen: list[str] = []
    with two_workers(tmp_path, seen) as (_, client):
        assert client.get(path).status_code == 404 and client.post(path).status_code == 404
    assert seen == []


def test_bounds_and_plain_http(tmp_path: Path) -> None:
    """A body beyond the service's is refused before it; without TLS there is only the way to the page."""
    seen: list[str] = []
    with two_workers(tmp_path, seen) as (front, client):
        assert client.post("/ask", content=b"x" * 70_000).status_code == 413
        plain = httpx.Client(base_url=f"http://127.0.0.1:{front.plain_port}", trust_env=False)
        with plain:
            assert plain.post("/ask", json=QUESTION).status_code == 403
            assert plain.get("/").headers["Location"].startswith("https://")
    assert seen == []


def test_the_log_holds_no_query(tmp_path: Path) -> None:
    """Where a key may have been put by mistake."""
    with two_workers(tmp_path, []) as (_, client):
        client.get("/health?key=va_secret")
        log = tmp_path / "access.log"
        for _ in range(100):
            if log.read_text("utf-8"):
                break
            asyncio.run(asyncio.sleep(0.05))
    assert "/health" in log.read_text("utf-8") and "va_secret" not in log.read_text("utf-8")


@pytest.mark.asyncio
async def test_questions_and_calls_pass_through(tmp_path: Path) -> None:
    """Behind TLS: /ask, a stream of events, a page of elsewhere refused, and a whole call with its sound."""
    with speech() as parts:
        settings = ("duties.greeting=false", "service.rate=null")
        async with wired(tmp_path, *settings, keyed=True, speech=parts) as there:
            with proxy(_folder(tmp_path), [there.port]) as front:
                options: Any = {
                    "base_url": front.url,
                    "verify": front.trust,
                    "trust_env": False,
                    "timeout": 20,
                }
                async with httpx.AsyncClient(**options) as client:
                    assert (await client.post("/ask", json=QUESTION)).status_code == 401
                    answer = await client.post("/ask", json=QUESTION, headers=ASKER)
                    assert answer.json()["status"] == "answered" and answer.json()["citation_check"]["passed"]
                    streamed = await client.post("/ask/stream", json=QUESTION, headers=ASKER)
                    assert [kind for kind, _ in events(streamed.text)] == ["sentence", "sentence", "answer"]
                    foreign = {**ASKER, "Origin": "https://evil.example"}
                    assert (await client.post("/ask", json=QUESTION, headers=foreign)).status_code == 403
                protocols: Any = [V1, "bearer.va_ask_key"]
                call: Any = {"ssl": front.trust, "origin": front.url, "compression": None, "proxy": None}
                url = front.url.replace("https", "wss") + "/call"
                async with connect(url, subprotocols=protocols, **call) as socket:
                    page = Page(socket)
                    await page.begin()
                    await page.say(voice(1), pause(2.0))
                    assert (await page.event("sentence"))["passed"]
                    await page.hears()


def test_events_are_not_held_back(tmp_path: Path) -> None:
    """The first event is here before the worker makes the second: it waits until we have read the first."""
    read = Event()

    class Worker(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write(b"data: first\n\n")
            came = read.wait(5)
            self.wfile.write(b"data: second\n\n" if came else b"data: held back\n\n")

        def log_message(self, *_: object) -> None:
            """Silent."""

    with running(Worker) as port, proxy(tmp_path, [port]) as front:
        client = httpx.Client(base_url=front.url, verify=front.trust, trust_env=False, timeout=20)
        with client, client.stream("GET", "/ask/stream") as response:
            lines = response.iter_lines()
            told = [next(lines)]
            read.set()
            told += [line for line in lines if line]
    assert told == ["data: first", "data: second"]


def _folder(tmp_path: Path) -> Path:
    folder = tmp_path / "proxy"
    folder.mkdir()
    return folder
