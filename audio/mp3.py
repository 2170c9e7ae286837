"""An MP3 stream as samples, decoded as its bytes come in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from audio.errors import FormatError
from audio.pcm import StreamResampler
from audio.types import CALL_RATE_HZ, Samples

if TYPE_CHECKING:
    from av import AudioStream, Packet


class Mp3Decoder:
    """Bytes in pieces of any size, samples at CALL_RATE_HZ out; several channels are mixed. One object a stream."""

    def __init__(self) -> None:
        # Imported here: only who listens to a speech service needs a decoder.
        from av import CodecContext
        from av.audio.codeccontext import AudioCodecContext

        codec = CodecContext.create("mp3", "r")
        if not isinstance(codec, AudioCodecContext):
            raise TypeError("PyAV has no MP3 decoder")
        self._codec = codec
        self._resampler: StreamResampler | None = None

    def push(self, data: bytes) -> Samples:
        """What can be heard of the stream by now, shape (n,), n >= 0. Raises FormatError when it is not MP3."""
        return self._decoded(data)

    def finish(self) -> Samples:
        """The rest. Raises FormatError."""
        rest = self._decoded(b"")
        return rest if self._resampler is None else np.concatenate([rest, self._resampler.finish()])

    def _decoded(self, data: bytes) -> Samples:
        from av.error import FFmpegError

        try:
            packets: Iterable[Packet[AudioStream] | None] = self._codec.parse(data)
            if not data:
                packets = [*packets, None]
            frames = [frame for packet in packets for frame in self._codec.decode(packet)]
        except FFmpegError as fault:
            raise FormatError(f"not an MP3 stream: {' '.join(str(fault).split())}") from fault
        return np.concatenate([np.zeros(0, dtype=np.float32), *map(self._resampled, frames)])

    def _resampled(self, frame: object) -> Samples:
        from av import AudioFrame

        if not isinstance(frame, AudioFrame):
            raise TypeError("the MP3 decoder gave no sound")
        if self._resampler is None:
            self._resampler = StreamResampler(frame.sample_rate, CALL_RATE_HZ)
        return self._resampler.push(_floats(frame.to_ndarray()))


def _floats(planes: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> Samples:
    """Planes of 16-bit or float samples, one a channel, as one channel of float32."""
    scale = np.float32(1 / 32768) if planes.dtype == np.int16 else np.float32(1)
    mixed: Samples = planes.astype(np.float32).mean(axis=0) * scale
    return mixed.astype(np.float32)
