"""Laws of a call over a WebSocket, on a real port with scripted models: answered, cut, broken off and gone on with."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from audio.wav import read_wav
from retrieval.types import GateReason, Outcome
from tests.fakes import Scripted, pause, voice
from tests.voice_agent.serving import until
from tests.voice_agent.wiring import LONG, REFUND, journal, kinds, page, speech, wired
from voice_agent import phrases
from voice_agent.record.schema import validate_event
from voice_agent.service import outgoing, socket_line

pytestmark = pytest.mark.asyncio

QUIET = ("duties.greeting=false",)


async def test_a_question_is_answered_aloud(tmp_path: Path) -> None:
    """From `ready` to `ended`: what was heard, what it rests on with the span, the verdict, the sound, the end."""
    with speech() as parts:
        async with wired(tmp_path, *QUIET, speech=parts) as there, page(there) as one:
            ready = await one.begin()
            await one.say(voice(1, 0.6), pause(1.2))
            assert (await one.event("transcript"))["text"] == "退款多久到账"
            assert (await one.event("gate"))["outcome"] == "ANSWER"
            sentence = await one.event("sentence")
            spoken = await one.event("spoken")
            await one.tell(type="hang_up")
            ended = await one.until(lambda m: m["type"] == "ended")
            await one.socket.wait_closed()
    assert (ready["rate"], ready["greeting"], ready["recorded"]) == (16000, None, False)
    assert sentence["passed"] and sentence["evidence"][0]["span"] == "退款三天到账。"
    assert spoken["complete"] is True and one.samples >= len(REFUND[:-4]) * 800
    states = [m["state"] for m in one.seen if isinstance(m, dict) and m["type"] == "state"]
    assert states[:3] == ["listening", "thinking", "speaking"]
    assert (ended["reason"], one.socket.close_code) == ("hung_up", 1000)
    header, *events = journal(there)
    assert (header["call"], header["door"], header["client"]) == (ready["call"], "page", "local")
    assert [fault for event in events for fault in validate_event(event)] == []
    assert (events[-1]["type"], there.service.parts.host.taken) == ("call_ended", 0)


async def test_what_is_not_answered_is_handed_over(tmp_path: Path) -> None:
    """The hand-off is told with its reason, its phrase is heard, and then the call ends by itself."""
    refused = {"月球上怎么退货": Scripted(Outcome.REFUSE, GateReason.LOW_SCORE)}
    with speech(refused) as parts:
        async with wired(tmp_path, *QUIET, speech=parts) as there, page(there) as one:
            await one.begin()
            await one.say(voice(5, 0.6), pause(1.2))
            assert (await one.event("gate"))["outcome"] == "REFUSE"
            handed = await one.event("handoff")
            ended = await one.until(lambda m: m["type"] == "ended")
            await one.socket.wait_closed()
    assert (handed["reason"], handed["delivery"]) == ("GATE", "delivered")
    assert (ended["reason"], one.socket.close_code, one.samples >= 3200) == ("handed_off", 1000, True)
    assert len(list((tmp_path / "logs" / "handoff").glob("*.json"))) == 1


async def test_the_greeting_tells_of_the_recording(tmp_path: Path) -> None:
    """Who agrees to be recorded is told so aloud; both sides are kept, for their owner only."""
    with speech() as parts:
        async with wired(tmp_path, speech=parts) as there, page(there) as one:
            ready = await one.begin(record=True)
            await one.say(pause(0.6))
            await one.hears()
            await one.say(pause(1.0))
            spoken = await one.event("spoken")
    assert ready["greeting"] == spoken["text"] == phrases.GREETING_RECORDED and ready["recorded"] is True
    (wav,) = (tmp_path / "logs" / "recordings").glob("*.wav")
    assert wav.stat().st_mode & 0o077 == 0 and read_wav(wav).channels == 2
    (consent,) = kinds(journal(there), "consent")
    assert (consent["given"], consent["how"]) == (True, "caller")


async def test_the_caller_cuts_the_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page is told to drop what it has not played; the words that cut are answered."""
    monkeypatch.setattr(outgoing, "TRUSTED_S", 0.0)
    with speech({"退款多久到账": Scripted(sentences=((LONG, None),))}) as parts:
        async with wired(tmp_path, *QUIET, speech=parts) as there, page(there) as one:
            await one.begin()
            await one.say(voice(1, 0.6), pause(1.0))
            await one.hears()
            one.acks = False
            await one.say(voice(3, 1.8), pause(1.0))
            flush = await one.until(lambda m: m["type"] == "flush")
            assert flush["samples"] == one.samples
            one.acks = True
            cut = await one.event("spoken")
            assert (await one.event("barge_in"))["heard"]
            again = await one.event("sentence")
    assert cut["complete"] is False and again["text"] == REFUND


