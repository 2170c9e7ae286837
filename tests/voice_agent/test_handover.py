"""A call handed over, whole, through every kind of sink: what the caller hears, what is journalled, what is kept."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from audio.types import AudioFrame
from tests.fakes import Dialogue, MemorySink, ScriptedAnswers, ScriptedRecognizer, voice
from tests.voice_agent.receivers import Receiver, nobody
from tests.voice_agent.test_session import ANSWERS, SCRIPT, question
from tests.voice_agent.test_webhook import sending
from voice_agent import phrases
from voice_agent.call import handover
from voice_agent.call.recorded import Clip, RecordedCaller
from voice_agent.record.privacy import Masker
from voice_agent.reply.handoff import Delivery, HandoffPacket, HandoffSink
from voice_agent.reply.spool import Spool
from voice_agent.reply.webhook import WebhookHandoffSink


def refused(sink: HandoffSink, **changes: object) -> Dialogue:
    """A call that will be handed over by its gate."""
    recognizer, answers = ScriptedRecognizer(SCRIPT), ScriptedAnswers(ANSWERS)
    return Dialogue(recognizer, answers, sink=sink, **changes)  # type: ignore[arg-type]


def webhook(url: str, folder: Path) -> WebhookHandoffSink:
    return WebhookHandoffSink(sending(url, attempts=2, timeout_s=0.3), Spool(folder), Masker().mask)


def outcome(call: Dialogue) -> tuple[list[str], list[object], object]:
    deliveries = [event["delivery"] for event in call.journal.of("handoff")]
    return call.spoken(), deliveries, call.journal.of("call_ended")[0]["reason"]


def test_a_receiver_that_stumbles_once_takes_the_call(tmp_path: Path) -> None:
    """500, then 200: the caller hears the one phrase and is handed over."""
    with Receiver([500, 200]) as receiver:
        call = refused(webhook(receiver.url, tmp_path))
        call.run(question(5))
    assert outcome(call) == ([phrases.HANDOFF], ["delivered"], "handed_off")
    assert not call.journal.of("error")


@pytest.mark.parametrize("always", [503, "stall", 413, "redirect"])
def test_a_receiver_that_does_not_take_it_leaves_a_promise(tmp_path: Path, always: int | str) -> None:
    """The packet waits in the spool; the caller is told of the call back; the reason is in the journal."""
    with Receiver([always]) as receiver:
        call = refused(webhook(receiver.url, tmp_path))
        call.run(question(5))
    assert outcome(call) == ([phrases.HANDOFF, phrases.CALLBACK], ["spooled"], "callback")
    assert call.journal.of("handoff")[0]["detail"] and (tmp_path / "c1.json").is_file()


def test_neither_sent_nor_kept_is_told_as_it_is(tmp_path: Path) -> None:
    """No promise that nobody can keep: the caller is asked to call again."""
    (tmp_path / "spool").write_text("in the way")
    with nobody() as url:
        call = refused(webhook(url, tmp_path / "spool"))
        call.run(question(5))
    assert outcome(call) == ([phrases.HANDOFF, phrases.CALL_LATER], ["failed"], "handoff_failed")


class StuckSink:
    """Never comes back while the call lasts."""

    def __init__(self) -> None:
        self.over = threading.Event()

    def deliver(self, packet: HandoffPacket) -> Delivery:
        self.over.wait(10)
        return Delivery(True, "too late")


def test_a_sink_that_hangs_does_not_hold_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the phrase it is waited for within a limit; then the caller is told, and the call ends."""
    monkeypatch.setattr(handover, "DELIVERY_LIMIT_S", 0.05)
    sink = StuckSink()
    call = refused(sink, speed=5.0)
    call.run(question(5))
    sink.over.set()
    assert outcome(call) == ([phrases.HANDOFF, phrases.CALL_LATER], [], "handoff_failed")
    assert {event["where"] for event in call.journal.of("error")} == {"handoff"}


def test_words_over_the_promise_reach_the_spool_too() -> None:
    """The second phrase is shielded like the first, and what is said over it is kept."""
    call = refused(MemorySink(spools=True), phrase_s=6.0)
    call.run(
        question(5), Clip(voice(1, 0.8), "agent_started", 0.5), Clip(voice(2, 0.8), "agent_started", 0.5)
    )
    assert call.spoken() == [phrases.HANDOFF, phrases.CALLBACK]
    assert isinstance(call.sink, MemorySink)
    assert [packet.added for packet in call.sink.packets] == [
        (),
        ("退款多久到账",),
        ("退款多久到账", "不是我问的是发票"),
    ]


class HangsUp(RecordedCaller):
    """Goes as soon as the agent has been audible for half a second."""

    started_s: float | None = None

    async def read(self) -> AudioFrame | None:
        frame = await super().read()
        if frame is None or (self.started_s is not None and frame.start_s > self.started_s + 0.5):
            return None
        return frame

    def agent_started(self, at_s: float) -> None:
        self.started_s = at_s


def test_a_caller_who_hangs_up_over_the_phrase_is_still_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """The phrase stops; the packet was delivered all the same."""
    monkeypatch.setattr("tests.fakes.RecordedCaller", HangsUp)
    call = refused(MemorySink(), phrase_s=3.0)
    call.run(question(5))
    assert isinstance(call.sink, MemorySink) and len(call.sink.packets) == 1
    assert outcome(call) == ([phrases.HANDOFF], ["delivered"], "hung_up")
    assert call.journal.of("spoken")[0]["complete"] is False
