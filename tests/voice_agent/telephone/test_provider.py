"""The media stream's door on a real socket: calls held to their end, who is let in, and peers that do wrong."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from websockets.exceptions import InvalidStatus

from audio.types import Samples
from tests.fakes import Scripted
from tests.voice_agent.serving import until
from tests.voice_agent.telephone.exchange import spoken
from tests.voice_agent.telephone.provider_side import Provider, provider
from tests.voice_agent.wiring import LONG, REFUND, Wired, journal, kinds, speech, wired
from voice_agent.telephone import attending, line

pytestmark = pytest.mark.asyncio

QUIET = ("duties.greeting=false", "duties.prompt_after_s=null")
SILENCE: Samples = np.zeros(160, dtype=np.float32)


async def said(side: Provider, there: Wired, kind: str, times: int = 1) -> list[dict[str, Any]]:
    """Silence on the caller's side until so many events of this kind are in the journal."""
    found: list[dict[str, Any]] = []
    async with asyncio.timeout(20):
        while len(found) < times:
            await side.say(SILENCE)
            found = kinds(journal(there), kind) if there.service.journals() else []
    return found


async def test_a_caller_is_answered_and_handed_over(tmp_path: Path) -> None:
    """The sentence is heard whole and at its length; the stream is stopped with why, then closed in order."""
    with speech() as parts:
        async with wired(tmp_path, *QUIET, speech=parts) as there, provider(there.port) as side:
            await side.begin()
            await side.say(spoken(1))
            await said(side, there, "reply_ended")
            await side.say(np.zeros(8000, dtype=np.float32))
            sentence = np.count_nonzero(np.abs(side.heard) > 0.4) / 8000
            assert sentence == pytest.approx((len(REFUND) - 4) * 0.05, abs=0.06)
            assert side.got.count("mark") == 2
            await side.say(spoken(6))
            assert await side.wait() == (1000, "handed_off")
            assert side.reason == "handed_off"
            await until(lambda: there.service.parts.host.taken == 0)
            events = journal(there)
            assert events[0]["client"] == "local:CA1"
            assert kinds(events, "call_ended")[0]["reason"] == "handed_off"
            assert "clear" not in side.got


async def test_a_caller_who_cuts_in_hears_nothing_more(tmp_path: Path) -> None:
    """What the provider still holds is cleared, and the rest of the sentence is neither sent nor counted as heard."""
    with speech({"退款多久到账": Scripted(sentences=((LONG, None),))}) as parts:
        async with wired(tmp_path, *QUIET, speech=parts) as there, provider(there.port) as side:
            await side.begin()
            await side.say(spoken(1))
            await until(lambda: np.abs(side.heard).max() > 0.4)
            await side.say(spoken(3, 1.2))
            await said(side, there, "barge_in")
            await until(lambda: "clear" in side.got)
            cut = kinds(journal(there), "spoken")[0]
            assert cut["complete"] is False
            assert "media" not in side.got[side.got.index("clear") :]
            await said(side, there, "reply_ended", 2)
            assert "media" in side.got[side.got.index("clear") :]


async def test_a_key_calls_for_a_person(tmp_path: Path) -> None:
    """0 pressed alone hands over."""
    with speech() as parts:
        async with wired(tmp_path, *QUIET, speech=parts) as there, provider(there.port) as side:
            await side.begin()
            await side.tell("dtmf", dtmf={"digit": "0"})
            assert await side.wait() == (1000, "handed_off")
            assert kinds(journal(there), "halt")[0]["reason"] == "ASKED"


async def test_a_caller_who_hangs_up_ends_the_call(tmp_path: Path) -> None:
    """By stop, by a close, or by a broken connection: the journal is whole, and only the last is a lost line."""
    with speech() as parts:
        async with wired(tmp_path, *QUIET, "service.calls=3", speech=parts) as there:
            for way in ("stop", "close", "break"):
                async with provider(there.port) as side:
                    await side.begin()
                    await side.say(np.zeros(1600, dtype=np.float32))
                    if way == "stop":
                        await side.tell("stop", stop={"callSid": "CA1"})
                        assert (await side.wait())[0] == 1000
                    elif way == "close":
                        await side.socket.close()
                    else:
                        side.socket.transport.abort()
            await until(lambda: there.service.parts.host.taken == 0)
            texts = [path.read_text("utf-8") for path in there.service.journals()]
            lines = [json.loads(each) for text in texts for each in text.splitlines()]
            assert [each["reason"] for each in kinds(lines, "call_ended")] == ["hung_up"] * 3
            (lost,) = kinds(lines, "device")
            assert "the connection broke" in lost["detail"]


KEYED = ({"key": "va_ask_key"}, {})
HEADER = ({}, {"additional_headers": {"Authorization": "Bearer va_ask_key"}})


@pytest.mark.parametrize(("parameters", "options"), [KEYED, HEADER], ids=["parameter", "header"])
async def test_a_key_lets_in(tmp_path: Path, parameters: dict[str, str], options: dict[str, Any]) -> None:
    """In the start message or in a header; it stands in no journal."""
    with speech() as parts:
        async with (
            wired(tmp_path, *QUIET, keyed=True, speech=parts) as there,
            provider(there.port, **options) as side,
        ):
            await side.begin(parameters)
            await said(side, there, "ready")
            assert journal(there)[0]["client"].endswith(":CA1")
            assert "va_ask_key" not in there.service.journals()[0].read_text("utf-8")


