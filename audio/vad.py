"""Is the caller heard in this frame? A detector of speech AND an energy gate that learns the noise.

webrtcvad knows the shape of speech but calls every loud noise speech, for ever (white noise at -20 dBFS: all frames);
an energy gate alone opens for every click and cough. A frame counts only when both agree. The detector may be another
one (audio/silero.py); the gate stays.

The gate compares the frame's level in the telephone band, 300 to 3400 Hz (hum, rumble and line offset lie below),
with the noise floor: the 10th percentile of the last 3 s, which the gaps between syllables keep low while somebody
speaks. A noise that begins in the middle of a call would pass for those 3 s. But it is steady: over any 0.6 s the
levels of white to brown noise spread (10th to 90th percentile) by 6.2 dB at most, those of speech, nine recordings
from clean to 5 dB SNR, by 8.7 dB at least. So a steady stretch is taken as the new noise and what came before is
forgotten.

At the first frame the floor is that frame: sound that is loud from the start is noise until its first dip. That
keeps a noisy line from ever being heard as a caller and costs a caller who is cut in mid-word the time to that dip
(0.18 s in the one recording that begins so).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from audio.errors import ModelError
from audio.pcm import SILENCE_DBFS, decibels, to_int16
from audio.types import CALL_RATE_HZ, FRAME_MS, FRAME_SAMPLES, AudioFrame, Samples

_HISTORY_FRAMES = 3000 // FRAME_MS
_STEADY_FRAMES = 600 // FRAME_MS
_STEADY_SPREAD_DB = 7.0
_LOW, _HIGH = 0.1, 0.9

_WINDOW = np.hanning(FRAME_SAMPLES).astype(np.float32)  # without it hum leaks over the whole band
_BIN_HZ = CALL_RATE_HZ / FRAME_SAMPLES
_BAND = slice(round(300 / _BIN_HZ), round(3400 / _BIN_HZ) + 1)
_POWER_SCALE = 2.0 / (FRAME_SAMPLES * float(np.sum(np.square(_WINDOW))))


@dataclass(frozen=True, slots=True)
class VoiceRules:
    """How sure a frame must be. `mode` is webrtcvad's, 0 (lets most through) to 3; levels in dB and dBFS.

    A voiced frame stands `margin_db` above the noise, `keep_db` when the frame before it was voiced. 6 dB: steady
    noise rises that far above its own floor in one frame of a thousand, while at 10 dB SNR vowels stand 10 to 15 dB
    above it. 3 dB: keeps the weak end of a word in noise (voiced share at 5 dB SNR 0.40 -> 0.53). Nothing below
    `floor_dbfs` is voiced, however quiet the line: callers far from their microphone still peak near -40.
    """

    mode: int = 2
    margin_db: float = 6.0
    keep_db: float = 3.0
    floor_dbfs: float = -65.0

    def __post_init__(self) -> None:
        if self.mode not in (0, 1, 2, 3) or not (0 < self.keep_db <= self.margin_db and self.floor_dbfs < 0):
            raise ValueError(f"{self}: mode must be 0 to 3, 0 < keep_db <= margin_db, floor_dbfs below 0")


class Speech(Protocol):
    """What knows the shape of speech. Stateful: one object a call, given every frame in order."""

    def is_speech(self, samples: Samples) -> bool:
        """One whole frame. Raises ModelError."""
        ...


class WebrtcSpeech:
    """webrtcvad's opinion of a frame. `mode` 0 (lets most through) to 3."""

    def __init__(self, mode: int) -> None:
        """Raises ModelError when webrtcvad cannot be imported."""
        # Imported here: only a call needs it, and a missing detector must stop the call with a sentence.
        try:
            import webrtcvad
        except ImportError as error:
            raise ModelError(
                f"webrtcvad cannot be imported ({error}): pip install webrtcvad-wheels, and remove plain webrtcvad"
            ) from error
        self._vad = webrtcvad.Vad(mode)
        self._failure = webrtcvad._webrtcvad.Error  # the library gives its only error no public name

    def is_speech(self, samples: Samples) -> bool:
        try:
            return bool(self._vad.is_speech(to_int16(samples).tobytes(), CALL_RATE_HZ))
        except self._failure as error:
            raise ModelError(f"webrtcvad failed: {error}") from error


class VoiceDetector:
    """The detector of one call. It learns the line as it goes, so a new call needs a new one; it has no randomness."""

    def __init__(self, rules: VoiceRules | None = None, speech: Speech | None = None) -> None:
        """Asks `speech`, by default webrtcvad, and the gate. Raises ModelError when webrtcvad cannot be imported."""
        self._rules = rules or VoiceRules()
        self._speech = speech or WebrtcSpeech(self._rules.mode)
        self._levels: deque[float] = deque(maxlen=_HISTORY_FRAMES)
        self._voiced = False

    @property
    def noise_dbfs(self) -> float:
        """The noise floor as now learned, in the band; SILENCE_DBFS before the first frame."""
        return _percentile(np.array(self._levels), _LOW) if self._levels else SILENCE_DBFS

    def is_voiced(self, frame: AudioFrame) -> bool:
        """One frame at CALL_RATE_HZ, in order. A shorter last one is padded with silence.

        In a frame that the device lost nobody is heard, and its silence is not learned as the line's noise.

        Raises ModelError for an empty or longer frame, for NaN or infinity, and when the detector of speech fails:
        one that errs quietly hears nobody.
        """
        samples = _whole(frame)
        if frame.lost:
            self._voiced = False
            return False
        level = band_dbfs(samples)
        self._learn(level)
        # The detector of speech models the noise as well, so it must hear every frame, also those the gate refuses.
        try:
            speech = self._speech.is_speech(samples)
        except ModelError as error:
            raise ModelError(f"the frame at {frame.start_s:.2f} s: {error}") from error
        margin_db = self._rules.keep_db if self._voiced else self._rules.margin_db
        loud = level >= max(self.noise_dbfs + margin_db, self._rules.floor_dbfs)
        self._voiced = speech and loud
        return self._voiced

    def _learn(self, level: float) -> None:
        self._levels.append(level)
        recent = np.array(self._levels)[-_STEADY_FRAMES:]
        full = len(recent) == _STEADY_FRAMES
        if full and _percentile(recent, _HIGH) - _percentile(recent, _LOW) < _STEADY_SPREAD_DB:
            self._levels = deque(recent.tolist(), maxlen=_HISTORY_FRAMES)


def band_dbfs(samples: Samples) -> float:
    """Level of one whole frame between 300 and 3400 Hz; a full-scale sine in the band has -3.01."""
    spectrum = np.fft.rfft(samples * _WINDOW)[_BAND]
    return decibels(float(np.sqrt(_POWER_SCALE * np.sum(np.square(np.abs(spectrum))))))


def _whole(frame: AudioFrame) -> Samples:
    samples = frame.samples
    if samples.ndim != 1 or not 0 < len(samples) <= FRAME_SAMPLES:
        raise ModelError(
            f"the frame at {frame.start_s:.2f} s has shape {samples.shape}: cut the sound to {FRAME_SAMPLES} samples"
        )
    if not np.isfinite(samples).all():
        raise ModelError(
            f"the frame at {frame.start_s:.2f} s holds NaN or infinity: mend the step that made it"
        )
    missing = FRAME_SAMPLES - len(samples)
    return np.pad(samples, (0, missing)) if missing else samples


def _percentile(values: NDArray[np.float64], share: float) -> float:
    """The value below which about `share` of the values lie; no interpolation, so it is one of them."""
    rank = int(share * (len(values) - 1))
    return float(np.partition(values, rank)[rank])
