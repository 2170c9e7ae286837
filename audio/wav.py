"""WAV files and frames: a recording read whole at the call's rate, a file or a whole call written.

A file stands in for the microphone: `read_wav` -> `frames`. A call is recorded by `WavWriter`, block by block, so
that its length never matters for memory and a dead process leaves a readable file.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Literal, Self

import numpy as np

from audio.errors import FormatError
from audio.pcm import StreamResampler, decode, encode, mix, split
from audio.riff import (
    MAX_RATE_HZ,
    MIN_RATE_HZ,
    UNSIZED,
    WavEncoding,
    WavLayout,
    pack_header,
    read_layout,
    sample_encoding,
)
from audio.types import CALL_RATE_HZ, FRAME_SAMPLES, AudioFrame, Samples

Channel = Literal["mix", "left", "right"] | int
"""What to hear of several channels: their mean, a side of a stereo file (left is 0), or one by index from 0."""

MAX_SECONDS = 2 * 3600.0
"""Longest recording read at once: 461 MB of float32 at CALL_RATE_HZ. A longer one is not one phone call."""

_BLOCK_FRAMES = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """One file, ready for the agent. `samples` is mono at CALL_RATE_HZ; rate, channels and format are the file's."""

    samples: Samples
    source_rate_hz: int
    channels: int
    format: str
    duration_s: float
    warnings: tuple[str, ...] = ()


def read_wav(path: str | Path, channel: Channel = "mix") -> Recording:
    """A WAV file (formats: see `audio.riff`) as mono at CALL_RATE_HZ, read in blocks.

    Damage that leaves sound is a warning: sizes never filled in, data cut short, a partial last sample frame, floats
    beyond full scale (clipped). Anything else raises FormatError, whose one line begins with the path.
    """
    where = repr(os.fspath(path))
    try:
        if not Path(path).is_file():
            raise FormatError("no such file, or not a regular one: check the path")
        with open(path, "rb") as stream:
            return _read(stream, os.fstat(stream.fileno()).st_size, channel)
    except FormatError as error:
        raise FormatError(f"{where}: {error}") from error
    except OSError as error:
        raise FormatError(
            f"{where}: cannot be read ({error.strerror}): check its permissions and disk"
        ) from error


def frames(samples: Samples, start: int = 0) -> Iterator[AudioFrame]:
    """A sound at CALL_RATE_HZ in frames of FRAME_SAMPLES, the first at index `start`; the tail is zero-padded."""
    for at in range(0, len(samples), FRAME_SAMPLES):
        block = samples[at : at + FRAME_SAMPLES]
        if len(block) < FRAME_SAMPLES:
            block = np.pad(block, (0, FRAME_SAMPLES - len(block)))
        yield AudioFrame(start + at, block)


def write_wav(path: str | Path, samples: Samples, rate_hz: int, encoding: WavEncoding = "pcm16") -> None:
    """A whole sound, shape (n,) or (n, channels), clipped to full scale; replaces the file in one step or not at all.

    Raises FormatError for NaN or infinity, ValueError for a shape or rate no WAV of ours has, OSError from the disk.
    """
    target = Path(path)
    channels = 1 if samples.ndim == 1 else samples.shape[1]
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with WavWriter(partial, rate_hz, channels, encoding) as writer:
            writer.append(samples)
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


