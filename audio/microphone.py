"""The microphone: blocks that a device hands over on its own thread become the frames of a call.

The callback only moves bytes into a bounded queue. Everything else (rate, channels, frames) happens where `take` is
called. Time never stops: when the device gives nothing for a while, frames of silence go on in its place, marked lost.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from audio.devices import Format
from audio.framing import Framer
from audio.pcm import decode, split
from audio.types import CALL_RATE_HZ, AudioFrame

MAX_BLOCKS = 250
"""Blocks kept for a reader who is late: 5 s. A reader later than that has lost its call."""

STOPPED_S = 0.2
"""Without a block for so long, silence stands in. Devices come late by tens of milliseconds, never by this."""


class Microphone:
    """One a call; it outlives the streams that fill it. `callback` is the device's, all else is the reader's.

    `dropped` counts samples that came while the queue was full, `overflows` blocks before which the system had lost
    some. `block_s` is when the last block came, `sound_s` when the last that was not digital silence was read, None
    before. `clock` gives seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._queue: deque[bytes | int | Format] = deque()
        self._format = Format(CALL_RATE_HZ, 1)
        self._framer = Framer(CALL_RATE_HZ)
        self._dropping = 0
        self._reached_s = clock()
        self._stopped = False
        self.dropped = 0
        self.overflows = 0
        self.block_s = self._reached_s
        self.sound_s: float | None = None

    def attach(self, fmt: Format) -> None:
        """What is called back from now on has this format. To be called before the stream runs."""
        self._queue.append(fmt)
        self.sound_s = None

    def callback(self, data: Any, frames: int, times: Any, flags: Any) -> None:
        """A block of int16 samples. Runs on the device's thread."""
        self.block_s = self._clock()
        if flags:
            self.overflows += 1
        if len(self._queue) >= MAX_BLOCKS:
            self.dropped += frames
            self._dropping += frames
            return
        if self._dropping:
            self._queue.append(self._dropping)
            self._dropping = 0
        self._queue.append(bytes(data))

    def take(self) -> list[AudioFrame]:
        """The frames that are complete by now, in order and without a gap; often none."""
        now_s = self._clock()
        frames: list[AudioFrame] = []
        for _ in range(len(self._queue)):
            frames += self._read(self._queue.popleft(), now_s)
        return frames + self._stand_in(now_s)

    def _read(self, item: bytes | int | Format, now_s: float) -> list[AudioFrame]:
        if isinstance(item, Format):
            return self._change(item)
        self._reached_s, self._stopped = now_s, False
        if isinstance(item, int):
            return self._framer.lose(item)
        if any(item):
            self.sound_s = now_s
        return self._framer.push(split(decode(item, "s16"), self._format.channels))

    def _change(self, fmt: Format) -> list[AudioFrame]:
        """Another device or rate goes on where the last one ended."""
        rest = self._framer.flush()
        self._format = fmt
        self._framer = Framer(fmt.rate_hz, fmt.channels, self._framer.position)
        return rest

    def _stand_in(self, now_s: float) -> list[AudioFrame]:
        self._stopped = self._stopped or now_s - self._reached_s >= STOPPED_S
        if not self._stopped:
            return []
        missing = int((now_s - self._reached_s) * self._format.rate_hz)
        self._reached_s += missing / self._format.rate_hz
        return self._framer.lose(missing)
