"""A hand-off packet reaches its receiver, signed and masked, or stays in the spool: whatever the receiver does."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path

import pytest

from tests.voice_agent.receivers import Receiver, nobody
from voice_agent.errors import ConfigError
from voice_agent.record.privacy import Masker
from voice_agent.reply.handoff import HandoffPacket, Withheld
from voice_agent.reply.posting import PostError, target_of
from voice_agent.reply.spool import Spool, Spooled
from voice_agent.reply.webhook import Sending, WebhookHandoffSink, resend, send, signing_key

KEY = b"a key of sixteen or more"
PACKET = HandoffPacket(
    call="call-7",
    turn=2,
    reason="VERDICT",
    question="我的号码是13800138000，退款多久",
    evidence=(("refund", "三天到账。"),),
    withheld=Withheld("五天到账。", "NUM_UNSUPPORTED"),
)


class Pauses(list[float]):
    """Waits for nothing and remembers for how long."""


def sending(url: str, *, attempts: int = 3, timeout_s: float = 0.5, jitter: float = 1.0) -> Sending:
    pauses = Pauses()
    made = Sending(
        target_of(url), KEY, timeout_s, attempts, lambda: jitter, pauses.append, lambda: 1_800_000_000.5
    )
    PAUSES[id(made)] = pauses
    return made


PAUSES: dict[int, Pauses] = {}


def sink(how: Sending, folder: Path) -> WebhookHandoffSink:
    return WebhookHandoffSink(how, Spool(folder), Masker().mask)


def test_a_packet_is_delivered_signed_and_masked(tmp_path: Path) -> None:
    """One POST: the call's id as key, a signature over time and body that the shared key verifies, no phone number."""
    with Receiver([200]) as receiver:
        delivery = sink(sending(receiver.url), tmp_path).deliver(PACKET)
    (request,) = receiver.requests
    assert delivery.taken and "127.0.0.1" in delivery.where
    assert request.line == "POST /packets?team=a HTTP/1.1"
    assert request.headers["idempotency-key"] == "call-7"
    signed = hmac.new(KEY, b"1800000000." + request.body, hashlib.sha256).hexdigest()
    assert request.headers["x-handoff-signature"] == f"sha256={signed}"
    assert request.headers["x-handoff-timestamp"] == "1800000000"
    body = json.loads(request.body)
    assert body["question"] == "我的号码是〈PHONE:1〉，退款多久" and b"13800138000" not in request.body
    assert (body["schema"], body["revision"], body["withheld"]["reason"]) == (1, 1, "NUM_UNSUPPORTED")
    assert list(tmp_path.glob("*.json")) == []


def test_a_packet_that_grew_is_a_later_revision(tmp_path: Path) -> None:
    """The same key, a higher revision: the receiver replaces what it has."""
    with Receiver([200]) as receiver:
        delivering = sink(sending(receiver.url), tmp_path)
        delivering.deliver(PACKET)
        delivering.deliver(PACKET.with_words("快一点"))
    assert [json.loads(request.body)["revision"] for request in receiver.requests] == [1, 2]
    assert {request.headers["idempotency-key"] for request in receiver.requests} == {"call-7"}


@pytest.mark.parametrize("first", [500, 502, 503, 429, 408, "cut", "noise"])
def test_a_failed_attempt_is_repeated(tmp_path: Path, first: int | str) -> None:
    """500 then 200 is a delivery, with one pause between; the body of both attempts is the same."""
    with Receiver([first, 200]) as receiver:
        how = sending(receiver.url)
        assert sink(how, tmp_path).deliver(PACKET).taken
    assert len(receiver.requests) == 2 and len({request.body for request in receiver.requests}) == 1
    assert PAUSES[id(how)] == [0.4]


@pytest.mark.parametrize("always", [500, "cut", "stall", "trickle", "noise", "flood"])
def test_a_receiver_that_never_answers_leaves_the_packet_in_the_spool(
    tmp_path: Path, always: int | str
) -> None:
    """After the last attempt the packet is kept, masked, and the reason is told; there are no more attempts."""
    with Receiver([always]) as receiver:
        delivery = sink(sending(receiver.url, attempts=2, timeout_s=0.3), tmp_path).deliver(PACKET)
    assert not delivery.taken and delivery.detail and delivery.where == str(tmp_path)
    assert receiver.connections <= 2
    (kept,) = tmp_path.glob("*.json")
    assert kept.name == "call-7.json" and "13800138000" not in kept.read_text("utf-8")
    assert kept.stat().st_mode & 0o077 == 0


def test_a_refused_connection_is_tried_with_growing_pauses(tmp_path: Path) -> None:
    """Each pause at most doubles, between half of it and all of it by the jitter given."""
    with nobody() as url:
        for jitter, pauses in ((1.0, [0.4, 0.8, 1.6]), (0.0, [0.2, 0.4, 0.8])):
            how = sending(url, attempts=4, jitter=jitter)
            assert not sink(how, tmp_path).deliver(PACKET).taken
            assert PAUSES[id(how)] == pauses


