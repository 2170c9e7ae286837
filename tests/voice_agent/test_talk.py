"""The live door: its devices, what is left of a call, and what the terminal shows. Devices and models are scripted."""

from __future__ import annotations

import asyncio
import io
import json
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from audio.devices import Device
from audio.segments import SegmentRules
from audio.sound_line import SoundLine, Wanted
from audio.types import Samples
from audio.wav import read_wav
from tests.audio.sound_fakes import MIC, SPK, USB, FakeSystem
from tests.fakes import RULES, LevelDetector, ScriptedAnswers, ScriptedRecognizer, ScriptedSynthesizer
from voice_agent import phrases
from voice_agent.call.parts import Parts, Workers
from voice_agent.call.threads import Worker
from voice_agent.config import load_config
from voice_agent.doors import talk as door
from voice_agent.doors.cli import run
from voice_agent.doors.talk_screen import STATES, Screen, said
from voice_agent.floor.state import Caller, Floor, State
from voice_agent.live_call import Kept
from voice_agent.record.inspection import read_call
from voice_agent.record.telemetry import OFF
from voice_agent.talk import Talk, talk


def with_devices(monkeypatch: pytest.MonkeyPatch, *devices: Device) -> None:
    monkeypatch.setattr(door, "PortAudio", lambda: FakeSystem(list(devices)))


