"""Where to cut an utterance that is longer than the recogniser's window: at its quietest moments."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from audio.types import CALL_RATE_HZ, FRAME_SAMPLES, Samples

_QUIET_FRAMES = 15
"""A cut is judged by the 0.3 s around it: longer than the closure of a plosive, as short as a breath."""


def level_dbfs(samples: Samples) -> float:
    """Level of the loud frames (95th percentile of 20 ms frames) in dB, 0 being full scale; -inf without sound.

    Unlike the mean of the whole it does not fall when an utterance is mostly pauses.
    """
    power = _frame_power(samples)
    loud = float(np.percentile(power, 95)) if power.size else 0.0
    return 10 * float(np.log10(loud)) if loud > 0 else -np.inf


def windows(samples: Samples, longest_s: float) -> list[Samples]:
    """The utterance in pieces of at most `longest_s` seconds, joined equal to the whole; one piece if it is short.

    Each cut lies in the later half of what a piece may hold, where the sound is lowest.
    """
    longest = int(longest_s * CALL_RATE_HZ)
    pieces = []
    while len(samples) > longest:
        half = longest // 2
        cut = half + _quietest(samples[half:longest])
        pieces.append(samples[:cut])
        samples = samples[cut:]
    return [*pieces, samples]


def _quietest(samples: Samples) -> int:
    """Index of the sample in the middle of the quietest stretch."""
    power = _frame_power(samples)
    if power.size <= _QUIET_FRAMES:
        return len(samples) // 2
    smooth = np.convolve(power, np.ones(_QUIET_FRAMES), mode="valid")
    return (int(np.argmin(smooth)) + _QUIET_FRAMES // 2) * FRAME_SAMPLES


def _frame_power(samples: Samples) -> NDArray[np.float64]:
    whole = len(samples) // FRAME_SAMPLES * FRAME_SAMPLES
    frames = samples[:whole].reshape(-1, FRAME_SAMPLES)
    power: NDArray[np.float64] = np.mean(np.square(frames, dtype=np.float64), axis=1)
    return power
