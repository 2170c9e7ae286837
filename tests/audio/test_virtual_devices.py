"""The sound line over PortAudio and PulseAudio: heard, played, lost and found again, without any model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from audio.wav import read_wav, write_wav
from tests.virtual_sound import lacking, virtual_sound

ROOT = Path(__file__).resolve().parents[2]

LIMIT_S = 240.0
"""For all of it, on a machine that is busy with other work."""

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(bool(lacking()), reason=f"run scripts/virtual_sound: {lacking()} missing"),
]


def told(process: subprocess.Popen[str], *news: str) -> list[list[str]]:
    """The lines up to the first that tells all of this."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(json.loads(line))
        if lines[-1][: len(news)] == list(news):
            return lines
    raise AssertionError(f"the process ended without {news}: {lines}")


def test_devices_that_come_and_go(tmp_path: Path) -> None:
    """A tone goes in at the microphone and comes out at the loudspeaker, before and after the microphone was away."""
    tone = (0.5 * np.sin(2 * np.pi * 440 * np.arange(48_000) / 16_000)).astype(np.float32)
    write_wav(tmp_path / "tone.wav", tone, 16_000)
    with virtual_sound(tmp_path / "sound") as sound:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.audio.echo_line"],
            cwd=ROOT, env={**os.environ, **sound.environment}, text=True, stdout=subprocess.PIPE,
        )  # fmt: skip
        watchdog = threading.Timer(LIMIT_S, process.kill)
        watchdog.start()
        try:
            assert {side for side, *_ in told(process, "output", "open")} <= {"input", "output"}
            with sound.speaker.recorded(tmp_path / "heard.wav"):
                sound.microphone.play(tmp_path / "tone.wav")
                told(process, "input", "heard")
            sound.microphone.pull_out()
            told(process, "input", "lost", "vmic")
            sound.microphone.plug_in()
            told(process, "input", "back", "vmic")
            sound.microphone.play(tmp_path / "tone.wav")
            told(process, "input", "heard")
        finally:
            watchdog.cancel()
            process.kill()
            process.communicate()
    heard = read_wav(tmp_path / "heard.wav").samples
    loud = heard[np.abs(heard) > 0.01]
    assert np.abs(heard).max() == pytest.approx(0.5, abs=0.1) and len(loud) > 8000
