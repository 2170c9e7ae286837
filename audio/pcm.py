"""Sound as numbers: sample widths, G.711, level, channels and rate. Pure numpy; soxr resamples.

Inside the agent a sound is float32 in [-1, 1], full scale being 1.0 (integer widths divide by 2**(bits-1)).
Everything that enters or leaves as bytes, little-endian, passes through `decode` or `encode`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
import soxr
from numpy.typing import NDArray

from audio.errors import FormatError
from audio.types import Samples

Encoding = Literal["u8", "s16", "s24", "s32", "f32", "f64", "mulaw", "alaw"]

ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)

SAMPLE_BYTES: dict[Encoding, int] = {
    "u8": 1, "s16": 2, "s24": 3, "s32": 4, "f32": 4, "f64": 8, "mulaw": 1, "alaw": 1,
}  # fmt: skip

SILENCE_DBFS = -100.0
"""What `dbfs` answers for digital silence: below one step of 16 bit (-90 dBFS), and finite, so it can be averaged."""

_MULAW_BIAS = 132  # G.711: 33 on the 14-bit scale; it makes every segment start at a power of two
_MULAW_CLIP = 32_767 - _MULAW_BIAS  # larger magnitudes would overflow the eighth segment
_ALAW_FLIP = 0x55  # G.711 sends every second bit inverted


def decode(data: bytes, encoding: Encoding) -> Samples:
    """Bytes of one interleaved stream -> float32, shape (n,). Integers land in [-1, 1); floats are kept as they are.

    Raises FormatError when the bytes are no whole number of samples.
    """
    if len(data) % SAMPLE_BYTES[encoding]:
        raise FormatError(f"{len(data)} bytes are no whole number of {encoding} samples: cut off the rest")
    return _DECODERS[encoding](data)


def encode(samples: Samples, encoding: Encoding) -> bytes:
    """float32 -> bytes; what lies beyond full scale is clipped. Raises FormatError for NaN or infinity."""
    _must_be_finite(samples)
    return _ENCODERS[encoding](samples)


def to_int16(samples: Samples) -> NDArray[np.int16]:
    """float32 -> int16, rounded and clipped, same shape. Raises FormatError for NaN or infinity."""
    _must_be_finite(samples)
    return _scaled(samples, 16).astype(np.int16)


def mulaw_to_int16(codes: NDArray[np.uint8]) -> NDArray[np.int16]:
    """G.711 µ-law -> linear on the 16-bit scale, [-32124, 32124]."""
    return _MULAW_TABLE[codes]


def int16_to_mulaw(linear: NDArray[np.int16]) -> NDArray[np.uint8]:
    """Linear on the 16-bit scale -> G.711 µ-law; zero is 0xFF.

    A magnitude on a decision value goes outwards if positive, inwards if negative, as in ITU-T G.191.
    """
    negative = linear < 0
    magnitude = np.where(negative, ~linear, linear).astype(np.int32)
    biased = np.minimum(magnitude, _MULAW_CLIP) + _MULAW_BIAS
    segment = _bit_length(biased) - 8
    mantissa = (biased >> (segment + 3)) & 0x0F
    sign = np.where(negative, 0x80, 0)
    codes: NDArray[np.uint8] = (~(sign | segment << 4 | mantissa) & 0xFF).astype(np.uint8)
    return codes


def alaw_to_int16(codes: NDArray[np.uint8]) -> NDArray[np.int16]:
    """G.711 A-law -> linear on the 16-bit scale, [-32256, 32256]; there is no zero, the smallest step is 8."""
    return _ALAW_TABLE[codes]


def int16_to_alaw(linear: NDArray[np.int16]) -> NDArray[np.uint8]:
    """Linear on the 16-bit scale -> G.711 A-law; zero is 0xD5. Decision values as in `int16_to_mulaw`."""
    negative = linear < 0
    magnitude = np.where(negative, ~linear, linear).astype(np.int32) >> 4
    segment = np.maximum(_bit_length(magnitude) - 4, 0)
    mantissa = (magnitude >> np.maximum(segment - 1, 0)) & 0x0F
    sign = np.where(negative, 0, 0x80)
    codes: NDArray[np.uint8] = ((sign | segment << 4 | mantissa) ^ _ALAW_FLIP).astype(np.uint8)
    return codes


def rms(samples: Samples) -> float:
    """Root mean square, 0 for no samples at all. Summed in double precision."""
    if not samples.size:
        return 0.0
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64))))


def dbfs(samples: Samples) -> float:
    """Level in dB, a root mean square of 1.0 being 0: a full-scale sine has -3.01. Never below SILENCE_DBFS."""
    return decibels(rms(samples))


def decibels(amplitude: float) -> float:
    """20 log10, never below SILENCE_DBFS."""
    return max(20 * float(np.log10(amplitude)), SILENCE_DBFS) if amplitude > 0 else SILENCE_DBFS


def split(interleaved: Samples, channels: int) -> Samples:
    """Shape (n * channels,) -> (n, channels), a view. Raises FormatError for a partial sample frame."""
    if interleaved.size % channels:
        raise FormatError(
            f"{interleaved.size} samples are no whole number of {channels}-channel sample frames"
        )
    return interleaved.reshape(-1, channels)


def mix(frames: Samples) -> Samples:
    """Shape (n, channels) -> (n,): the mean, so that full scale on all channels is still full scale."""
    mono: Samples = frames.mean(axis=1, dtype=np.float32)
    return mono


def resample(samples: Samples, from_hz: int, to_hz: int) -> Samples:
    """A whole mono sound at another rate, round(n * to_hz / from_hz) samples, clipped to [-1, 1]."""
    resampler = StreamResampler(from_hz, to_hz)
    return np.concatenate([resampler.push(samples), resampler.finish()])


class StreamResampler:
    """The same conversion block by block: the blocks joined equal `resample` of the joined input, bit for bit.

    One object a stream. The filter looks ahead, so the first blocks may come back empty and `finish` returns the rest.
    """

    def __init__(self, from_hz: int, to_hz: int) -> None:
        """Raises ValueError unless both rates, in Hz, are positive."""
        if from_hz <= 0 or to_hz <= 0:
            raise ValueError(f"rates must be positive, not {from_hz} and {to_hz} Hz")
        self._stream: Any = (
            None if from_hz == to_hz else soxr.ResampleStream(from_hz, to_hz, 1, dtype="float32")
        )
        self._finished = False

    def push(self, samples: Samples) -> Samples:
        """The next block, shape (n,) -> what is ready now, shape (m,), m >= 0. Raises ValueError after `finish`."""
        return self._step(samples, last=False)

    def finish(self) -> Samples:
        """The end of the stream -> the samples still inside. Raises ValueError when called twice."""
        return self._step(np.zeros(0, dtype=np.float32), last=True)

    def _step(self, samples: Samples, *, last: bool) -> Samples:
        if self._finished:
            raise ValueError("the stream is finished: make a new StreamResampler")
        self._finished = last
        block = np.ascontiguousarray(samples, dtype=np.float32)
        if self._stream is not None:
            block = self._stream.resample_chunk(block, last=last)
        # The filter rings beyond full scale at steep edges.
        return np.clip(block, -1.0, 1.0)


def _must_be_finite(samples: Samples) -> None:
    if not np.isfinite(samples).all():
        raise FormatError("the samples hold NaN or infinity: mend the step that made them")


def _scaled(samples: Samples, bits: int) -> NDArray[np.float64]:
    full = 2.0 ** (bits - 1)
    return np.clip(np.rint(samples.astype(np.float64) * full), -full, full - 1)


def _bit_length(values: NDArray[np.int32]) -> NDArray[np.int32]:
    """1 + floor(log2) of each value, 0 for 0; exact, because a double holds every int32."""
    return np.frexp(values.astype(np.float64))[1]


def _to_float(values: NDArray[Any], bits: int) -> Samples:
    # Through double, so that a 32-bit value is rounded once: float32 holds 24 bits.
    return (values.astype(np.float64) / 2.0 ** (bits - 1)).astype(np.float32)


def _s24_to_float(data: bytes) -> Samples:
    wide = np.zeros((len(data) // 3, 4), dtype=np.uint8)
    wide[:, 1:] = np.frombuffer(data, dtype=np.uint8).reshape(-1, 3)
    return _to_float(wide.view("<i4").ravel(), 32)


def _f64_to_float(data: bytes) -> Samples:
    with np.errstate(over="ignore"):  # beyond float32 becomes infinity, which every reader refuses
        return np.frombuffer(data, dtype="<f8").astype(np.float32)


def _float_to_s24(samples: Samples) -> bytes:
    wide = _scaled(samples, 24).astype("<i4").view(np.uint8).reshape(-1, 4)
    return wide[:, :3].tobytes()


def _mulaw_table() -> NDArray[np.int16]:
    bits = ~np.arange(256) & 0xFF
    magnitude = (((bits & 0x0F) << 3) + _MULAW_BIAS << (bits >> 4 & 7)) - _MULAW_BIAS
    return np.where(bits & 0x80, -magnitude, magnitude).astype(np.int16)


def _alaw_table() -> NDArray[np.int16]:
    bits = np.arange(256) ^ _ALAW_FLIP
    segment, mantissa = bits >> 4 & 7, bits & 0x0F
    # Half a step is added so that a value decodes to the middle of its interval.
    magnitude = np.where(segment, (mantissa << 4) + 264 << np.maximum(segment - 1, 0), (mantissa << 4) + 8)
    return np.where(bits & 0x80, magnitude, -magnitude).astype(np.int16)


_MULAW_TABLE = _mulaw_table()
_ALAW_TABLE = _alaw_table()

_DECODERS: dict[Encoding, Callable[[bytes], Samples]] = {
    "u8": lambda data: _to_float(np.frombuffer(data, dtype=np.uint8).astype(np.int16) - 128, 8),
    "s16": lambda data: _to_float(np.frombuffer(data, dtype="<i2"), 16),
    "s24": _s24_to_float,
    "f32": lambda data: np.frombuffer(data, dtype="<f4").astype(np.float32),
    "f64": _f64_to_float,
    "s32": lambda data: _to_float(np.frombuffer(data, dtype="<i4"), 32),
    "mulaw": lambda data: _to_float(mulaw_to_int16(np.frombuffer(data, dtype=np.uint8)), 16),
    "alaw": lambda data: _to_float(alaw_to_int16(np.frombuffer(data, dtype=np.uint8)), 16),
}

_ENCODERS: dict[Encoding, Callable[[Samples], bytes]] = {
    "u8": lambda samples: (_scaled(samples, 8) + 128).astype(np.uint8).tobytes(),
    "s16": lambda samples: _scaled(samples, 16).astype("<i2").tobytes(),
    "s24": _float_to_s24,
    "s32": lambda samples: _scaled(samples, 32).astype("<i4").tobytes(),
    "f32": lambda samples: np.clip(samples, -1, 1).astype("<f4").tobytes(),
    "f64": lambda samples: np.clip(samples, -1, 1).astype("<f8").tobytes(),
    "mulaw": lambda samples: int16_to_mulaw(to_int16(samples)).tobytes(),
    "alaw": lambda samples: int16_to_alaw(to_int16(samples)).tobytes(),
}