async def test_a_broken_connection_is_gone_on_with(tmp_path: Path) -> None:
    """What had not come comes again, in order, nothing twice; speech waited; the journal tells of the gap."""
    with speech({"退款多久到账": Scripted(sentences=((LONG, None),))}) as parts:
        async with wired(tmp_path, *QUIET, speech=parts) as there:
            async with page(there) as one:
                ready = await one.begin()
                await one.say(voice(1, 0.6), pause(1.0))
                await one.hears()
                one.socket.transport.abort()
            (call,) = there.service.parts.board.calls
            await until(lambda: call.line.delay_s is None)
            spoken_by_then = one.samples
            await asyncio.sleep(0.3)
            async with page(there, f"resume.{ready['resume']}") as two:
                await two.tell(type="resume", received=len(one.took))
                resumed = await two.until(lambda m: m["type"] == "resumed")
                two.samples = spoken_by_then
                await two.say(pause(2.0))
                spoken = await two.event("spoken")
                await two.tell(type="hang_up")
                await two.until(lambda m: m["type"] == "ended")
    assert resumed["call"] == ready["call"] and spoken["complete"] is True
    assert two.samples == pytest.approx(len(LONG[:-4]) * 800, abs=16000)
    assert [event["state"] for event in kinds(journal(there), "device")] == ["lost", "back"]
    assert len(there.service.journals()) == 1


async def test_a_second_connection_takes_the_call_over(tmp_path: Path) -> None:
    """The first is told, closed, and does not end the call; the place is one."""
    with speech() as parts:
        async with wired(tmp_path, *QUIET, speech=parts) as there, page(there) as one:
            ready = await one.begin()
            async with page(there, f"resume.{ready['resume']}") as two:
                await two.tell(type="resume", received=1)
                told = await one.until(lambda m: m["type"] == "error")
                await one.socket.wait_closed()
                await two.say(voice(1, 0.6), pause(1.2))
                assert (await two.event("sentence"))["passed"]
                assert there.service.parts.host.taken == 1
            assert (told["kind"], one.socket.close_code) == ("taken-over", 1008)


@pytest.mark.parametrize("gone", ["broken", "left", "idle"])
async def test_who_does_not_come_back_has_hung_up(
    tmp_path: Path, gone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After `resume_s`, at once if the page closed in order, and when no sound comes any more; nothing is left."""
    monkeypatch.setattr(socket_line, "IDLE_S", 0.3 if gone == "idle" else 15)
    resume_s = 60 if gone == "left" else 0.2
    with speech() as parts:
        async with wired(tmp_path, *QUIET, f"service.resume_s={resume_s}", speech=parts) as there:
            async with page(there) as one:
                await one.begin()
                if gone == "broken":
                    one.socket.transport.abort()
                elif gone == "idle":
                    assert (await one.until(lambda m: m["type"] == "error"))["kind"] == "idle"
            await until(lambda: there.service.parts.host.taken == 0)
            assert there.service.parts.board.calls == []
    assert journal(there)[-1]["reason"] == "hung_up"


async def test_a_call_keeps_the_agent_it_began_with(tmp_path: Path) -> None:
    """A reload closes the old one when its last call has ended."""
    with speech() as parts:
        async with wired(tmp_path, *QUIET, speech=parts) as there:
            opened = there.service.opened
            async with page(there) as one:
                await one.begin()
                await there.service.parts.desk.reload()
                assert opened.open == 2
                await one.say(voice(1, 0.6), pause(1.2))
                assert (await one.event("sentence"))["passed"]
            await until(lambda: opened.open == 1)


async def test_sigterm_hands_calls_over(tmp_path: Path) -> None:
    """Not ready and no new call at once; the sentence being said ends, the caller is handed over, then all ends."""
    with speech({"退款多久到账": Scripted(sentences=((LONG, None),))}) as parts:
        async with wired(tmp_path, *QUIET, "service.drain_s=0", speech=parts) as there, page(there) as one:
            await one.begin()
            await one.say(voice(1, 0.6), pause(1.0))
            await one.hears()
            os.kill(os.getpid(), signal.SIGTERM)
            await until(lambda: there.service.parts.host.draining)
            with pytest.raises(InvalidStatus, match="503"):
                async with page(there):
                    pass
            await one.say(pause(3.0))
            ended = await one.until(lambda m: m["type"] == "ended")
            await there.running
    (spoken,) = kinds(journal(there), "spoken")[:1]
    (handed,) = kinds(journal(there), "handoff")
    assert (spoken["complete"], handed["delivery"], ended["reason"]) == (True, "delivered", "handed_off")


async def test_who_talks_on_after_sigterm_is_cut_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`farewell_s` bounds it, also for a page that plays nothing any more."""
    monkeypatch.setattr(outgoing, "FULL_S", -1.0)
    options = (*QUIET, "service.drain_s=0", "service.farewell_s=0.3")
    with speech() as parts:
        async with wired(tmp_path, *options, speech=parts) as there, page(there) as one:
            await one.begin()
            os.kill(os.getpid(), signal.SIGTERM)
            assert (await one.until(lambda m: m["type"] == "ended"))["reason"] == "hung_up"
            with pytest.raises(ConnectionClosed):
                await one.next()
            await there.running
    assert journal(there)[-1]["type"] == "call_ended"
