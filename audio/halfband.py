"""Between the telephone's rate and the call's, which is twice that, with a delay of 2 ms. Pure.

The general resampler works in stretches of 100 ms, a tenth of a second of silence before every answer. For a factor of
exactly two a short symmetric filter does: it passes 3.4 kHz, the telephone's band, and stops 4.6 kHz, its mirror image,
by 70 dB; µ-law itself is 38 dB above its noise.
"""

from __future__ import annotations

import numpy as np

from audio.types import Samples

TAPS = 63
"""Odd, so that the filter is symmetric about a sample; the least that makes the edge of 1.2 kHz 70 dB deep."""

_BETA = 7.0  # of the Kaiser window: 70 dB

_AT = np.arange(TAPS) - TAPS // 2
_FILTER: Samples = (0.5 * np.sinc(_AT / 2) * np.kaiser(TAPS, _BETA)).astype(np.float32)
_FILTER /= _FILTER.sum()


class _Filter:
    """One stream through the filter; blocks of any sizes, empty ones too."""

    def __init__(self, gain: float) -> None:
        self._weights = _FILTER * np.float32(gain)
        self._before = np.zeros(TAPS - 1, dtype=np.float32)

    def push(self, samples: Samples) -> Samples:
        if not len(samples):
            return samples
        whole = np.concatenate([self._before, samples])
        self._before = whole[len(whole) - (TAPS - 1) :]
        filtered: Samples = np.clip(np.convolve(whole, self._weights, "valid"), -1.0, 1.0)
        return filtered


class Doubler:
    """A stream at twice its rate: n samples in, 2 n out. However it is cut, the output is the same."""

    def __init__(self) -> None:
        self._filter = _Filter(2.0)

    def push(self, samples: Samples) -> Samples:
        """The next block, shape (n,) -> shape (2 n,), clipped to full scale."""
        spread = np.zeros(2 * len(samples), dtype=np.float32)
        spread[::2] = samples
        return self._filter.push(spread)


class Halver:
    """A stream at half its rate. However it is cut, the output is the same."""

    def __init__(self) -> None:
        self._filter = _Filter(1.0)
        self._skip = 0

    def push(self, samples: Samples) -> Samples:
        """The next block, shape (n,) -> every second filtered sample, counted from the begin of the stream."""
        kept = self._filter.push(samples)[self._skip :: 2]
        self._skip = (self._skip + len(samples)) % 2
        return kept
