"""Whatever a device or a stream gives -> frames of 20 ms at 16 kHz: the one place where that contract is kept.

Devices choose their own rate, channels and block size, and webrtcvad refuses every frame that is not 10, 20 or 30 ms
at a rate it knows. So sound of any rate in blocks of any size comes in here and leaves as AudioFrame; how it was cut
into blocks never shows. Time does not stop where the device lost sound: silence of that length stands in, marked.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from audio.errors import FormatError
from audio.pcm import StreamResampler, mix
from audio.types import CALL_RATE_HZ, FRAME_SAMPLES, AudioFrame, Samples

MIN_RATE_HZ, MAX_RATE_HZ = 8_000, 192_000
"""The telephone's rate, and the highest that sound cards offer."""

MAX_CHANNELS = 64
"""Rows wider than any sound card are a mistake of the caller."""


class Framer:
    """One stream of sound into frames. Blocks of any sizes give the same frames, sample for sample.

    `start` is the index, at CALL_RATE_HZ, of the first frame: a device that comes back with another rate goes on in
    a new Framer at the old one's `position`.
    """

    def __init__(self, rate_hz: int, channels: int = 1, start: int = 0) -> None:
        """Raises FormatError for a rate outside 8 to 192 kHz or no channel."""
        if not (MIN_RATE_HZ <= rate_hz <= MAX_RATE_HZ and 1 <= channels <= MAX_CHANNELS and start >= 0):
            raise FormatError(
                f"{channels} channels at {rate_hz} Hz from sample {start}: choose 1 to {MAX_CHANNELS} channels and "
                f"{MIN_RATE_HZ} to {MAX_RATE_HZ} Hz"
            )
        self._rate_hz, self._channels = rate_hz, channels
        self._resampler = StreamResampler(rate_hz, CALL_RATE_HZ)
        self._rest = np.zeros(0, dtype=np.float32)
        self._taken = 0
        self._start = start
        self._position = start
        self._gaps: deque[tuple[int, int]] = deque()

    @property
    def position(self) -> int:
        """Index of the first sample of the next frame."""
        return self._position

    def push(self, block: Samples) -> list[AudioFrame]:
        """The next block, shape (n, channels), or (n,) for one channel -> the frames that are complete.

        Channels are averaged; what lies beyond full scale is clipped. Raises FormatError for another shape, NaN or
        infinity, ValueError after `flush`.
        """
        frames = block.reshape(-1, 1) if block.ndim == 1 and self._channels == 1 else block
        if frames.ndim != 2 or frames.shape[1] != self._channels:
            raise FormatError(
                f"a block of shape {block.shape} from {self._channels} channels: give (n, {self._channels})"
            )
        if not np.isfinite(frames).all():
            raise FormatError("the block holds NaN or infinity: mend the device or the step that made it")
        self._taken += len(frames)
        return self._cut(self._resampler.push(mix(np.clip(frames, -1, 1))))

    def lose(self, samples: int) -> list[AudioFrame]:
        """The device lost that many samples (of each channel) here: silence instead, its frames marked `lost`.

        Raises ValueError for a negative number and after `flush`.
        """
        if samples < 0:
            raise ValueError(f"{samples} samples cannot be lost")
        if samples:
            self._gaps.append((self._at(self._taken), self._at(self._taken + samples)))
        self._taken += samples
        return self._cut(self._resampler.push(np.zeros(samples, dtype=np.float32)))

    def flush(self) -> list[AudioFrame]:
        """The end of the stream -> what is still inside, the last frame filled up with silence."""
        frames = self._cut(self._resampler.finish())
        missing = -len(self._rest) % FRAME_SAMPLES
        return [*frames, *self._cut(np.zeros(missing, dtype=np.float32))]

    def _at(self, taken: int) -> int:
        """Where the device's sample `taken` lies on the call's clock."""
        return self._start + taken * CALL_RATE_HZ // self._rate_hz

    def _cut(self, sound: Samples) -> list[AudioFrame]:
        whole = np.concatenate([self._rest, sound])
        cut = []
        for at in range(0, len(whole) - FRAME_SAMPLES + 1, FRAME_SAMPLES):
            cut.append(AudioFrame(self._position, whole[at : at + FRAME_SAMPLES], self._is_lost()))
            self._position += FRAME_SAMPLES
        self._rest = whole[len(cut) * FRAME_SAMPLES :]
        return cut

    def _is_lost(self) -> bool:
        """Whether any of the frame at the present position lies in a gap; forgets the gaps before it."""
        while self._gaps and self._gaps[0][1] <= self._position:
            self._gaps.popleft()
        return bool(self._gaps) and self._gaps[0][0] < self._position + FRAME_SAMPLES
