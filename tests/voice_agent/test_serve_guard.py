"""Security laws of the service: who may ask, from where, how much, how often; and that every refusal is a problem."""

from __future__ import annotations

import asyncio
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.voice_agent.serving import ADMIN, ASKER, QUESTION, Served, served, settings
from voice_agent.errors import ConfigError
from voice_agent.service.keys import KeyRing, hash_of, new_key, read_keys
from voice_agent.service.problem import Problem
from voice_agent.service.rates import Rate
from voice_agent.service.server import check_exposed


def refused(response: httpx.Response, status: int, kind: str) -> dict[str, Any]:
    """The problem, which must be of this kind, and whole."""
    assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json")
    told: dict[str, Any] = response.json()
    assert told["type"] == f"urn:voice-agent:problem:{kind}" and told["status"] == status
    assert told["title"] and told["detail"] and response.headers["x-content-type-options"] == "nosniff"
    return told


NO_KEY: tuple[dict[str, str], ...] = (
    {},
    {"Authorization": "Bearer wrong"},
    {"Authorization": "va_ask_key"},
    {"Authorization": "Basic va_ask_key"},
    {"Authorization": "Bearer "},
    {"Authorization": f"Bearer {hash_of('va_ask_key')}"},
    {"X-Api-Key": "va_ask_key"},
    {"Cookie": "key=va_ask_key"},
)
PATHS = ("/ask", "/ask/stream", "/calls", "/calls/a", "/metrics", "/reload", "/nosuch")


@pytest.mark.asyncio
async def test_without_a_valid_key_there_is_nothing(tmp_path: Path) -> None:
    """No key, a wrong one, one in another place, the hash of one: 401, whatever is asked for, before it is read."""
    async with served(tmp_path, keyed=True) as service:
        for headers, path in product(NO_KEY, PATHS):
            response = await service.client.post(path, content=b"no json", headers=headers)
            refused(response, 401, "no-key")
            assert response.headers["www-authenticate"] == "Bearer" and not service.journals()


@pytest.mark.asyncio
async def test_keys_open_what_their_role_allows(tmp_path: Path) -> None:
    """`ask` keys ask; journals and reload are for `admin` keys. Liveness needs none."""
    async with served(tmp_path, keyed=True) as service:
        client = service.client
        assert (await client.post("/ask", json=QUESTION, headers=ASKER)).status_code == 200
        assert (await client.post("/ask", json=QUESTION, headers=ADMIN)).status_code == 200
        for path in ("/calls", "/calls/some"):
            refused(await client.get(path, headers=ASKER), 403, "not-allowed")
        refused(await client.post("/reload", headers=ASKER), 403, "not-allowed")
        assert (await client.get("/calls", headers=ADMIN)).status_code == 200
        assert (await client.post("/reload", headers=ADMIN)).status_code == 200
        assert (await client.get("/health")).json() == {"status": "live"}
        assert (await client.get("/ready")).json()["ready"] is True


@pytest.mark.asyncio
async def test_reloading_needs_a_key_even_at_home(tmp_path: Path) -> None:
    """On loopback without keys anybody on the machine may ask and inspect, but not change what is served."""
    async with served(tmp_path) as service:
        refused(await service.client.post("/reload"), 403, "not-allowed")


