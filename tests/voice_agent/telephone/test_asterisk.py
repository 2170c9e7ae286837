"""Asterisk's door on a real socket: calls held to their end, and peers that do wrong."""

from __future__ import annotations

import asyncio
import uuid
from pathlib import Path

import numpy as np
import pytest

from tests.voice_agent.serving import settings, until
from tests.voice_agent.telephone.exchange import ANSWER, QUIET, Asterisk, exchange, spoken
from voice_agent.errors import ConfigError
from voice_agent.telephone import asterisk, attending, line
from voice_agent.telephone.audiosocket import Kind, frame
from voice_agent.telephone.voices import DONE

HANG_UP = (int(Kind.HANG_UP), b"")


@pytest.mark.asyncio
async def test_a_caller_is_answered_and_handed_over(tmp_path: Path) -> None:
    """The sentence is heard at its length; asking for a person hangs up the socket, so that the dialplan goes on."""
    async with exchange(tmp_path) as service, Asterisk(service.port).calling() as caller:
        await caller.begin()
        await caller.say(spoken(1))
        async with asyncio.timeout(20):
            while not service.events("reply_ended"):
                await caller.say(np.zeros(160, dtype=np.float32))
        await caller.say(np.zeros(4000, dtype=np.float32))
        heard = caller.sound
        await caller.say(spoken(3))
        assert await caller.wait() == HANG_UP
        await until(lambda: service.host.taken == 0)
        sentence = np.count_nonzero(np.abs(heard) > 0.4) / 8000
        assert sentence == pytest.approx(len(ANSWER) * 0.05, abs=0.05)
        assert [event["reason"] for event in service.events("handoff")] == ["ASKED"]
        assert service.events("call_ended")[0]["reason"] == "handed_off"
        header = service.events("call")[0]
        assert header["client"] == f"audiosocket:{caller.name}"
        assert (tmp_path / "logs" / "handoff").is_dir()


@pytest.mark.asyncio
async def test_a_key_calls_for_a_person(tmp_path: Path) -> None:
    """Numbers are journalled masked and nothing else; 0 alone hands over, as asked for."""
    async with exchange(tmp_path) as service, Asterisk(service.port).calling() as caller:
        await caller.begin()
        for key in "13812345678#":
            await caller.send(frame(Kind.KEY, key.encode()))
        await until(lambda: service.events("keys"))
        await caller.send(frame(Kind.KEY, b"0"))
        assert await caller.wait() == HANG_UP
        await until(lambda: service.host.taken == 0)
        number, zero = (event["text"] for event in service.events("keys"))
        assert number.startswith("〈PHONE")
        assert zero == "0"
        assert service.events("halt")[0]["reason"] == "ASKED"


@pytest.mark.asyncio
async def test_a_caller_who_hangs_up_ends_the_call(tmp_path: Path) -> None:
    """By the frame, by closing, or cut in mid-frame: the journal is whole, and names the last as a lost line."""
    async with exchange(tmp_path, "service.calls=3") as service:
        for last in (frame(Kind.HANG_UP), b"", frame(Kind.SOUND, bytes(320))[:100]):
            async with Asterisk(service.port).calling() as caller:
                await caller.begin()
                await caller.say(np.zeros(800, dtype=np.float32))
                await caller.send(last)
        await until(lambda: len(service.events("call_ended")) == 3)
        await until(lambda: service.host.taken == 0)
        assert {event["reason"] for event in service.events("call_ended")} == {"hung_up"}
        (lost,) = service.events("device")
        assert lost["detail"] == "cut after 100 bytes of a frame: the connection was lost"


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "kind 0x47"),
        (frame(Kind.UUID, bytes(16)), "all zeros"),
        (b"\x01\x00\x08" + bytes(8), "8 bytes"),
        (frame(Kind.SOUND, bytes(320)), "before the UUID"),
        (frame(Kind.HANG_UP), "hung up before"),
    ],
    ids=["http", "nil uuid", "short uuid", "no uuid", "hang-up"],
)
@pytest.mark.asyncio
async def test_what_is_no_call_gets_none(tmp_path: Path, sent: bytes, why: str) -> None:
    """Closed at once, told to the operator in one line, no journal, no place taken."""
    async with exchange(tmp_path) as service, Asterisk(service.port).calling() as caller:
        await caller.send(sent)
        await until(lambda: caller.ended)
        assert caller.ended == [(-1, b"")]
        assert len(service.told) == 1
        assert why in service.told[0]
        assert service.journals() == []


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"\x10\xff\xff", "65535 bytes"),
        (b"\x10\x00\x03abc", "16-bit"),
        (b"\x01\x00\x10" + bytes(15) + b"\x01", "second"),
    ],
    ids=["oversize", "odd", "second uuid"],
)
@pytest.mark.asyncio
async def test_a_call_that_turns_to_garbage_is_ended(tmp_path: Path, sent: bytes, why: str) -> None:
    """The journal says what came; the far side is told that nothing follows."""
    async with exchange(tmp_path) as service, Asterisk(service.port).calling() as caller:
        await caller.begin()
        await caller.say(np.zeros(800, dtype=np.float32))
        await caller.send(sent)
        assert await caller.wait() == (Kind.ERROR, DONE)
        assert why in service.events("device")[0]["detail"]
        await until(lambda: service.events("call_ended"))


