"""The voice detector on made sounds and human recordings, with the real webrtcvad."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import webrtcvad
from numpy.typing import NDArray

from audio import pcm
from audio.errors import ModelError
from audio.segments import FrameFlag, SegmentRules, SegmentState, step
from audio.types import CALL_RATE_HZ, FRAME_SAMPLES, Activity, AudioFrame, Samples, Silent, Voiced
from audio.vad import VoiceDetector, VoiceRules, band_dbfs
from audio.wav import frames, read_wav

SPEECH = Path(__file__).parents[3] / "shared" / "data" / "speech"
TEN_S = 10 * CALL_RATE_HZ


def _heard(sound: Samples, rules: VoiceRules | None = None) -> list[Activity]:
    """The runs of a whole sound: detector and hysteresis with their defaults."""
    detector, state, runs = VoiceDetector(rules), SegmentState(), list[Activity]()
    for frame in frames(sound):
        flag = FrameFlag(frame.start_s, frame.end_s, detector.is_voiced(frame))
        state, activity = step(state, flag, SegmentRules())
        if runs and type(runs[-1]) is type(activity):
            runs.pop()
        runs.append(activity)
    return runs


def _voiced_s(runs: list[Activity]) -> float:
    return sum(run.length_s for run in runs if isinstance(run, Voiced))


def _at(sound: NDArray[np.float64], dbfs: float) -> Samples:
    """Scaled to a root mean square of `dbfs`, clipped to full scale."""
    scaled = sound / np.sqrt(np.mean(sound**2)) * 10 ** (dbfs / 20)
    return np.asarray(np.clip(scaled, -1, 1), dtype=np.float32)


def _noise(seed: int, slope: float, length: int = TEN_S) -> NDArray[np.float64]:
    """Noise whose amplitude falls with frequency to the power `slope`: 0 white, 0.5 pink, 1 brown."""
    spectrum = np.fft.rfft(np.random.default_rng(seed).standard_normal(length))
    hz = np.maximum(np.fft.rfftfreq(length, 1 / CALL_RATE_HZ), 20.0)  # flat below 20 Hz, or it is only drift
    return np.asarray(np.fft.irfft(spectrum / hz**slope, length), dtype=np.float64)


def _hum(harmonics: int) -> NDArray[np.float64]:
    t = np.arange(TEN_S) / CALL_RATE_HZ
    parts = [np.sin(2 * np.pi * 50 * k * t + k) / k for k in range(1, harmonics + 1)]
    return np.asarray(np.sum(parts, axis=0), dtype=np.float64)


def _recording(name: str) -> Samples:
    found = sorted(SPEECH.glob(name)) if SPEECH.is_dir() else []
    if not found:
        pytest.skip("the human recordings are not beside the project")
    return read_wav(found[0]).samples


def test_digital_silence_is_silence() -> None:
    """Nothing at all is one silent run."""
    assert _heard(np.zeros(TEN_S, dtype=np.float32)) == [Silent(0.0, 10.0)]


@pytest.mark.parametrize(
    ("slope", "dbfs"),
    # Brown noise ends earlier: louder it is clipped at every swing and no longer steady.
    [
        (slope, dbfs)
        for slope in (0.0, 0.5, 1.0)
        for dbfs in (-70, -50, -40, -30, -20, -10)
        if slope < 1 or dbfs < -10
    ],
)
def test_noise_at_any_level_is_silence(slope: float, dbfs: float) -> None:
    """White to brown, from a quiet line to a shout, from the first frame on: never a caller."""
    assert _heard(_at(_noise(7, slope), dbfs)) == [Silent(0.0, 10.0)]


@pytest.mark.parametrize("dbfs", [-40, -20, -6])
@pytest.mark.parametrize("harmonics", [1, 12])
def test_hum_is_silence(harmonics: int, dbfs: float) -> None:
    """Mains hum, pure and buzzing, which webrtcvad alone calls speech from -30 dBFS up."""
    assert _heard(_at(_hum(harmonics), dbfs)) == [Silent(0.0, 10.0)]


def test_webrtcvad_alone_would_not_do() -> None:
    """Why the gate exists: the library calls loud white noise speech for ever. If this ends, the gate can go."""
    alone = webrtcvad.Vad(2)
    loud = _at(_noise(7, 0.0), -20)
    flags = [alone.is_speech(pcm.to_int16(frame.samples).tobytes(), CALL_RATE_HZ) for frame in frames(loud)]
    assert sum(flags) > 0.95 * len(flags)


def test_a_loud_buzzer_opens_the_gate_but_is_not_speech() -> None:
    """Why the library stays: bursts of a pure low tone stand far above the line and are still no caller."""
    t = np.arange(TEN_S) / CALL_RATE_HZ
    sound = 0.2 * np.sin(2 * np.pi * 350 * t) * (t % 0.7 < 0.35)
    sound += np.random.default_rng(1).standard_normal(TEN_S) * 1e-3
    buzz = sound.astype(np.float32)
    detector = VoiceDetector()
    flags = [
        (detector.is_voiced(frame), band_dbfs(frame.samples) - detector.noise_dbfs) for frame in frames(buzz)
    ]
    assert sum(above_db > 20 for _, above_db in flags) > 0.4 * len(flags)
    assert [type(run) for run in _heard(buzz)] == [Silent]


@pytest.mark.parametrize("per_second", [1, 3, 8])
@pytest.mark.parametrize("width", [1, 80, 320])
@pytest.mark.parametrize("peak", [0.1, 0.9])
def test_clicks_are_silence(per_second: int, width: int, peak: float) -> None:
    """A sample to 20 ms long, alone or as a rattle, over a quiet line."""
    rng = np.random.default_rng(4)
    sound = rng.standard_normal(TEN_S) * 1e-4
    for at in range(1_000, TEN_S - width, CALL_RATE_HZ // per_second):
        sound[at : at + width] += peak * np.exp(-3 * np.arange(width) / width) * rng.standard_normal(width)
    runs = _heard(np.clip(sound, -1, 1).astype(np.float32))
    assert [type(run) for run in runs] == [Silent]


@pytest.mark.parametrize("slope", [0.0, 0.5])
def test_noise_that_begins_in_the_call_is_learned(slope: float) -> None:
    """After two seconds of a quiet line a loud noise is voice for 0.6 s at most, then never again."""
    quiet = np.zeros(2 * CALL_RATE_HZ, dtype=np.float32)
    runs = _heard(np.concatenate([quiet, _at(_noise(8, slope), -15)]))
    assert [type(run) for run in runs] == [Silent, Voiced, Silent]
    assert runs[1].since_s == pytest.approx(2.0, abs=0.03)
    assert runs[1].length_s <= 0.62


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("cosyvoice*", 0.75, 0.88),  # 24 kHz float
        ("funasr_vad_70s*", 0.65, 0.82),
        ("aishell*", 0.68, 0.82),  # a quiet voice: -40 dBFS
        ("rapidasr*", 0.58, 0.75),  # quieter: -42 dBFS
        ("xiaozhi*", 0.60, 0.78),  # begins in mid-word
    ],
)
def test_human_speech_is_voiced_as_far_as_it_is_spoken(name: str, least: float, most: float) -> None:
    """The share of a recording that is voice lies where the ear puts it: neither clipped nor all of it."""
    sound = _recording(name)
    share = _voiced_s(_heard(sound)) * CALL_RATE_HZ / len(sound)
    assert least < share < most


def test_the_pauses_of_a_long_recording_are_found() -> None:
    """Seventy seconds of talk fall into utterances: many runs, none longer than a breath holds."""
    runs = _heard(_recording("funasr_vad_70s*"))
    voiced = [run for run in runs if isinstance(run, Voiced)]
    assert 30 <= len(voiced) <= 80
    assert max(run.length_s for run in voiced) < 10
    assert sum(run.length_s > 0.7 for run in runs[1:-1] if isinstance(run, Silent)) >= 5


def test_two_sentences_have_one_pause_between_them() -> None:
    """A second of digital silence between two sentences is measured to a frame or two."""
    runs = _heard(_recording("xiaozhi*"))
    assert [type(run) for run in runs] == [Silent, Voiced, Silent, Voiced, Silent]
    assert runs[2].length_s == pytest.approx(1.0, abs=0.04)
    assert runs[0].length_s < 0.2


@pytest.mark.parametrize("slope", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("name", ["aishell*", "cosyvoice*", "funasr_english*", "xiaozhi*"])
def test_speech_ten_decibels_above_noise_is_still_voiced(name: str, slope: float) -> None:
    """At 10 dB SNR at least three quarters of what is voiced without noise is voiced, and the noise alone is not."""
    clean = np.concatenate([np.zeros(2 * CALL_RATE_HZ, dtype=np.float32), _recording(name)])
    clean = clean / np.abs(clean).max() * np.float32(0.5)
    noise = _at(_noise(9, slope, len(clean)), pcm.dbfs(clean[2 * CALL_RATE_HZ :]) - 10)
    runs = _heard(clean + noise)
    assert isinstance(runs[1], Voiced)
    assert runs[1].since_s >= 2.0
    assert _voiced_s(runs) > 0.75 * _voiced_s(_heard(clean))


def test_the_same_call_is_heard_the_same_twice() -> None:
    """No randomness and no state outside the object: a new detector repeats the old one's flags."""
    sound = _at(_noise(3, 0.5) * (1 + np.sin(np.arange(TEN_S) / 3000)), -25)
    first, second = VoiceDetector(), VoiceDetector()
    flags = [first.is_voiced(frame) for frame in frames(sound)]
    assert flags == [second.is_voiced(frame) for frame in frames(sound)]
    assert any(flags)