class WavWriter:
    """A WAV file that grows: a context manager; every block is handed to the system at once, the sizes come last.

    If the process dies the sizes stay open and `read_wav` reads to the end with a warning. OSError from the disk
    passes through.
    """

    def __init__(
        self, path: str | Path, rate_hz: int, channels: int = 2, encoding: WavEncoding = "pcm16"
    ) -> None:
        """Creates or empties the file. Raises ValueError for a rate outside 8-48 kHz or no channel."""
        if not MIN_RATE_HZ <= rate_hz <= MAX_RATE_HZ or channels < 1:
            raise ValueError(
                f"cannot write {channels} channels at {rate_hz} Hz: 8000 to 48000 Hz, 1 channel or more"
            )
        self._rate_hz = rate_hz
        self._channels = channels
        self._encoding = encoding
        self._data_bytes = 0
        self._frame_count = 0
        self._file = open(path, "wb")  # noqa: SIM115 - lives as long as this object, closed by close()
        self._write(pack_header(encoding, channels, rate_hz, UNSIZED))

    @property
    def seconds(self) -> float:
        """Length of what was appended so far."""
        return self._frame_count / self._rate_hz

    def append(self, block: Samples) -> None:
        """The next block, shape (n,) for one channel, else (n, channels). Raises FormatError for NaN, ValueError for
        another shape or after `close`."""
        shape = block.shape if block.ndim == 2 else (len(block), 1)
        if block.ndim not in (1, 2) or shape[1] != self._channels:
            raise ValueError(f"a block of shape {block.shape} in a file of {self._channels} channels")
        data = encode(np.ravel(block), sample_encoding(self._encoding))
        self._write(data)
        self._data_bytes += len(data)
        self._frame_count += shape[0]

    def close(self) -> None:
        """Fills in the sizes and closes the file; a second call does nothing."""
        if self._file.closed:
            return
        try:
            self._write(b"\0" * (self._data_bytes % 2))
            self._file.seek(0)
            self._write(pack_header(self._encoding, self._channels, self._rate_hz, self._data_bytes))
        finally:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._file.flush()


def _read(stream: BinaryIO, file_bytes: int, channel: Channel) -> Recording:
    layout = read_layout(stream, file_bytes)
    if layout.seconds > MAX_SECONDS:
        raise FormatError(
            f"{layout.seconds:.0f} s long, at most {MAX_SECONDS:.0f} s are read: split the recording"
        )
    index = _channel_index(channel, layout.channels)
    resampler = StreamResampler(layout.rate_hz, CALL_RATE_HZ)
    sound = np.empty(int(layout.seconds * CALL_RATE_HZ) + 2, dtype=np.float32)
    filled, clipped = 0, 0
    for block in _blocks(stream, layout):
        clipped += int(np.count_nonzero(np.abs(block) > 1))
        channels = np.clip(block, -1, 1)
        heard = mix(channels) if index is None else channels[:, index]
        filled = _put(sound, filled, resampler.push(heard))
    filled = _put(sound, filled, resampler.finish())
    if not filled:
        raise FormatError(
            f"{layout.frame_count} samples at {layout.rate_hz} Hz are 0 at {CALL_RATE_HZ}: record it again"
        )
    over = (f"{clipped} samples beyond full scale were clipped",) if clipped else ()
    return Recording(
        sound[:filled], layout.rate_hz, layout.channels, layout.name, layout.seconds, layout.warnings + over
    )


def _blocks(stream: BinaryIO, layout: WavLayout) -> Iterator[Samples]:
    """The data as blocks of shape (n, channels), checked to be numbers."""
    stream.seek(layout.data_start)
    left = layout.data_bytes
    while left:
        wanted = min(left, _BLOCK_FRAMES * layout.frame_bytes)
        data = stream.read(wanted)
        if len(data) < wanted:
            raise FormatError("the file became shorter while it was read: try again when its writer is done")
        left -= wanted
        block = split(decode(data, layout.encoding), layout.channels)
        if not np.isfinite(block).all():
            raise FormatError("the samples hold NaN or infinity: export the recording again as PCM")
        yield block


def _channel_index(channel: Channel, channels: int) -> int | None:
    """Which channel to hear, None for the mean of all."""
    if channel == "mix":
        return None
    if isinstance(channel, str) and channels > 2:
        raise FormatError(
            f"channel {channel!r} of {channels}: choose mix or an index from 0 to {channels - 1}"
        )
    index = {"left": 0, "right": 1}.get(channel, -1) if isinstance(channel, str) else channel
    if not 0 <= index < channels:
        raise FormatError(
            f"no channel {channel!r} among {channels}: choose mix or an index from 0 to {channels - 1}"
        )
    return index


def _put(sound: Samples, filled: int, block: Samples) -> int:
    sound[filled : filled + len(block)] = block
    return filled + len(block)
