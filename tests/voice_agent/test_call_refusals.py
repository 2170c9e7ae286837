"""What is refused at the door of /call and inside it: foreign pages, keys, nonsense, floods, who does not read."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.fakes import pause, voice
from tests.voice_agent.serving import until
from tests.voice_agent.wiring import V1, Wired, journal, page, speech, wired
from voice_agent.service import connection
from voice_agent.service.wire import PatientProtocol, PatientSocket

pytestmark = pytest.mark.asyncio

QUIET = ("duties.greeting=false", "service.rate=null")


async def refused(there: Wired, path: str = "/call", offered: Sequence[str] = (V1,), **headers: str) -> Any:
    """The response before an upgrade."""
    url = f"ws://{headers.pop('Host', '127.0.0.1')}{path}"
    options: Any = {"subprotocols": list(offered) or None, "additional_headers": headers, "proxy": None}
    with pytest.raises(InvalidStatus) as told:
        async with connect(url, host="127.0.0.1", port=there.port, **options):
            pass
    return told.value.response


@pytest.mark.parametrize(
    ("path", "offered", "headers", "status", "kind"),
    [
        ("/call", (V1, "bearer.va_ask_key"), {"Origin": "https://evil.example"}, 403, "foreign-origin"),
        ("/call", (V1, "bearer.va_ask_key"), {"Origin": "null"}, 403, "foreign-origin"),
        ("/call", (V1, "bearer.va_ask_key"), {"Host": "evil.example"}, 403, "unknown-host"),
        ("/call", (V1, "bearer.va_ask_key"), {"Sec-Fetch-Site": "cross-site"}, 403, "foreign-origin"),
        ("/call", (V1,), {}, 401, "no-key"),
        ("/call", (V1, "bearer.va_wrong"), {}, 401, "no-key"),
        ("/call", (V1,), {"Authorization": "Bearer va_wrong"}, 401, "no-key"),
        ("/call?token=va_ask_key", (V1, "bearer.va_ask_key"), {}, 400, "key-in-url"),
        ("/call?x=va_ask_key", (V1, "bearer.va_ask_key"), {}, 400, "key-in-url"),
        ("/call", ("bearer.va_ask_key",), {}, 400, "bad-request"),
        ("/call", (V1, "bearer.va_ask_key", "resume.guess"), {}, 404, "no-resume"),
    ],
)
async def test_who_may_not_call_is_told_before_the_upgrade(
    tmp_path: Path, path: str, offered: Sequence[str], headers: dict[str, str], status: int, kind: str
) -> None:
    """An ordinary response with a problem, which repeats nothing that was sent; no place is held, no journal begun."""
    with speech() as parts:
        async with wired(tmp_path, *QUIET, keyed=True, speech=parts) as there:
            response = await refused(there, path, offered, **headers)
            assert there.service.parts.host.taken == 0
    assert (response.status_code, json.loads(response.body)["type"].split(":")[-1]) == (status, kind)
    assert b"va_" not in response.body and "va_" not in str(response.headers)
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert there.service.journals() == []


async def test_a_key_is_offered_and_never_echoed(tmp_path: Path) -> None:
    """As a subprotocol or in the header, from a page of our own; the answer names the protocol alone."""
    with speech() as parts:
        async with wired(tmp_path, *QUIET, keyed=True, speech=parts) as there:
            own = {"Origin": f"http://127.0.0.1:{there.port}"}
            async with page(there, "bearer.va_ask_key", additional_headers=own) as one:
                await one.begin()
                assert one.socket.subprotocol == V1
                assert one.socket.response is not None and "va_" not in str(one.socket.response.headers)
            await until(lambda: there.service.parts.host.taken == 0)
            async with page(there, additional_headers={"Authorization": "Bearer va_admin_key"}) as two:
                await two.begin()
    assert b"va_" not in b"".join(path.read_bytes() for path in there.service.journals())


async def test_another_clients_call_cannot_be_taken(tmp_path: Path) -> None:
    """The token alone is not enough: the key must be the one that the call began with."""
    with speech() as parts:
        async with (
            wired(tmp_path, *QUIET, keyed=True, speech=parts) as there,
            page(there, "bearer.va_ask_key") as one,
        ):
            token = (await one.begin())["resume"]
            offered = (V1, "bearer.va_admin_key", f"resume.{token}")
            assert (await refused(there, offered=offered)).status_code == 404


async def test_every_place_taken_is_told_at_once(tmp_path: Path) -> None:
    """503 with Retry-After, and readiness tells; a place is free again when its call has ended."""
    with speech() as parts:
        async with wired(tmp_path, *QUIET, "service.calls=1", speech=parts) as there:
            async with page(there) as one, there.client() as client:
                await one.begin()
                response = await refused(there)
                assert (response.status_code, int(response.headers["Retry-After"]) > 0) == (503, True)
                assert json.loads(response.body)["type"].endswith("calls-full")
                assert (await client.get("/ready")).json()["calls_free"] == 0
                assert 'reason="calls-full"} 1.0' in (await client.get("/metrics")).text
            await until(lambda: there.service.parts.host.free == 1)
            async with page(there) as two:
                await two.begin()


async def test_a_key_may_not_begin_calls_without_end(tmp_path: Path) -> None:
    """The rate of the key holds for calls as for questions."""
    with speech() as parts:
        async with wired(tmp_path, QUIET[0], "service.rate=2/minute", speech=parts) as there:
            for _ in range(2):
                async with page(there) as one:
                    await one.begin()
                await until(lambda: there.service.parts.host.taken == 0)
            assert (await refused(there)).status_code == 429


async def test_where_no_calls_are_taken(tmp_path: Path) -> None:
    """404 with the setting that would change it."""
    async with wired(tmp_path, *QUIET, "service.calls=0") as there:
        response = await refused(there)
    assert response.status_code == 404 and "service.calls" in response.body.decode()


START = json.dumps({"type": "start"})


@pytest.mark.parametrize(
    ("sent", "code", "kind"),
    [
        ([b"\x00\x00"], 1008, "bad-message"),
        (["{nonsense"], 1008, "bad-message"),
        (["[]"], 1008, "bad-message"),
        (['{"type": "start", "rate": 44100}'], 1008, "bad-message"),
        (['{"type": "start", "record": "yes"}'], 1008, "bad-message"),
        (['{"type": "resume", "received": 0}'], 1008, "bad-message"),
        (['{"type": "start", "codec": "' + "x" * 1000 + '"}'], 1009, "too-large"),
        ([START, b"\x00"], 1008, "bad-audio"),
        ([START, bytes(32_002)], 1009, "too-large"),
        ([START, START], 1008, "bad-message"),
        ([START, '{"type": "played", "samples": -1}'], 1008, "bad-message"),
        ([START, '{"type": "played", "samples": 1e999}'], 1008, "bad-message"),
        ([START, "<script>alert(1)</script>"], 1008, "bad-message"),
        ([START, "{" * 900], 1008, "bad-message"),
        (['{"type": "start", "codec": "opus"}', b"\xff" * 60], 1008, "bad-audio"),
        (['{"type": "start", "codec": "opus"}', b""], 1008, "bad-audio"),
        ([START, *['{"type": "played", "samples": 0}'] * 200], 1008, "too-fast"),
        ([START, *[bytes(32_000)] * 14], 1008, "too-fast"),
    ],
)
async def test_nonsense_ends_the_call(
    tmp_path: Path, sent: Sequence[str | bytes], code: int, kind: str
) -> None:
    """It is told once what is wrong, and what was sent is not repeated; the place is free again."""
    with speech() as parts:
        async with wired(tmp_path, *QUIET, speech=parts) as there:
            async with page(there) as one:
                one.acks = False
                for message in sent:
                    await one.socket.send(message)
                told = await one.until(lambda m: m["type"] == "error")
                with pytest.raises(ConnectionClosed):
                    await one.next()
            await until(lambda: there.service.parts.host.taken == 0)
    assert (told["kind"], one.socket.close_code) == (kind, code)
    assert "script" not in told["detail"] and "xxx" not in told["detail"]


async def test_a_message_beyond_all_bounds_is_cut_off_on_the_wire(tmp_path: Path) -> None:
    """Before it is in memory."""
    with speech() as parts:
        async with wired(tmp_path, *QUIET, speech=parts) as there:
            async with page(there) as one:
                await one.begin()
                await one.socket.send(bytes(200_000))
                with pytest.raises(ConnectionClosed):
                    while True:
                        await one.next()
            assert one.socket.close_code == 1009
            await until(lambda: there.service.parts.host.taken == 0)


async def test_who_says_nothing_first_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A place is not held for long by a page that begins nothing; nor does the wait for headers close a call."""
    monkeypatch.setattr(connection, "FIRST_S", 0.2)
    monkeypatch.setattr(PatientProtocol, "HEADERS_S", 0.1)
    with speech() as parts:
        async with wired(tmp_path, *QUIET, speech=parts) as there, page(there) as one:
            told = await one.until(lambda m: m["type"] == "error")
            async with page(there) as two:
                await two.begin()
                await asyncio.sleep(0.3)
                await two.tell(type="hang_up")
                assert (await two.until(lambda m: m["type"] == "ended"))["reason"] == "hung_up"
    assert told["kind"] == "no-start" and len(there.service.journals()) == 1


