"""Silero's graph behind the same gate, with the real graph of its wheel."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from audio.errors import ModelError
from audio.silero import SileroModel, SileroSpeech
from audio.types import CALL_RATE_HZ, Samples
from audio.vad import VoiceDetector
from audio.wav import frames, read_wav

ROOT = Path(__file__).parents[2]
SPOKEN = ROOT / "data" / "calls" / "plain.wav"

needs_wheel = pytest.mark.skipif(importlib.util.find_spec("silero_vad") is None, reason="the extra silero")


@pytest.fixture(scope="module")
def model() -> SileroModel:
    return SileroModel()


def _flags(model: SileroModel, sound: Samples) -> list[bool]:
    detector = VoiceDetector(speech=SileroSpeech(model))
    return [detector.is_voiced(frame) for frame in frames(sound)]


@needs_wheel
def test_a_question_is_voiced_and_the_line_is_not(model: SileroModel) -> None:
    """Silence before and after a sentence is silence; the sentence is mostly voice, about as webrtcvad hears it."""
    sound = read_wav(SPOKEN).samples
    flags, webrtc = _flags(model, sound), VoiceDetector()
    theirs = [webrtc.is_voiced(frame) for frame in frames(sound)]
    assert not any(flags[:25]) and not any(flags[-15:])
    assert sum(flags) > 50
    assert sum(a != b for a, b in zip(flags, theirs, strict=True)) < 0.25 * len(flags)


@needs_wheel
@pytest.mark.parametrize("level", [0.001, 0.03, 0.3])
def test_noise_is_silence(model: SileroModel, level: float) -> None:
    """White noise at any level, from the first frame on."""
    noise = np.random.default_rng(3).standard_normal(5 * CALL_RATE_HZ) * level
    assert not any(_flags(model, np.clip(noise, -1, 1).astype(np.float32)))


@needs_wheel
def test_calls_share_the_graph_but_no_memory(model: SileroModel) -> None:
    """A second call gives the flags of the first, whatever was heard between."""
    sound = read_wav(SPOKEN).samples
    first = _flags(model, sound)
    _flags(model, sound[::-1].copy())
    assert _flags(model, sound) == first


@needs_wheel
def test_frames_may_be_cut_anywhere(model: SileroModel) -> None:
    """The windows of the graph are its own: after the same samples its opinion is the same."""
    sound = read_wav(SPOKEN).samples[: CALL_RATE_HZ * 2]
    by_frame, by_sample_count = SileroSpeech(model), SileroSpeech(model)
    frame_opinions = [by_frame.is_speech(frame.samples) for frame in frames(sound)]
    odd = [by_sample_count.is_speech(sound[at : at + 512]) for at in range(0, len(sound), 512)]
    # 512 * 5 = 320 * 8: after that many samples both have heard the same windows.
    assert frame_opinions[7::8] == odd[4::5]


@needs_wheel
def test_neither_torch_nor_the_wheel_is_imported() -> None:
    """Its package imports torch, which costs seconds of every start: only its file is used."""
    loaded = "bool({'torch', 'silero_vad'} & set(sys.modules))"
    code = f"import sys, audio.silero as s; s.SileroModel(); sys.exit({loaded})"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=ROOT).returncode == 0


def test_a_missing_wheel_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line with what to install, or what to set instead."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ModelError, match=r"pip install 'voice-agent\[silero\]'") as caught:
        SileroModel()
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_graph_is_named(tmp_path: Path) -> None:
    """The path and how to mend it, in one line."""
    (tmp_path / "vad.onnx").write_bytes(b"not a graph")
    with pytest.raises(ModelError, match=r"vad\.onnx.*install silero-vad again") as caught:
        SileroModel(tmp_path / "vad.onnx")
    assert "\n" not in str(caught.value)


@needs_wheel
def test_a_failure_of_the_graph_is_not_silence(model: SileroModel) -> None:
    """A state of another shape, refused by the real runtime, becomes a ModelError."""
    with pytest.raises(ModelError, match="silero failed"):
        model.run(np.zeros(576, dtype=np.float32), np.zeros((1, 2, 3), dtype=np.float32))


class Doubtful:
    """A graph whose probability is none."""

    def run(self, _outputs: None, inputs: dict[str, Samples]) -> tuple[Samples, Samples]:
        return np.full((1, 1), np.nan, dtype=np.float32), inputs["state"]


@needs_wheel
def test_a_probability_that_is_none_is_not_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """NaN compares as not speech: it must raise, or a broken graph would look like a silent caller."""
    broken = SileroModel()
    monkeypatch.setattr(broken, "_session", Doubtful())
    with pytest.raises(ModelError, match="silero gave nan"):
        SileroSpeech(broken).is_speech(np.zeros(512, dtype=np.float32))


@needs_wheel
def test_the_gate_stays_in_charge(model: SileroModel) -> None:
    """Speech below the floor of levels is nobody, however sure the graph is."""
    sound = (read_wav(SPOKEN).samples * 1e-4).astype(np.float32)
    speech = SileroSpeech(model)
    assert any(speech.is_speech(frame.samples * 1e4) for frame in frames(sound))
    assert not any(_flags(model, sound))
