"""A live call without hardware: the command itself on virtual devices, a recorded caller, the agent heard again."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audio.asr import Listening, WhisperRecognizer
from audio.cer import character_error_rate
from audio.types import CALL_RATE_HZ
from audio.wav import read_wav
from tests.virtual_sound import VirtualSound, lacking, virtual_sound
from voice_agent.record.inspection import read_call
from voice_agent.weights.store import require

ROOT = Path(__file__).resolve().parents[2]
CALLS = ROOT / "data" / "calls"

LIMIT_S = 300.0
"""For anything to happen, on a machine that is busy with other work."""

ON_THE_WAY_S = 1.0
"""From the call's last sample to the end of the recording: the reserve, the device and two sound servers."""

NEAR = 0.5
"""Character error rate at which it is plainly the same answer, heard over two sound servers; another has over 0.8."""

pytestmark = [
    pytest.mark.models,
    pytest.mark.live,
    pytest.mark.skipif(bool(lacking()), reason=f"run scripts/virtual_sound: {lacking()} missing"),
]


@dataclass
class RunningCall:
    """`voice-agent talk` in a process of its own, followed by its journal."""

    process: subprocess.Popen[str]
    logs: Path
    seen: list[dict[str, Any]] = field(default_factory=list)

    def of(self, kind: str, **facts: object) -> list[dict[str, Any]]:
        lines = [
            line for path in self.logs.glob("calls/*.jsonl") for line in path.read_text("utf-8").splitlines()
        ]
        events = [json.loads(line) for line in lines]
        return [e for e in events if e["type"] == kind and all(e[key] == is_ for key, is_ in facts.items())]

    def wait_for(self, kind: str, count: int = 1, **facts: object) -> list[dict[str, Any]]:
        """Until the journal holds so many such events."""
        give_up = time.monotonic() + LIMIT_S
        while len(found := self.of(kind, **facts)) < count:
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < give_up, f"no {kind} {facts} within {LIMIT_S} s"
            time.sleep(0.05)
        return found


@contextlib.contextmanager
def call_on(sound: VirtualSound, logs: Path) -> Iterator[RunningCall]:
    command = [sys.executable, "-m", "voice_agent", "talk", "--input", "vmic", "--output", "vspk", "--record"]
    options = ["--as-of", "2026-11-30", "--set", f"paths.logs={logs}"]
    environment = {**os.environ, **sound.environment}
    process = subprocess.Popen(
        command + options,
        cwd=ROOT,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield RunningCall(process, logs)
    finally:
        process.kill()
        process.communicate()


def test_a_call_over_virtual_devices(tmp_path: Path) -> None:
    """The right answer is heard at the loudspeaker, the microphone may go and come back, Ctrl-C leaves all complete."""
    with virtual_sound(tmp_path / "sound") as sound, call_on(sound, tmp_path / "logs") as call:
        call.wait_for("device", 2, state="open")
        call.wait_for("spoken", complete=True)  # the greeting
        with sound.speaker.recorded(tmp_path / "first.wav"):
            sound.microphone.play(CALLS / "demo.wav")
            call.wait_for("reply_ended", outcome="answered")
            time.sleep(ON_THE_WAY_S)
        sound.microphone.pull_out()
        call.wait_for("device", side="input", state="lost")
        sound.microphone.plug_in()
        call.wait_for("device", side="input", state="back")
        with sound.speaker.recorded(tmp_path / "second.wav"):
            sound.microphone.play(CALLS / "demo_2.wav")
            call.wait_for("reply_ended", 2, outcome="answered")
            time.sleep(ON_THE_WAY_S)
        call.process.send_signal(signal.SIGINT)
        shown, complaints = call.process.communicate(timeout=LIMIT_S)
        assert (call.process.returncode, "Traceback" in complaints) == (0, False), complaints
    first, second = ("".join(e["text"] for e in call.of("spoken", turn=turn)) for turn in (1, 2))
    assert "十二个月" in first and heard_again(tmp_path / "first.wav", first) < NEAR
    assert "十八个月" in second and heard_again(tmp_path / "second.wav", second) < NEAR
    (path,) = (tmp_path / "logs" / "calls").glob("*.jsonl")
    record = read_call(path)
    assert (record.ended, record.problems, record.header["recorded"]) == ("hung_up", (), True)
    recording = read_wav(next((tmp_path / "logs" / "recordings").glob("*.wav")))
    assert (recording.channels, recording.warnings) == (2, ())
    assert record.length_s == pytest.approx(recording.duration_s, abs=0.1)
    assert all(word in shown for word in ("坐席：", "断开", "已恢复", "录音："))


def heard_again(wav: Path, spoken: str) -> float:
    """The character error rate of what was recorded at the loudspeaker, by the agent's own recogniser."""
    sound = read_wav(wav).samples
    sound = np.trim_zeros(sound)
    recognizer = WhisperRecognizer(
        require("whisper-base"), threads=2, hot_words=(), listening=Listening(5, 3.0)
    )
    heard = recognizer.transcribe(sound, len(sound) / CALL_RATE_HZ).raw
    rate = character_error_rate(spoken, heard)
    print(f"said {spoken}, heard at the loudspeaker {heard}: {rate:.2f}")
    return rate


def test_a_device_that_is_not_there(tmp_path: Path) -> None:
    """One clear line with what there is, exit 2, and no model was loaded for it."""
    with virtual_sound(tmp_path / "sound") as sound:
        done = subprocess.run(
            [sys.executable, "-m", "voice_agent", "talk", "--input", "耳机"],
            cwd=ROOT, env={**os.environ, **sound.environment}, capture_output=True, text=True, timeout=LIMIT_S,
        )  # fmt: skip
    (line,) = done.stderr.strip().splitlines()
    assert done.returncode == 2 and "耳机" in line and "vmic" in line and done.stdout == ""
