"""The online voice against a service that speaks its protocol and misbehaves."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from audio.edge import EdgeSynthesizer
from audio.edge_answer import EdgePatience
from audio.errors import ModelError, SpeechError, SpeechFault
from audio.types import CALL_RATE_HZ
from tests.audio.edge_service import END, HANG, SLAM, Step, metadata, mp3, pieces, serving

SHORT = EdgePatience(connect_s=1, first_audio_s=0.6, stall_s=0.4)
AMPLE = EdgePatience(connect_s=5, first_audio_s=10.0, stall_s=10.0)
TEXT = "退款在审核通过后三天内到账。"
TONE = pieces(mp3(2.0))


def fault_of(patience: EdgePatience = AMPLE) -> SpeechFault:
    with pytest.raises(SpeechError) as raised:
        list(EdgeSynthesizer(patience=patience).synthesize(TEXT))
    assert "\n" not in str(raised.value)
    return raised.value.fault


def test_a_sound_service_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: MP3 in portions becomes sound at the call's rate, with the silence at both ends taken off."""
    with serving(monkeypatch, [*TONE[:3], metadata(), *TONE[3:], END]) as service:
        blocks = list(EdgeSynthesizer(speed=1.2).synthesize(TEXT))
    sound = np.concatenate(blocks)
    assert sound.dtype == np.float32 and len(blocks) > 1
    assert len(sound) / CALL_RATE_HZ == pytest.approx(2.14, abs=0.06)
    assert np.abs(sound).max() == pytest.approx(0.5, abs=0.05)
    assert (
        TEXT in service.asked[0]
        and "rate='+20%'" in service.asked[0]
        and "XiaoxiaoNeural" in service.asked[0]
    )


def test_the_first_block_is_heard_before_the_last_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sound is decoded as it comes: the service still holds the end back while the beginning is there."""
    with serving(monkeypatch, [*TONE[:-2], HANG]):
        blocks = EdgeSynthesizer(patience=AMPLE).synthesize(TEXT)
        assert len(next(blocks)) > 0
        del blocks


def test_403_is_asked_again_once_with_the_clock_put_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """FIELD A7 35: forbidden is its own kind, named with what to do, and the library's second try is the only one."""
    monkeypatch.setattr("edge_tts.drm.DRM.clock_skew_seconds", 0.0)
    with serving(monkeypatch, status=403) as service:
        assert fault_of() is SpeechFault.FORBIDDEN
    assert service.connections == 2


@pytest.mark.parametrize("status", [429, 500, 503])
def test_any_other_status_is_unreachable(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    """The service is there and does not serve."""
    with serving(monkeypatch, status=status):
        assert fault_of() is SpeechFault.UNREACHABLE


def test_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a network the fault is known at once."""
    with serving(monkeypatch):
        pass
    assert fault_of() is SpeechFault.UNREACHABLE


@pytest.mark.parametrize(
    "script",
    [[END], [metadata(), END], [*pieces(mp3(1.0, level=0.0)), END], []],
    ids=["nothing", "words only", "silence", "closed at once"],
)
def test_no_audio_for_valid_text(monkeypatch: pytest.MonkeyPatch, script: list[Step]) -> None:
    """FIELD A7 36: an answer without sound, or with silence, is a fault and never an utterance."""
    with serving(monkeypatch, script):
        assert fault_of() is SpeechFault.NO_AUDIO


@pytest.mark.parametrize("text", ["……", "", "！？"])
def test_punctuation_only_is_never_sent(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """FIELD A7 36: the service answers it with nothing, so it is not asked."""
    with serving(monkeypatch, [*TONE, END]) as service, pytest.raises(ModelError, match="nothing to speak"):
        list(EdgeSynthesizer().synthesize(text))
    assert service.connections == 0


@pytest.mark.parametrize("ending", [[SLAM], []], ids=["reset", "closed"])
def test_a_stream_that_is_cut(monkeypatch: pytest.MonkeyPatch, ending: list[Step]) -> None:
    """A connection that ends before the turn does is a fault: half a sentence is not the sentence."""
    with serving(monkeypatch, [*TONE[:8], 0.05, *ending]):
        assert fault_of() is SpeechFault.CUT


@pytest.mark.parametrize(
    "script",
    [[HANG], [TONE[0], HANG], [*TONE[:-3], HANG], [step for piece in TONE for step in (piece, 0.3)]],
    ids=["no answer", "a stall before sound", "a stall after it", "slower than speech"],
)
def test_slow(monkeypatch: pytest.MonkeyPatch, script: list[Step]) -> None:
    """Nothing, a stall, or chunks that never get far enough ahead to be played: given up in time."""
    with serving(monkeypatch, script):
        assert fault_of(SHORT) is SpeechFault.SLOW


@pytest.mark.parametrize(
    "script",
    [
        [b"not an MP3 stream at all" * 200, END],
        ["Path:something.else\r\n\r\n{}", END],
        ["Path:audio.metadata\r\n\r\nno json", END],
        ["no head at all"],
    ],
    ids=["sound", "path", "metadata", "frame"],
)
def test_garbage(monkeypatch: pytest.MonkeyPatch, script: list[Step]) -> None:
    """Whatever else comes is a fault by name, not a crash."""
    with serving(monkeypatch, script):
        assert fault_of() in (SpeechFault.GARBLED, SpeechFault.NO_AUDIO)


def test_who_leaves_waits_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """An abandoned utterance closes its connection, and its thread ends."""
    with serving(monkeypatch, [step for piece in TONE * 5 for step in (piece, 0.02)]):
        blocks = EdgeSynthesizer(patience=SHORT).synthesize(TEXT)
        next(blocks)
        del blocks
        for _ in range(100):
            if "edge-tts" not in {thread.name for thread in threading.enumerate()}:
                return
            time.sleep(0.05)
    raise AssertionError("the thread goes on")


def test_a_wrong_voice_or_speed_is_named() -> None:
    """Wrong settings fail at the start, not in a call."""
    with pytest.raises(ModelError, match=r"tts\.edge_voice"):
        EdgeSynthesizer("Xiaoxiao")
    with pytest.raises(ModelError, match="speed 3"):
        EdgeSynthesizer(speed=3.0)


def test_importing_is_cheap() -> None:
    """The client and the decoder load with the first use."""
    code = "import sys, audio.edge; sys.exit(bool({'edge_tts', 'aiohttp', 'av'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