@pytest.mark.asyncio
@pytest.mark.parametrize("query", ["key=va_ask_key", "api_key=x", "Access_Token=x", "q=va_abc", "token="])
async def test_a_key_in_the_url_is_refused(tmp_path: Path, query: str) -> None:
    """Even a valid one, even beside a valid header, even where none is needed."""
    async with served(tmp_path, keyed=True) as service:
        for path in ("/ask", "/health"):
            response = await service.client.post(f"{path}?{query}", json=QUESTION, headers=ASKER)
            assert "va_" not in response.text
            refused(response, 400, "key-in-url")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("headers", "kind"),
    [
        ({"Origin": "https://evil.example"}, "foreign-origin"),
        ({"Origin": "null"}, "foreign-origin"),
        ({"Origin": "http://127.0.0.1.evil.example"}, "foreign-origin"),
        ({"Origin": "http://127.0.0.1:9999"}, "foreign-origin"),
        ({"Sec-Fetch-Site": "cross-site"}, "foreign-origin"),
        ({"Sec-Fetch-Site": "same-site"}, "foreign-origin"),
        ({"Host": "evil.example"}, "unknown-host"),
        ({"Host": "127.0.0.1.evil.example"}, "unknown-host"),
        ({"Host": ""}, "unknown-host"),
    ],
)
async def test_pages_of_elsewhere_are_refused(tmp_path: Path, headers: dict[str, str], kind: str) -> None:
    """CORS is closed, and a name that was pointed at this machine does not open it (DNS rebinding)."""
    async with served(tmp_path) as service:
        response = await service.client.post("/ask", json=QUESTION, headers=headers)
        refused(response, 403, kind)
        assert not [name for name in response.headers if name.startswith("access-control-")]
        assert not service.journals()


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "headers", [{"Origin": "http://127.0.0.1"}, {"Host": "localhost:8080"}, {"Host": "[::1]:8080"}]
)
async def test_this_machines_own_names_are_served(tmp_path: Path, headers: dict[str, str]) -> None:
    """The service's own page may ask."""
    async with served(tmp_path) as service:
        assert (await service.client.post("/ask", json=QUESTION, headers=headers)).status_code == 200


@pytest.mark.asyncio
async def test_a_body_has_a_limit(tmp_path: Path) -> None:
    """Told or not told beforehand, and nothing of it is kept."""

    async def endless() -> Any:
        for _ in range(100):
            yield b" " * 1000

    async with served(tmp_path, "service.body_kb=2") as service:
        refused(await service.client.post("/ask", content=b" " * 5000), 413, "too-large")
        refused(await service.client.post("/ask", content=endless()), 413, "too-large")
        assert (await service.ask()).status_code == 200


@pytest.mark.asyncio
async def test_a_body_that_does_not_come_is_not_waited_for(tmp_path: Path) -> None:
    """A slow sender holds no place in the queue and is sent away."""
    never = asyncio.Event()

    async def slow() -> Any:
        yield b"{"
        await never.wait()

    async with served(tmp_path, "service.body_s=0.05") as service:
        refused(await service.client.post("/ask", content=slow()), 408, "too-slow")
        assert service.parts.desk.queue.held == 0


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "call",
    [
        "..%2F..%2Fetc%2Fpasswd",
        "%2e%2e",
        ".summaries.json",
        "a%00b",
        "a%0d%0aSet-Cookie:x",
        "a%5c..%5cb",
        "C:",
        "nosuch",
        "电话",
        "a" * 80,
        "link",
    ],
)
async def test_a_call_id_is_only_ever_a_file_of_the_folder(tmp_path: Path, call: str) -> None:
    """Path tricks, hidden files, links out of the folder, line ends: 404, without a word of where anything lies."""
    secret = tmp_path / "secret.jsonl"
    secret.write_text('{"type":"call","call":"secret"}\n')
    async with served(tmp_path) as service:
        await service.ask()
        (service.parts.desk.calls / "link.jsonl").symlink_to(secret)
        response = await service.client.get(f"/calls/{call}")
        assert response.status_code == 404 and "secret" not in response.text
        assert str(tmp_path) not in response.text and "set-cookie" not in response.headers


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"query": ""}',
        b'{"query": 5}',
        b'{"query": "\\ud800"}',
        b'{"query": "a", "surprise": 1}',
        b'{"query": "a", "as_of": "2026-02-30"}',
        b'{"query": "a", "as_of": 5}',
        b'{"query": "a", "as_of": "0001-01-01"}',
        b'{"query": "a", "filters": {"surprise": 1}}',
        b'{"query": "a", "history": [{}]}',
        b'{"query": "' + b"x" * 501 + b'"}',
        b"\xff\xfe",
    ],
)
async def test_a_wrong_shape_names_the_field_and_repeats_nothing(tmp_path: Path, body: bytes) -> None:
    """422, never a 500, and nothing is asked of a model."""
    async with served(tmp_path) as service:
        response = await service.client.post(
            "/ask", content=body, headers={"Content-Type": "application/json"}
        )
        told = refused(response, 422, "invalid")
        assert told["errors"] and all(set(error) == {"at", "is"} for error in told["errors"])
        assert not service.journals()


