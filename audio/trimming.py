"""Silence taken from both ends of sound that comes in blocks."""

from __future__ import annotations

import numpy as np

from audio.types import CALL_RATE_HZ, Samples

AUDIBLE = 0.004
"""Level below which a service's sound is silence: -48 dB, under any breath."""

ONSET = int(0.02 * CALL_RATE_HZ)
TAIL = int(0.12 * CALL_RATE_HZ)
"""Samples kept before the first audible one (a stop's closure) and after the last (a pause before what follows)."""

_NOTHING = np.zeros(0, dtype=np.float32)


class Trimmer:
    """Passes blocks on without the silence at the stream's ends; silence in the middle stays. One object a stream."""

    def __init__(self) -> None:
        self._held = _NOTHING
        self._begun = False

    @property
    def audible(self) -> bool:
        """Has anything been heard yet?"""
        return self._begun

    def push(self, block: Samples) -> Samples:
        """What is sure to be heard by now, shape (n,), n >= 0."""
        sound = np.concatenate([self._held, block])
        heard = np.flatnonzero(np.abs(sound) > AUDIBLE)
        if not heard.size:
            self._held = sound if self._begun else sound[-ONSET:]
            return _NOTHING
        begin = 0 if self._begun else max(0, int(heard[0]) - ONSET)
        self._begun = True
        end = int(heard[-1]) + 1
        self._held = sound[end:]
        return sound[begin:end]

    def finish(self) -> Samples:
        """The pause after the last audible sample; nothing when nothing was audible."""
        return self._held[:TAIL] if self._begun else _NOTHING