async def test_a_page_that_reads_nothing_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Little is kept for it; the call ends as if its connection had broken, and no place stays taken."""
    monkeypatch.setattr(PatientSocket, "STALLED_S", 0.2)
    with speech() as parts:
        async with wired(tmp_path, *QUIET, "service.resume_s=0.1", speech=parts) as there, page(there) as one:
            await one.begin()
            one.socket.transport.pause_reading()
            (call,) = there.service.parts.board.calls
            while there.service.parts.host.taken:
                if call.outbox.waiting < 50:
                    call.outbox.put("x" * 90_000)
                await asyncio.sleep(0.005)
    assert journal(there)[-1]["reason"] == "hung_up"


async def test_two_hundred_who_vanish_leave_nothing(tmp_path: Path) -> None:
    """At random moments of the handshake and the call: no task, file, lock or place, and every journal closed."""
    chance = random.Random(7)
    options = (*QUIET, "service.calls=20", "service.resume_s=0.05")
    with speech() as parts:
        async with wired(tmp_path, *options, speech=parts) as there:
            async with page(there) as one:
                await one.begin()
            await until(lambda: there.service.parts.host.taken == 0)
            tasks, files = len(asyncio.all_tasks()), len(os.listdir("/proc/self/fd"))
            for _ in range(20):
                async with asyncio.TaskGroup() as group:
                    for _ in range(10):
                        group.create_task(vanish(there, chance))
            await until(lambda: there.service.parts.host.taken == 0)
            await until(lambda: len(asyncio.all_tasks()) <= tasks)
            await until(lambda: len(os.listdir("/proc/self/fd")) <= files)
            assert there.service.parts.board.calls == []
    for path in there.service.journals():
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            assert json.loads(file.readlines()[-1])["type"] == "call_ended"


async def vanish(there: Wired, chance: random.Random) -> None:
    """A page that breaks off somewhere between the first byte and the answer."""
    moment = chance.random()
    if moment < 0.2:
        _, writer = await asyncio.open_connection("127.0.0.1", there.port)
        writer.write(
            b"GET /call HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgr"[
                : int(500 * moment)
            ]
        )
        await asyncio.sleep(chance.random() / 50)
        writer.transport.abort()
        return
    try:
        async with page(there) as one:
            one.acks = False
            if moment > 0.4:
                await one.begin()
            if moment > 0.6:
                await one.say(voice(1, 0.6), pause(1.0))
            await asyncio.sleep(chance.random() / 5)
            one.socket.transport.abort()
    except (InvalidStatus, ConnectionClosed):
        return