@pytest.mark.asyncio
async def test_a_body_nested_without_end_is_refused(tmp_path: Path) -> None:
    """It cannot be parsed, and breaks nothing."""
    async with served(tmp_path) as service:
        json_type = {"Content-Type": "application/json"}
        response = await service.client.post("/ask", content=b"[" * 20_000, headers=json_type)
        refused(response, 400, "bad-request")


@pytest.mark.asyncio
async def test_what_is_not_offered_is_a_problem_too(tmp_path: Path) -> None:
    """An unknown path, a wrong method with the right one named."""
    async with served(tmp_path) as service:
        refused(await service.client.get("/nosuch"), 404, "not-found")
        response = await service.client.get("/ask")
        refused(response, 405, "method-not-allowed")
        assert response.headers["allow"] == "POST"


@pytest.mark.asyncio
async def test_a_fault_of_ours_tells_nothing_of_itself(tmp_path: Path) -> None:
    """500 as a problem; the traceback goes to the operator's own log."""

    class Broken:
        writers = Served  # has no `first`: the header cannot be made

        def begin(self, *_: object) -> Any:
            raise AssertionError

    async with served(tmp_path, answers=Broken()) as service:
        transport = httpx.ASGITransport(service.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            response = await client.post("/ask", json=QUESTION)
    refused(response, 500, "internal")
    assert "first" not in response.text


@pytest.mark.asyncio
async def test_a_key_has_its_rate(tmp_path: Path) -> None:
    """Beyond it 429 with the seconds to wait; another key and the probes are not held up by it."""
    async with served(tmp_path, "service.rate=2/hour", keyed=True) as service:
        client = service.client
        for _ in range(2):
            assert (await client.post("/ask", json=QUESTION, headers=ASKER)).status_code == 200
        response = await client.post("/ask", json=QUESTION, headers=ASKER)
        refused(response, 429, "too-many")
        assert 1 <= int(response.headers["retry-after"]) <= 3600
        assert (await client.post("/ask", json=QUESTION, headers=ADMIN)).status_code == 200
        assert (await client.get("/health")).status_code == 200
    async with served(tmp_path, "service.rate=null") as service:
        assert {(await service.ask()).status_code for _ in range(5)} == {200}


def test_a_rate_that_is_none_is_named() -> None:
    """At the start, in one line."""
    with pytest.raises(ConfigError, match=r"service.rate: 'often' is no rate"):
        Rate("often")


def test_keys_are_kept_as_hashes_only() -> None:
    """A new key opens what its entry says; the entry does not hold the key; no two are alike."""
    key, its_hash = new_key()
    assert key not in its_hash and new_key()[0] != key and len(key) > 40
    ring = read_keys(f"ask:{its_hash}", None)
    assert ring.who(f"Bearer {key}").role == "ask" and its_hash.startswith(ring.who(f"bearer {key}").name)
    with pytest.raises(Problem):
        ring.who(f"Bearer {key}x")


def test_keys_come_from_the_variable_and_from_a_file(tmp_path: Path) -> None:
    """Comments and empty lines are let be; what is no entry is named by its place and not shown: it may be a key."""
    file = tmp_path / "keys"
    file.write_text(f"# the web shop\nask:{hash_of('a')}  # since May\n\nadmin:{hash_of('b')}\n")
    ring = read_keys(f"ask:{hash_of('c')},admin:{hash_of('d')}", file)
    assert [ring.who(f"Bearer {key}").role for key in "abcd"] == ["ask", "admin", "ask", "admin"]
    for wrong in ("va_secret", f"root:{hash_of('a')}", hash_of("a")):
        with pytest.raises(ConfigError, match="VOICE_AGENT_API_KEYS:1: not ask:HASH or admin:HASH") as fault:
            read_keys(wrong, None)
        assert wrong not in str(fault.value) and "\n" not in str(fault.value)
    with pytest.raises(ConfigError, match="service.keys_file"):
        read_keys("", tmp_path / "none")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.com"])
def test_others_are_not_served_without_keys(tmp_path: Path, host: str) -> None:
    """It does not even start."""
    config = settings(tmp_path, f"service.host='{host}'")
    with pytest.raises(ConfigError, match="there is no API key"):
        check_exposed(config, KeyRing({}))
    check_exposed(config, KeyRing({hash_of("a"): "ask"}))
    check_exposed(settings(tmp_path), KeyRing({}))