def test_lost_sound_is_not_learned_as_the_noise_of_the_line() -> None:
    """Half a second that the device lost is silent and leaves the floor: after it the noise is still no caller."""
    noise = list(frames(_at(_noise(8, 0.5), -15)))
    silent = np.zeros(FRAME_SAMPLES, dtype=np.float32)
    detector = VoiceDetector()
    flags = [
        detector.is_voiced(AudioFrame(f.start, silent, lost=True) if 100 <= n < 125 else f)
        for n, f in enumerate(noise)
    ]
    assert sum(flags) <= 3
    swallowed = VoiceDetector()
    dips = [AudioFrame(f.start, silent) if 100 <= n < 125 else f for n, f in enumerate(noise)]
    assert sum(map(swallowed.is_voiced, dips)) > 10, "unmarked, the same silence would be learned"


def test_the_noise_floor_is_the_level_of_the_line() -> None:
    """After a second of steady noise the floor lies within 3 dB under the noise's level in the band."""
    detector = VoiceDetector()
    assert detector.noise_dbfs == pcm.SILENCE_DBFS
    cut = list(frames(_at(_noise(5, 0.0), -30)))[:50]
    for frame in cut:
        detector.is_voiced(frame)
    level = float(np.mean([band_dbfs(frame.samples) for frame in cut]))
    assert level - 3 < detector.noise_dbfs < level


