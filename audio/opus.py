"""Opus packets as samples, one packet at a time, as a browser or a telephone's gateway sends them."""

from __future__ import annotations

import numpy as np

from audio.errors import FormatError
from audio.types import Samples

OPUS_RATE_HZ = 48_000
"""Of what comes out, whatever went in: the codec's own clock (RFC 6716)."""


class OpusDecoder:
    """One object a stream: a packet leans on those before it. Several channels are mixed."""

    def __init__(self) -> None:
        # Imported here: most lines carry plain samples.
        from av import CodecContext
        from av.audio.codeccontext import AudioCodecContext

        codec = CodecContext.create("opus", "r")
        if not isinstance(codec, AudioCodecContext):
            raise TypeError("PyAV has no Opus decoder")
        codec.sample_rate = OPUS_RATE_HZ
        codec.layout = "mono"
        self._codec = codec

    def push(self, data: bytes) -> Samples:
        """The sound of one packet at OPUS_RATE_HZ, shape (n,). Raises FormatError when it is none."""
        from av import Packet
        from av.error import FFmpegError

        if not data:
            raise FormatError("an Opus packet has at least one byte")
        try:
            frames = self._codec.decode(Packet(data))
        except FFmpegError as fault:
            raise FormatError(f"not an Opus packet: {' '.join(str(fault).split())}") from fault
        return np.concatenate(
            [np.zeros(0, dtype=np.float32), *(_mono(frame.to_ndarray()) for frame in frames)]
        )


def _mono(planes: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> Samples:
    """Planes of 16-bit or float samples, one a channel."""
    scale = np.float32(1 / 32768) if planes.dtype == np.int16 else np.float32(1)
    mixed: Samples = planes.astype(np.float32).mean(axis=0) * scale
    return mixed.astype(np.float32)