@pytest.mark.asyncio
async def test_one_uuid_is_one_call(tmp_path: Path) -> None:
    """A second connection under the same name is closed, and the first goes on."""
    name = uuid.uuid4()
    async with exchange(tmp_path) as service, Asterisk(service.port, name).calling() as first:
        await first.begin()
        await until(lambda: service.host.taken == 1)
        async with Asterisk(service.port, name).calling() as second:
            await second.begin()
            await until(lambda: second.ended)
        assert str(name) in service.told[0]
        assert not first.ended
        assert len(service.journals()) == 1


@pytest.mark.asyncio
async def test_beyond_the_places_a_person_takes_over(tmp_path: Path) -> None:
    """Nobody waits: the hang-up comes at once, and the dialplan goes on."""
    async with exchange(tmp_path, "service.calls=1") as service, Asterisk(service.port).calling() as first:
        await first.begin()
        await until(lambda: service.host.taken == 1)
        for _ in range(3):
            async with Asterisk(service.port).calling() as other:
                await other.begin()
                await until(lambda: other.ended)  # noqa: B023 - awaited within the round
                assert other.ended == [HANG_UP]
        assert len(service.journals()) == 1
        assert not first.ended


@pytest.mark.asyncio
async def test_a_service_that_goes_hands_its_callers_over(tmp_path: Path) -> None:
    """Who is on the line is handed over, who calls now is passed on at once."""
    async with exchange(tmp_path) as service, Asterisk(service.port).calling() as caller:
        await caller.begin()
        await until(lambda: service.host.taken == 1)
        service.host.drain()
        assert await caller.wait() == HANG_UP
        await until(lambda: service.host.taken == 0)
        assert service.events("call_ended")[0]["reason"] == "handed_off"
        async with Asterisk(service.port).calling() as late:
            await late.begin()
            assert await late.wait() == HANG_UP


@pytest.mark.asyncio
async def test_a_flood_of_connections_is_closed_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So many are open at once; those beyond are closed, and when some go there is room again."""
    monkeypatch.setattr(asterisk, "MAX_CONNECTIONS", 5)
    async with exchange(tmp_path) as service:
        opened = [await asyncio.open_connection("127.0.0.1", service.port) for _ in range(12)]
        closed = [reader for reader, _ in opened[5:]]
        async with asyncio.timeout(10):
            assert [await reader.read() for reader in closed] == [b""] * 7
        for _, writer in opened:
            writer.close()
        await until(lambda: len(service.told) == 5)
        async with Asterisk(service.port).calling() as caller:
            await caller.begin()
            await until(lambda: service.host.taken == 1)


@pytest.mark.asyncio
async def test_whoever_sends_nothing_holds_no_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow loris: a UUID that never ends, and a call that never speaks, are both closed by their time."""
    monkeypatch.setattr(attending, "FIRST_S", 0.3)
    monkeypatch.setattr(line, "MUTE_S", 0.5)
    async with exchange(tmp_path) as service:
        async with Asterisk(service.port).calling() as loris:
            await loris.send(frame(Kind.UUID, loris.name.bytes)[:-1])
            await until(lambda: loris.ended)
        assert "no call began" in service.told[0]
        async with Asterisk(service.port).calling() as mute:
            await mute.begin()
            await until(lambda: mute.ended)
        await until(lambda: service.events("call_ended"))
        assert "no sound for" in service.events("device")[0]["detail"]


@pytest.mark.asyncio
async def test_sound_faster_than_speech_ends_the_call(tmp_path: Path) -> None:
    """A minute of sound at once: two seconds are taken, the rest is refused, and the line is cut."""
    async with exchange(tmp_path) as service, Asterisk(service.port).calling() as caller:
        await caller.begin()
        for _ in range(60):
            await caller.send(frame(Kind.SOUND, bytes(16_000)))
        await until(lambda: caller.ended)
        await until(lambda: service.events("call_ended"))
        assert "faster" in service.events("device")[0]["detail"]
        assert service.events("call_ended")[0]["counters"]["input_refused_ms"] > 20_000
        assert service.events("call_ended")[0]["length_s"] < 3.5


@pytest.mark.asyncio
async def test_only_named_peers_are_read(tmp_path: Path) -> None:
    """A connection from elsewhere is closed before anything is read of it."""
    async with exchange(tmp_path, 'service.audiosocket_peers=["192.0.2.0/24"]') as service:
        async with Asterisk(service.port).calling() as stranger:
            await stranger.begin()
            await until(lambda: stranger.ended)
        assert service.journals() == []
    peers = 'service.audiosocket_peers=["127.0.0.1"]'
    async with exchange(tmp_path, peers) as service, Asterisk(service.port).calling() as known:
        await known.begin()
        await until(lambda: service.host.taken == 1)


def test_open_to_others_only_with_peers(tmp_path: Path) -> None:
    """AudioSocket has no keys: beyond this machine it must be said who may call."""
    service = settings(tmp_path, *QUIET, "service.audiosocket_host=0.0.0.0").service
    with pytest.raises(ConfigError, match="audiosocket_peers"):
        asterisk.bound(service)


def test_an_address_in_use_is_told_before_anything_is_loaded(tmp_path: Path) -> None:
    """One line that names the setting."""
    taken = asterisk.bound(settings(tmp_path, *QUIET).service)
    assert taken is not None
    with taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"audiosocket_port: 127.0.0.1:{port}"):
            asterisk.bound(settings(tmp_path, *QUIET, f"service.audiosocket_port={port}").service)