def test_the_band_level_knows_its_band() -> None:
    """A full-scale sine at 1 kHz is -3 dBFS; hum at 50 Hz and hiss at 6 kHz are next to nothing."""
    t = np.arange(FRAME_SAMPLES) / CALL_RATE_HZ
    tones = {hz: np.sin(2 * np.pi * hz * t).astype(np.float32) for hz in (50, 1_000, 6_000)}
    assert band_dbfs(tones[1_000]) == pytest.approx(-3.01, abs=0.05)
    assert band_dbfs(tones[50]) < -60
    assert band_dbfs(tones[6_000]) < -60
    assert band_dbfs(np.full(FRAME_SAMPLES, 0.5, dtype=np.float32)) < -60


def test_a_short_last_frame_is_padded() -> None:
    """The tail of a stream is a frame with silence after it."""
    tail = _at(_noise(6, 0.0, FRAME_SAMPLES), -20)[:100]
    whole = np.pad(tail, (0, FRAME_SAMPLES - 100))
    assert VoiceDetector().is_voiced(AudioFrame(0, tail)) == VoiceDetector().is_voiced(AudioFrame(0, whole))


@pytest.mark.parametrize("shape", [(0,), (FRAME_SAMPLES + 1,), (FRAME_SAMPLES, 1)])
def test_a_frame_of_another_shape_is_an_error(shape: tuple[int, ...]) -> None:
    """Frames are cut by their source; a wrong one is named with its place, not heard as silence."""
    with pytest.raises(ModelError, match="frame at 1.00 s has shape"):
        VoiceDetector().is_voiced(AudioFrame(CALL_RATE_HZ, np.zeros(shape, dtype=np.float32)))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_samples_that_are_no_numbers_are_an_error(value: float) -> None:
    """NaN compares as not loud: it must raise, or a broken step would look like a silent caller."""
    samples = np.full(FRAME_SAMPLES, value, dtype=np.float32)
    with pytest.raises(ModelError, match="frame at 0.00 s holds NaN or infinity"):
        VoiceDetector().is_voiced(AudioFrame(0, samples))


@pytest.mark.parametrize(
    "rules", [{"mode": 4}, {"mode": -1}, {"margin_db": 0.0}, {"keep_db": 7.0}, {"floor_dbfs": 0.0}]
)
def test_rules_that_cannot_be_are_refused(rules: dict[str, int]) -> None:
    """The mode is one of four, staying voiced is never harder than becoming it, levels lie below full scale."""
    with pytest.raises(ValueError, match="mode must be 0 to 3"):
        VoiceRules(**rules)


def test_a_missing_detector_is_fatal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without webrtcvad there is no call: one line says what to install."""
    monkeypatch.setitem(sys.modules, "webrtcvad", None)
    with pytest.raises(ModelError, match="pip install webrtcvad-wheels") as caught:
        VoiceDetector()
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value.__cause__, ImportError)


def test_a_failure_of_the_library_is_not_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library's own error, raised by its real code on a rate it refuses, becomes a ModelError with the place."""
    true_is_speech = webrtcvad.Vad.is_speech

    def at_44100(vad: webrtcvad.Vad, data: bytes, _rate_hz: int) -> bool:
        return bool(true_is_speech(vad, data, 44_100))

    monkeypatch.setattr(webrtcvad.Vad, "is_speech", at_44100)
    with pytest.raises(ModelError, match="the frame at 0.02 s: webrtcvad failed"):
        VoiceDetector().is_voiced(AudioFrame(FRAME_SAMPLES, np.zeros(FRAME_SAMPLES, dtype=np.float32)))
