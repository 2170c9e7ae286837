"""The loudspeaker: what the agent says, handed over block by block, played by a device on its own thread.

The callback only moves bytes. A short reserve stands between the two, because the call's beat and the device's are not
the same clock: it is made of silence when speech begins, and given back when there is silence to leave out. Sound that
was handed over is never dropped: a device that is lost finds the rest of it when it is back.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from audio.devices import BLOCK_S, Format
from audio.pcm import StreamResampler, decode, encode, resample
from audio.types import CALL_RATE_HZ, Samples

RESERVE_S = 2 * BLOCK_S
"""Of sound between the call and the device: one block being played, one for a beat that comes late."""

MAX_RESERVE_S = 0.12
"""A reserve grows by a block when it was too short. Above this the agent would be felt to be slow."""

FULL_S = 0.5
"""With so much waiting, the device plays nothing: nothing more is taken until it does."""

_WIDTH = 2

_INAUDIBLE = 2.0**-16
"""Half a step of 16 bit: it would be rounded to silence."""


class Speaker:
    """One a call; it outlives the streams that empty it. `callback` is the device's, all else is the call's.

    `underruns` counts gaps inside speech, `underflows` blocks that the system itself missed; `block_s` is when the last
    block was asked for.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._format = Format(CALL_RATE_HZ, 1)
        self._resampler = StreamResampler(CALL_RATE_HZ, CALL_RATE_HZ)
        self._changing = threading.Lock()
        self._chunks: deque[bytes] = deque()
        self._rest = b""
        self._fed = 0
        self._played = 0
        self._inside_s = 0.0
        self._ran_dry = True
        self._loud = False
        self._reserve_s = RESERVE_S
        self.latency_s = 0.0
        self.underruns = 0
        self.underflows = 0
        self.block_s = clock()

    @property
    def delay_s(self) -> float | None:
        """Seconds until what is fed now can be heard: the resampler, what waits, the device. None when full."""
        waiting_s = self._waiting / self._format.rate_hz
        return None if waiting_s > FULL_S else waiting_s + self._inside_s + self.latency_s

    @property
    def _waiting(self) -> int:
        """Samples of one channel between the call and the device."""
        return (self._fed - self._played) // (_WIDTH * self._format.channels)

    def attach(self, fmt: Format) -> None:
        """What is asked for from now on has this format. Only while no stream runs."""
        with self._changing:
            left = decode(b"".join([self._rest, *self._chunks]), "s16")[:: self._format.channels]
            whole = np.concatenate([left, self._resampler.finish()])
            sound = resample(whole, self._format.rate_hz, fmt.rate_hz)
            self._format = fmt
            self._resampler = StreamResampler(CALL_RATE_HZ, fmt.rate_hz)
            self._chunks.clear()
            self._rest, self._fed, self._played, self._inside_s = b"", 0, 0, 0.0
            self._put(sound)

    def feed(self, samples: Samples) -> None:
        """The next stretch of the agent's side, mono at CALL_RATE_HZ. Only silence may be left out."""
        loud = bool(np.any(samples))
        with self._changing:
            if self._ran_dry:
                self._refill(inside_speech=loud and self._loud)
            sound = self._resampler.push(samples)
            self._inside_s += len(samples) / CALL_RATE_HZ - len(sound) / self._format.rate_hz
            spare = self._waiting - round(self._reserve_s * self._format.rate_hz)
            # What comes out of the resampler decides: it gives the end of speech later than it was fed.
            if spare <= 0 or np.any(np.abs(sound) > _INAUDIBLE):
                self._put(sound)
        self._loud = loud

    def clear(self) -> None:
        """Drops what was fed and is not played yet, to the last sample in the filter. Not beside a running device."""
        with self._changing:
            self._resampler = StreamResampler(CALL_RATE_HZ, self._format.rate_hz)
            self._chunks.clear()
            self._rest, self._fed, self._inside_s = b"", self._played, 0.0
            self._ran_dry, self._loud = True, False

    def callback(self, out: Any, frames: int, times: Any, flags: Any) -> None:
        """Fills a block of int16 samples. Runs on the device's thread."""
        self.block_s = self._clock()
        if flags:
            self.underflows += 1
        wanted, filled = len(out), 0
        while filled < wanted and (self._rest or self._chunks):
            source = self._rest or self._chunks.popleft()
            part, self._rest = source[: wanted - filled], source[wanted - filled :]
            out[filled : filled + len(part)] = part
            filled += len(part)
        if filled < wanted:
            out[filled:wanted] = bytes(wanted - filled)
            self._ran_dry = True
        self._played += filled

    def _refill(self, *, inside_speech: bool) -> None:
        if inside_speech:
            self.underruns += 1
            self._reserve_s = min(self._reserve_s + BLOCK_S, MAX_RESERVE_S)
        missing = round(self._reserve_s * self._format.rate_hz) - self._waiting
        self._put(np.zeros(max(0, missing), dtype=np.float32))
        self._ran_dry = False

    def _put(self, sound: Samples) -> None:
        if len(sound):
            chunk = encode(np.repeat(sound, self._format.channels), "s16")
            self._fed += len(chunk)
            self._chunks.append(chunk)
