"""A live call over scripted devices and scripted models: frames as they come, devices that fail, hanging up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date

import numpy as np
import pytest

from audio.segments import SegmentRules
from audio.sound_line import DeviceNews
from audio.types import CALL_RATE_HZ, FRAME_SAMPLES, AudioFrame, Samples
from tests.fakes import (
    RULES,
    LevelDetector,
    MemorySink,
    Scripted,
    ScriptedAnswers,
    ScriptedRecognizer,
    ScriptedSynthesizer,
    voice,
)
from voice_agent import phrases
from voice_agent.call.clock import WallClock
from voice_agent.call.line import Line, Records
from voice_agent.call.live import LiveCaller
from voice_agent.call.parts import Parts, Workers
from voice_agent.call.session import Session
from voice_agent.call.threads import Worker
from voice_agent.record.journal import MemoryJournal
from voice_agent.record.schema import validate_event

ANSWER = Scripted(sentences=(("退款三天之内原路退回到账。[S1]", None),))


@dataclass
class Script:
    """A microphone that gives its frames as fast as they are read, now and then none, and silence after the sound."""

    sound: Samples
    at: int = 0
    calls: int = 0
    dead: bool = False
    waiting: list[DeviceNews] = field(default_factory=list)

    def take(self) -> Sequence[AudioFrame]:
        self.calls += 1
        if self.calls % 5 == 0:
            return []
        block = self.sound[self.at : self.at + FRAME_SAMPLES]
        frame = AudioFrame(self.at, np.pad(block, (0, FRAME_SAMPLES - len(block))))
        self.at += FRAME_SAMPLES
        return [frame]

    def news(self) -> list[DeviceNews]:
        news, self.waiting = self.waiting, []
        return news


@dataclass
class LiveCall:
    """A session on the caller's own time. `each` is called with the caller once a frame."""

    microphone: Script
    each: Callable[[LiveCaller, Session], None] = lambda caller, session: None
    delay_s: Callable[[], float | None] = lambda: 0.2
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    sink: MemorySink = field(default_factory=MemorySink)
    recognizer: ScriptedRecognizer = field(
        default_factory=lambda: ScriptedRecognizer({1: "退款多久到账", 6: "转人工"})
    )
    agent_side: list[Samples] = field(default_factory=list)

    def run(self) -> Session:
        return asyncio.run(self._run())

    async def _run(self) -> Session:
        workers = Workers(Worker("hearing"), Worker("speaking"), Worker("delivering"))
        sounds = {phrase: np.full(8000, 0.25, dtype=np.float32) for phrase in phrases.ALL}
        answers = ScriptedAnswers({"退款多久到账": ANSWER})
        parts = Parts(self.recognizer, answers, ScriptedSynthesizer(), sounds, workers, RULES, SegmentRules(),
                      0.3, LevelDetector)  # fmt: skip
        caller = LiveCaller(self.microphone, self.microphone, self.journal)
        line = Line(caller, WallClock(None), self._out, self.delay_s, lambda: {"output_underruns": 3})
        session = Session(parts, line, Records("c1", date(2026, 11, 30), self.journal, self.sink))
        self._frame = lambda: self.each(caller, session)
        async with asyncio.timeout(30):
            await session.run()
        for worker in (workers.hearing, workers.speaking, workers.delivering):
            worker.close()
        return session

    def _out(self, caller: Samples, agent: Samples) -> None:
        self.agent_side.append(agent)
        self._frame()

    def of(self, kind: str) -> list[dict[str, object]]:
        return self.journal.of(kind)  # type: ignore[return-value]


def question(line: int = 1) -> Script:
    return Script(np.concatenate([np.zeros(8000, dtype=np.float32), voice(line)]))


def hang_up_after(kind: str, call: LiveCall) -> Callable[[LiveCaller, Session], None]:
    """Hangs up at the first frame after such an event."""
    return lambda caller, session: caller.hang_up() if call.of(kind) else None


def test_a_question_at_the_microphone_is_answered() -> None:
    """Frames come when they come; hanging up ends the call with everything in the journal."""
    call = LiveCall(question())
    call.each = hang_up_after("reply_ended", call)
    session = call.run()
    (spoken,) = call.of("spoken")
    assert spoken["complete"] and session.state.turn == 1
    (ended,) = call.of("call_ended")
    assert ended["reason"] == "hung_up" and ended["counters"]["output_underruns"] == 3  # type: ignore[index]
    assert call.journal.events[-1]["type"] == "call_ended"