@pytest.mark.parametrize(
    ("devices", "argv", "says"),
    [
        ((), (), "没有找到麦克风"),
        ((), ("--list-devices",), "没有找到声音设备"),
        ((MIC,), (), "没有找到扬声器"),
        ((MIC, SPK), ("--input", "耳机"), "0 Built-in Microphone"),
        ((MIC, SPK, USB), ("--output", "7"), "没有这个设备"),
    ],
    ids=["none", "none to list", "no loudspeaker", "unknown name", "unknown number"],
)
def test_without_a_device_one_line_and_two(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], devices: Any, argv: Any, says: str
) -> None:
    """python-sounddevice#173: what is missing and where to look, exit 2, before any model is loaded."""
    with_devices(monkeypatch, *devices)
    monkeypatch.setattr(door, "open_agent", None)
    assert run(["talk", *argv]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("voice-agent: ") and says in line


def test_devices_are_listed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Number and name, as --input and --output take them, and which the system would take."""
    with_devices(monkeypatch, MIC, SPK, USB)
    assert run(["talk", "--list-devices"]) == 0
    mic, spk, usb = capsys.readouterr().out.splitlines()
    assert (
        MIC.name in mic and "默认输入" in mic and "默认输出" in spk and "默认" not in usb and "16000" in usb
    )


@dataclass
class Watching:
    """An onlooker that does something at a frame."""

    at: dict[int, Callable[[], None]] = field(default_factory=dict)
    frames: int = 0
    told: list[str] = field(default_factory=list)
    state: Callable[[], State] = State

    def begin(self, state: Callable[[], State]) -> None:
        self.state = state

    def tell(self, kind: str, data: dict[str, object]) -> None:
        self.told.append(kind)

    def sound(self, caller: Samples, agent: Samples) -> None:
        self.frames += 1
        self.at.get(self.frames, lambda: None)()


def held(tmp_path: Path, onlooker: Watching, *, record: bool, system: FakeSystem | None = None) -> Kept:
    """A call of silence over scripted parts, held in real time."""
    workers = Workers(Worker("hearing"), Worker("speaking"), Worker("delivering"))
    parts = Parts(
        recognizer=ScriptedRecognizer({}), answerer=ScriptedAnswers({}), synthesizer=ScriptedSynthesizer(),
        phrases={phrase: np.full(800, 0.25, dtype=np.float32) for phrase in phrases.ALL}, workers=workers,
        rules=RULES, segment_rules=SegmentRules(), preroll_s=0.3, detector=LevelDetector,
    )  # fmt: skip
    config = load_config(None, [f"paths.logs={tmp_path}"])
    agent: Any = SimpleNamespace(
        config=config, header={"models": {}}, parts=parts, timings_ms={"all": 1.0}, telemetry=OFF
    )
    agent.of_call = lambda call: agent
    with SoundLine(system or FakeSystem(), Wanted()) as sound:
        kept = asyncio.run(talk(agent, sound, Talk(date(2026, 11, 30), record), onlooker))
    for worker in (workers.hearing, workers.speaking, workers.delivering):
        worker.close()
    return kept


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_leaves_everything_complete(tmp_path: Path, number: signal.Signals) -> None:
    """Hanging up ends the call in order: the journal has its end, the recording its length, for its owner only."""
    before = signal.getsignal(number)
    onlooker = Watching({12: lambda: signal.raise_signal(number)})
    kept = held(tmp_path, onlooker, record=True)
    record = read_call(kept.journal)
    assert (record.ended, record.problems, onlooker.frames) == ("hung_up", (), 12)
    assert kept.recording is not None and kept.recording.stat().st_mode & 0o077 == 0
    recording = read_wav(kept.recording)
    assert (recording.channels, recording.warnings) == (2, ())
    assert recording.duration_s == pytest.approx(12 * 0.02)
    assert signal.getsignal(number) is before


def test_a_second_ctrl_c_is_obeyed_at_once(tmp_path: Path) -> None:
    """Whatever still holds the call: the journal stays readable."""

    def twice() -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        held(tmp_path, Watching({5: twice}), record=True)
    (path,) = tmp_path.glob("calls/*.jsonl")
    assert read_call(path).broken == 0
    (wav,) = tmp_path.glob("recordings/*.wav")
    assert read_wav(wav).warnings == ()


@pytest.mark.parametrize("record", [True, False])
def test_whether_it_is_recorded_is_written_down(tmp_path: Path, record: bool) -> None:
    """Nothing is recorded unasked, and the journal's first lines say which it was."""
    kept = held(tmp_path, Watching({3: lambda: signal.raise_signal(signal.SIGINT)}), record=record)
    header, ready = (json.loads(line) for line in kept.journal.read_text("utf-8").splitlines()[:2])
    assert header["recorded"] is record and ready["recorded"] is record
    assert bool(list(tmp_path.glob("**/*.wav"))) is record and (kept.recording is not None) is record


@pytest.mark.parametrize(
    ("record", "greeting"), [(True, phrases.GREETING_RECORDED), (False, phrases.GREETING)]
)
def test_the_greeting_says_whether_it_is_recorded(tmp_path: Path, record: bool, greeting: str) -> None:
    """Before the caller says anything, and in the journal as it was spoken."""
    kept = held(tmp_path, Watching({30: lambda: signal.raise_signal(signal.SIGINT)}), record=record)
    events = [json.loads(line) for line in kept.journal.read_text("utf-8").splitlines()]
    (spoken,) = [event for event in events if event["type"] == "spoken"]
    assert (spoken["text"], spoken["complete"]) == (greeting, True)


def test_devices_gone_for_good_end_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The journal tells of the loss, and the call is closed like any other."""
    monkeypatch.setattr("audio.sound_line.DEAD_S", 0.5)
    system = FakeSystem()

    def gone() -> None:
        system.devices = []
        system.opened[0].active = False

    kept = held(tmp_path, Watching({3: gone}), record=False, system=system)
    record = read_call(kept.journal)
    events = [json.loads(line) for line in kept.journal.read_text("utf-8").splitlines()]
    assert [e["state"] for e in events if e["type"] == "device" and e["side"] == "input"] == ["lost"]
    assert (record.ended, record.problems) == ("hung_up", ())


def test_every_state_has_a_name() -> None:
    """听 想 说 停 转接, and one for the end."""
    names = [STATES[floor][0] for floor in Floor]
    assert names == ["听", "想", "说", "停", "转接", "完"]


def test_the_moving_line_shows_state_levels_and_words() -> None:
    """The half sentence while it is spoken, then the whole one; a meter that rises at once and falls slowly."""
    screen = Screen(Console(file=io.StringIO(), width=100))
    state = State(floor=Floor.THINKING, caller=Caller.VOICED)
    screen.begin(lambda: state)
    empty = screen.line().plain
    screen.sound(np.full(320, 0.5, dtype=np.float32), np.zeros(320, dtype=np.float32))
    loud = screen.line().plain
    screen.sound(np.zeros(320, dtype=np.float32), np.zeros(320, dtype=np.float32))
    assert "想" in loud and loud.count("▮") > empty.count("▮") + 10
    assert 0 <= loud.count("▮") - screen.line().plain.count("▮") <= 1
    screen.tell("partial", {"text": "手机保"})
    assert "手机保" in screen.line().plain
    screen.tell("transcript", {"text": "手机保修多久"})
    assert "手机保修多久" in screen.line().plain
    screen.tell("partial", {"text": "很" * 300})
    assert screen.line().cell_len < 100


def test_what_stays_on_the_screen() -> None:
    """What both sides said, the devices, a hand-off and faults; nothing else."""
    device = {"side": "input", "state": "lost", "name": "vmic", "detail": "stream ended"}
    shown = {
        "transcript": said("transcript", {"text": ""}),
        "spoken": said("spoken", {"text": "十二个月。", "complete": False}),
        "device": said("device", device),
        "handoff": said("handoff", {"reason": "GATE", "delivery": "delivered"}),
        "error": said("error", {"where": "asr", "message": "broken"}),
    }
    texts = {kind: text.plain for kind, text in shown.items() if text is not None}
    assert "没有听清" in texts["transcript"] and "被打断" in texts["spoken"] and "vmic" in texts["device"]
    assert "GATE" in texts["handoff"] and "asr" in texts["error"]
    assert said("gate", {}) is None and said("ready", {}) is None


@pytest.mark.parametrize("terminal", [True, False])
def test_the_screen_comes_and_goes(terminal: bool) -> None:
    """With a terminal a line moves and is taken away at the end; without one only the lines that stay are printed."""
    out = io.StringIO()
    with Screen(Console(file=out, force_terminal=terminal, width=80)) as screen:
        screen.begin(State)
        screen.tell("transcript", {"text": "你好"})
    assert "你好" in out.getvalue() and ("▯" in out.getvalue()) is terminal