@pytest.mark.parametrize("status", [400, 401, 404, 410, 413, "redirect"])
def test_a_refusal_is_not_repeated(tmp_path: Path, status: int | str) -> None:
    """What would be answered the same again is asked once; a redirect is not followed, for nobody signed for it."""
    with Receiver([status]) as receiver:
        delivery = sink(sending(receiver.url), tmp_path).deliver(PACKET)
    assert not delivery.taken and len(receiver.requests) == 1
    assert receiver.requests[0].line.startswith("POST /packets")
    assert [path.name for path in tmp_path.glob("*.json")] == ["call-7.json"]


def test_neither_sent_nor_kept_is_a_failure(tmp_path: Path) -> None:
    """A spool that cannot be written does not stop the sending; both together are an OSError."""
    blocked = tmp_path / "a file"
    blocked.write_text("")
    with Receiver([200]) as receiver:
        assert sink(sending(receiver.url), blocked).deliver(PACKET).taken
    with nobody() as url, pytest.raises(OSError, match="not sent .* and not kept"):
        sink(sending(url, attempts=1), blocked).deliver(PACKET)


def test_the_next_start_sends_what_was_left_behind(tmp_path: Path) -> None:
    """Oldest first; what is taken leaves the spool."""
    spool = Spool(tmp_path)
    with nobody() as url:
        for call in ("a", "b", "c"):
            WebhookHandoffSink(sending(url, attempts=1), spool, str).deliver(
                HandoffPacket(call, 1, "GATE", "问")
            )
    with Receiver([200]) as receiver:
        assert resend(sending(receiver.url), spool, limit=2) == 2
        assert resend(sending(receiver.url), spool) == 1
    assert [request.headers["idempotency-key"] for request in receiver.requests] == ["a", "b", "c"]
    assert list(spool.waiting()) == []


def test_a_start_with_a_dead_receiver_costs_one_attempt(tmp_path: Path) -> None:
    """It stops at the first packet that nobody answers, and loses none."""
    spool = Spool(tmp_path)
    for call in ("a", "b"):
        spool.keep(Spooled(call, b"{}"))
    with Receiver([503]) as receiver:
        assert resend(sending(receiver.url), spool) == 0
    assert receiver.connections == 1 and len(list(spool.waiting())) == 2


def test_a_packet_that_is_refused_for_good_does_not_block_the_others(tmp_path: Path) -> None:
    """It is put aside for a person to look at, not tried at every start."""
    spool = Spool(tmp_path)
    for call in ("a", "b"):
        spool.keep(Spooled(call, b"{}"))
    with Receiver([413, 200]) as receiver:
        assert resend(sending(receiver.url), spool) == 1
    assert list(spool.waiting()) == [] and (tmp_path / "refused" / "a.json").is_file()


def test_no_attempt_is_no_delivery() -> None:
    """Zero attempts send nothing and say so."""
    with nobody() as url, pytest.raises(PostError):
        send(Spooled("a", b"{}"), sending(url), 0)


@pytest.mark.parametrize("variable", [None, "", "short"])
def test_a_webhook_without_a_key_is_a_configuration_error(variable: str | None) -> None:
    """Unsigned packets are never sent; the message names the variable."""
    with pytest.raises(ConfigError, match="VOICE_AGENT_HANDOFF_KEY"):
        signing_key(variable)
    assert signing_key("0123456789abcdef") == b"0123456789abcdef"


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/hook",
        "http://10.0.0.5/hook",
        "http://127.0.0.1.example.com/",
        "ftp://127.0.0.1/",
        "https://user:secret@example.com/",
        "https:///path",
        "//127.0.0.1/",
        "https://example.com:99999/",
        "https://example.com/#part",
        "",
    ],
)
def test_an_address_that_may_not_be_used(url: str) -> None:
    """Plain HTTP to another machine, other schemes, user names, no host."""
    with pytest.raises(ValueError, match=r"."):
        target_of(url)


@pytest.mark.parametrize(
    ("url", "host", "port", "path"),
    [
        ("https://desk.example.com/hook?team=a", "desk.example.com", 443, "/hook?team=a"),
        ("http://127.0.0.1:8080", "127.0.0.1", 8080, "/"),
        ("http://[::1]/x", "::1", 80, "/x"),
        ("http://localhost/x", "localhost", 80, "/x"),
    ],
)
def test_the_parts_of_an_address(url: str, host: str, port: int, path: str) -> None:
    """HTTPS to anywhere, HTTP to this machine."""
    target = target_of(url)
    assert (target.host, target.port, target.path, target.secure) == (
        host,
        port,
        path,
        url.startswith("https"),
    )


def test_a_full_spool_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is an error, not a silent loss; a packet that is already there may still be replaced."""
    monkeypatch.setattr("voice_agent.reply.spool.MAX_FILES", 2)
    spool = Spool(tmp_path)
    spool.keep(Spooled("a", b"1"))
    spool.keep(Spooled("b", b"1"))
    spool.keep(Spooled("b", b"2"))
    with pytest.raises(OSError, match="wait here undelivered"):
        spool.keep(Spooled("c", b"1"))
    assert {packet.key: packet.body for packet in spool.waiting()} == {"a": b"1", "b": b"2"}