@pytest.mark.parametrize(
    "parameters", [{}, {"key": "wrong"}, {"key": ""}, {"key": "密钥"}, {"Key": "va_ask_key"}]
)
async def test_without_a_key_no_call(tmp_path: Path, parameters: dict[str, str]) -> None:
    """Closed with the reason; nothing is written down, no place is taken."""
    with speech() as parts:
        async with wired(tmp_path, *QUIET, keyed=True, speech=parts) as there, provider(there.port) as side:
            await side.begin(parameters)
            code, reason = await side.wait()
            assert code == 1008
            assert "key" in reason
            assert there.service.journals() == []
            assert there.service.parts.host.taken == 0


@pytest.mark.parametrize(
    ("path", "options", "status"),
    [
        ("/media?key=va_ask_key", {}, 400),
        ("/media?x=va_ask_key", {}, 400),
        ("/media", {"origin": "https://elsewhere.example"}, 403),
        ("/media", {"additional_headers": {"Authorization": "Bearer wrong"}}, 401),
        ("/media/", {}, 403),
    ],
    ids=["key in url", "key by its look", "foreign page", "wrong header", "no such path"],
)
async def test_refused_before_the_upgrade(
    tmp_path: Path, path: str, options: dict[str, Any], status: int
) -> None:
    """A key in the URL, a web page of elsewhere, a wrong key in the header."""
    with speech() as parts:
        async with wired(tmp_path, *QUIET, keyed=status != 403, speech=parts) as there:
            with pytest.raises(InvalidStatus) as refused:
                async with provider(there.port, path, **options):
                    pass
            assert refused.value.response.status_code == status


MEDIA = {"payload": b64encode(b"\xff" * 160).decode()}


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([("media", {"media": MEDIA})], "media before start"),
        ([("start", {"start": {"streamSid": "MZ1", "mediaFormat": {"encoding": "opus"}}})], "format"),
        ([("stop", {})], "hung up before"),
        ([("begin", {}), ("media", {"media": {"payload": "%%%"}})], "base64"),
        ([("begin", {}), ("media", {"media": {"payload": "A" * 11_000}})], "at most 8000"),
        ([("begin", {}), ("start", {"start": {"streamSid": "MZ1"}})], "second start"),
        ([("begin", {}), ("connected", {})], "connected after"),
    ],
    ids=["out of order", "format", "stop first", "base64", "oversize", "second start", "connected late"],
)
async def test_what_is_wrong_is_told_by_the_close(
    tmp_path: Path, messages: list[tuple[str, dict[str, Any]]], why: str
) -> None:
    """One clear reason, code 1008; a call that had begun ends in order and its journal says the same."""
    with speech() as parts:
        async with wired(tmp_path, *QUIET, speech=parts) as there, provider(there.port) as side:
            for event, more in messages:
                await (side.begin() if event == "begin" else side.tell(event, **more))
            code, reason = await side.wait()
            assert code == 1008
            assert why in reason
            if messages[0][0] == "begin":
                await until(lambda: there.service.parts.host.taken == 0)
                assert why in kinds(journal(there), "device")[0]["detail"]
                assert kinds(journal(there), "call_ended")


async def test_binary_messages_are_no_media_stream(tmp_path: Path) -> None:
    """Raw sound is refused with the reason."""
    with speech() as parts:
        async with wired(tmp_path, *QUIET, speech=parts) as there, provider(there.port) as side:
            await side.socket.send(b"\xff" * 160)
            assert await side.wait() == (1008, "a binary message: media streams are JSON text")


async def test_beyond_the_places_the_provider_is_told_busy(tmp_path: Path) -> None:
    """At once, whatever was offered; the calls under way go on."""
    with speech() as parts:
        async with (
            wired(tmp_path, *QUIET, "service.calls=1", speech=parts) as there,
            provider(there.port) as first,
        ):
            await first.begin()
            await until(lambda: there.service.parts.host.taken == 1)
            for _ in range(3):
                async with provider(there.port) as other:
                    await other.begin()
                    assert await other.wait() == (1013, "busy")
                    assert other.reason == "busy"
            assert first.socket.close_code is None


async def test_whoever_sends_nothing_holds_no_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream that never starts, and one that never speaks, are both closed by their time."""
    monkeypatch.setattr(attending, "FIRST_S", 0.3)
    monkeypatch.setattr(line, "MUTE_S", 0.5)
    with speech() as parts:
        async with wired(tmp_path, *QUIET, speech=parts) as there:
            async with provider(there.port) as loris:
                async with asyncio.timeout(10):
                    await loris.socket.wait_closed()
                assert (loris.socket.close_code, loris.got) == (1008, [])
            async with provider(there.port) as mute:
                await mute.begin()
                async with asyncio.timeout(10):
                    await mute.socket.wait_closed()
                assert mute.reason == "hung_up"
            assert "no sound for" in kinds(journal(there), "device")[0]["detail"]


async def test_connects_dropped_at_random_leave_nothing(tmp_path: Path) -> None:
    """Forty streams, each cut at another moment: no place, no task and no open journal is left."""
    random = np.random.default_rng(7)
    with speech() as parts:
        async with wired(tmp_path, *QUIET, "service.calls=4", speech=parts) as there:
            before = len(asyncio.all_tasks())

            async def drop(messages: int, delay_s: float) -> None:
                async with provider(there.port) as side:
                    await side.tell("connected")
                    if messages:
                        await side.begin()
                    for _ in range(messages):
                        await side.tell("media", media=MEDIA)
                    await asyncio.sleep(delay_s)
                    side.socket.transport.abort()

            counts = [int(n) for n in random.integers(0, 20, 40)]
            for at in range(0, 40, 4):
                async with asyncio.TaskGroup() as tasks:
                    for count in counts[at : at + 4]:
                        tasks.create_task(drop(count, float(random.uniform(0, 0.1))))
            await until(lambda: there.service.parts.host.taken == 0)
            await until(lambda: len(asyncio.all_tasks()) <= before)
            for path in there.service.journals():
                assert "call_ended" in path.read_text("utf-8").splitlines()[-1]