def test_what_is_heard_is_later_than_what_is_given() -> None:
    """The devices' delay is part of what the caller waits, and of when a sentence was heard."""
    starts = []
    for delay_s in (0.0, 0.5):
        call = LiveCall(question(), delay_s=lambda delay_s=delay_s: delay_s)  # type: ignore[misc]
        call.each = hang_up_after("reply_ended", call)
        call.run()
        given = next(n for n, side in enumerate(call.agent_side) if side.any()) * FRAME_SAMPLES / CALL_RATE_HZ
        starts.append(float(call.of("spoken")[0]["start_s"]) - given)  # type: ignore[arg-type]
    assert starts[0] == pytest.approx(0.0, abs=0.021) and starts[1] == pytest.approx(0.5, abs=0.021)


def test_a_stalled_loudspeaker_holds_the_speech() -> None:
    """While nothing can be heard nothing is taken, and the sentence is whole when it can be again."""
    call = LiveCall(question())
    since: list[int] = []

    def stalled() -> float | None:
        if call.of("sentence"):
            since.append(len(call.agent_side))
        return None if 0 < len(since) < 100 else 0.1

    call.delay_s = stalled
    call.each = hang_up_after("reply_ended", call)
    call.run()
    held = call.agent_side[since[0] : since[0] + 95]
    assert not np.concatenate(held).any()
    heard = np.concatenate(call.agent_side)
    assert np.count_nonzero(heard) == len("退款三天之内原路退回到账。") * 800
    assert call.of("spoken")[0]["complete"] is True


def test_a_dead_loudspeaker_is_a_line_that_ends() -> None:
    """The hand-off phrase cannot be heard: that is written down, the packet is delivered, and the call ends."""
    call = LiveCall(question(6), delay_s=lambda: None)

    def gone(caller: LiveCaller, session: Session) -> None:
        call.microphone.dead = bool(call.of("handoff"))

    call.each = gone
    call.run()
    assert len(call.of("handoff_unspoken")) == 1 and len(call.sink.packets) == 1
    assert call.of("call_ended")[0]["reason"] == "hung_up" and call.of("spoken") == []


def test_hanging_up_inside_a_sentence_ends_at_once() -> None:
    """The sentence is cut, recorded as far as it was heard, and no task outlives the call."""
    call = LiveCall(question())
    call.each = lambda caller, session: caller.hang_up() if call.agent_side[-1].any() else None
    call.run()
    assert np.count_nonzero(np.concatenate(call.agent_side)) == FRAME_SAMPLES
    (spoken,) = call.of("spoken")
    assert spoken["complete"] is False and call.journal.events[-1]["type"] == "call_ended"


def test_what_becomes_of_the_devices_is_journalled() -> None:
    """Each change is one event with the side, the device and the moment, and none ends the call."""
    call = LiveCall(question())

    def lose(caller: LiveCaller, session: Session) -> None:
        if len(call.agent_side) == 10:
            call.microphone.waiting = [
                DeviceNews("input", "lost", "vmic", "stream ended"),
                DeviceNews("input", "back", "vmic", "44100 Hz"),
            ]
        hang_up_after("reply_ended", call)(caller, session)

    call.each = lose
    call.run()
    lost, back = call.of("device")
    assert (lost["side"], lost["state"], lost["name"], back["state"]) == ("input", "lost", "vmic", "back")
    assert lost["t"] == pytest.approx(0.2, abs=0.041)
    assert [validate_event(event) for event in (lost, back)] == [[], []]
    assert call.of("reply_ended")[0]["outcome"] == "answered"


def test_no_model_runs_on_the_event_loop() -> None:
    """Hearing and speaking work on threads of their own, whatever feeds the call."""
    threads: set[str] = set()

    class Ears(ScriptedRecognizer):
        def transcribe(self, samples: Samples, voiced_s: float):  # type: ignore[no-untyped-def]
            threads.add(threading.current_thread().name)
            return super().transcribe(samples, voiced_s)

    call = LiveCall(question(), recognizer=Ears({1: "退款多久到账"}))
    call.each = hang_up_after("reply_ended", call)
    call.run()
    assert threads == {"hearing"}


def test_a_slow_reader_of_frames_does_not_block_the_loop() -> None:
    """Between frames the loop is free: a task beside the call runs while the microphone is silent."""

    async def beside() -> int:
        microphone = Script(np.zeros(0, dtype=np.float32))
        microphone.take = list  # type: ignore[method-assign]
        caller = LiveCaller(microphone, microphone, MemoryJournal())
        reading = asyncio.ensure_future(caller.read())
        turns = 0
        while turns < 20:
            await asyncio.sleep(0.001)
            turns += 1
        caller.hang_up()
        assert await reading is None
        return turns

    assert asyncio.run(beside()) == 20
