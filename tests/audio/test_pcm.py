"""Widths, G.711, level, channels and rate."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from audio import pcm
from audio.errors import FormatError
from audio.types import Samples

UNIT = arrays(np.float32, st.integers(0, 200), elements=st.floats(-1, 1, width=32))


def _floats(*values: float) -> Samples:
    return np.array(values, dtype=np.float32)


def _sine(hz: float, rate_hz: int, seconds: float) -> Samples:
    t = np.arange(round(rate_hz * seconds)) / rate_hz
    return (0.5 * np.sin(2 * np.pi * hz * t)).astype(np.float32)


@pytest.mark.parametrize(
    ("encoding", "data", "value"),
    [
        ("u8", b"\x80", 0.0),
        ("u8", b"\x00", -1.0),
        ("u8", b"\xff", 127 / 128),
        ("s16", struct.pack("<h", -32768), -1.0),
        ("s16", struct.pack("<h", 16384), 0.5),
        ("s24", b"\x00\x00\x80", -1.0),
        ("s24", b"\x01\x00\x00", 2.0**-23),
        ("s24", b"\xff\xff\xff", -(2.0**-23)),
        ("s32", struct.pack("<i", -(2**31)), -1.0),
        ("s32", struct.pack("<i", 2**30), 0.5),
        ("f32", struct.pack("<f", -0.25), -0.25),
        ("f64", struct.pack("<d", 1.5), 1.5),
        ("mulaw", b"\xff", 0.0),
        ("alaw", b"\xd5", 8 / 32768),
    ],
)
def test_a_known_byte_pattern_decodes_to_its_value(encoding: pcm.Encoding, data: bytes, value: float) -> None:
    """Every width is little-endian and divides by its own full scale; floats are not touched."""
    decoded = pcm.decode(data, encoding)
    assert decoded.dtype == np.float32
    assert decoded.tolist() == [value]


@pytest.mark.parametrize(
    ("encoding", "step"),
    [("u8", 2.0**-7), ("s16", 2.0**-15), ("s24", 2.0**-23), ("s32", 2.0**-24), ("f32", 0.0), ("f64", 0.0)],
)
@settings(deadline=None)
@given(samples=UNIT)
def test_encode_then_decode_is_within_one_step(encoding: pcm.Encoding, step: float, samples: Samples) -> None:
    """A round trip moves no sample by more than a step of the width (half by rounding, one at positive full scale)."""
    back = pcm.decode(pcm.encode(samples, encoding), encoding)
    assert back.shape == samples.shape
    assert np.all(np.abs(back.astype(np.float64) - samples) <= step)


@pytest.mark.parametrize("encoding", ["u8", "s16", "s24"])
@settings(deadline=None)
@given(data=st.binary(max_size=60))
def test_decode_then_encode_is_the_same_bytes(encoding: pcm.Encoding, data: bytes) -> None:
    """Integer widths that fit into float32 pass through unchanged."""
    whole = data[: len(data) // pcm.SAMPLE_BYTES[encoding] * pcm.SAMPLE_BYTES[encoding]]
    assert pcm.encode(pcm.decode(whole, encoding), encoding) == whole


@pytest.mark.parametrize("encoding", [name for name in pcm.ENCODINGS if pcm.SAMPLE_BYTES[name] > 1])
def test_bytes_that_are_no_whole_sample_are_refused(encoding: pcm.Encoding) -> None:
    """A cut sample is a format error, not a guess."""
    with pytest.raises(FormatError, match=f"5 bytes are no whole number of {encoding} samples"):
        pcm.decode(bytes(5), encoding)


@pytest.mark.parametrize("encoding", pcm.ENCODINGS)
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_nan_and_infinity_are_never_written(encoding: pcm.Encoding, value: float) -> None:
    """A sound that is no number is refused before it becomes a loud click."""
    with pytest.raises(FormatError, match="NaN or infinity"):
        pcm.encode(_floats(0.0, value), encoding)


def test_a_double_beyond_float32_is_infinite_and_raises_no_warning() -> None:
    """The overflow becomes infinity, which the reader then refuses by name."""
    assert np.isinf(pcm.decode(struct.pack("<d", 1e300), "f64")).all()


def test_int16_rounds_and_clips() -> None:
    """Full scale is -32768..32767, whatever comes in."""
    values = _floats(0.0, 1.0, -1.0, 7.5, -7.5, 0.5, 1.6 / 32768, -1.6 / 32768)
    assert pcm.to_int16(values).tolist() == [0, 32767, -32768, 32767, -32768, 16384, 2, -2]
    with pytest.raises(FormatError):
        pcm.to_int16(_floats(float("nan")))


# Output values of ITU-T G.711 on the 16-bit scale: code of the positive half -> value (the tables list 14 and 13 bits).
MULAW = {
    0x80: 32124,
    0x8F: 16764,
    0x9F: 8316,
    0xAF: 4092,
    0xBF: 1980,
    0xCF: 924,
    0xDF: 396,
    0xEF: 132,
    0xFE: 8,
    0xFF: 0,
}
ALAW = {
    0xAA: 32256,
    0xA5: 16896,
    0xB5: 8448,
    0x85: 4224,
    0x95: 2112,
    0xE5: 1056,
    0xF5: 528,
    0xC5: 264,
    0xD4: 24,
    0xD5: 8,
}


@pytest.mark.parametrize(("code", "value"), MULAW.items())
def test_mulaw_has_the_values_of_the_standard(code: int, value: int) -> None:
    """Both signs; a sign is the top bit."""
    codes = np.array([code, code ^ 0x80], dtype=np.uint8)
    assert pcm.mulaw_to_int16(codes).tolist() == [value, -value]
    assert pcm.int16_to_mulaw(np.array([value], dtype=np.int16)).tolist() == [code]


@pytest.mark.parametrize(("code", "value"), ALAW.items())
def test_alaw_has_the_values_of_the_standard(code: int, value: int) -> None:
    """Both signs; a sign is the top bit, every second bit is sent inverted."""
    codes = np.array([code, code ^ 0x80], dtype=np.uint8)
    assert pcm.alaw_to_int16(codes).tolist() == [value, -value]
    assert pcm.int16_to_alaw(np.array([value, -value], dtype=np.int16)).tolist() == codes.tolist()


def test_every_code_survives_decoding_and_encoding() -> None:
    """Only negative zero of µ-law has a twin: it comes back as zero."""
    codes = np.arange(256, dtype=np.uint8)
    back = pcm.int16_to_mulaw(pcm.mulaw_to_int16(codes))
    assert np.flatnonzero(back != codes).tolist() == [0x7F]
    assert back[0x7F] == 0xFF
    assert (pcm.int16_to_alaw(pcm.alaw_to_int16(codes)) == codes).all()


@pytest.mark.parametrize("law", ["mulaw", "alaw"])
def test_g711_takes_the_code_of_the_segment_and_never_falls(law: pcm.Encoding) -> None:
    """Over all 65,536 values the decoded value rises with the input and is within half a step (1/32 plus the bias)."""
    linear = np.arange(-32768, 32768, dtype=np.int32)
    data = pcm.encode((linear / 32768).astype(np.float32), law)
    back = np.rint(pcm.decode(data, law) * 32768).astype(np.int32)
    assert np.all(np.diff(back) >= 0)
    inside = np.abs(linear) < 32_124
    assert np.all(np.abs(back - linear)[inside] <= np.maximum(np.abs(linear[inside]) / 31 + 4, 8))


def test_a_decision_value_goes_outwards_only_if_positive() -> None:
    """The convention of ITU-T G.191: negatives by one's complement, so the smallest negatives are still zero."""
    edge = np.array([3, 4, -4, -5], dtype=np.int16)
    assert pcm.int16_to_mulaw(edge).tolist() == [0xFF, 0xFE, 0x7F, 0x7E]
    edge = np.array([15, 16, -16, -17], dtype=np.int16)
    assert pcm.int16_to_alaw(edge).tolist() == [0xD5, 0xD4, 0x55, 0x54]


def test_level_is_measured_against_a_square_of_full_scale() -> None:
    """A constant 1 is 0 dBFS, a full-scale sine -3.01, nothing at all the stated floor."""
    assert pcm.rms(_floats(1.0, -1.0)) == 1.0
    assert pcm.dbfs(2 * _sine(1000, 16000, 1.0)) == pytest.approx(-3.01, abs=0.01)
    assert pcm.dbfs(np.full(100, 0.1, dtype=np.float32)) == pytest.approx(-20.0, abs=1e-4)
    assert pcm.dbfs(_floats()) == pcm.dbfs(_floats(0.0)) == pcm.dbfs(_floats(1e-9)) == pcm.SILENCE_DBFS


def test_channels_are_split_and_mixed() -> None:
    """Interleaved samples are frames; the mix is their mean, so it cannot leave full scale."""
    frames = pcm.split(_floats(1.0, 0.5, -1.0, -0.5), 2)
    assert frames[:, 0].tolist() == [1.0, -1.0]
    assert pcm.mix(frames).tolist() == [0.75, -0.75]
    assert pcm.mix(frames).dtype == np.float32
    with pytest.raises(FormatError, match="3 samples"):
        pcm.split(_floats(1.0, 0.5, -1.0), 2)


@pytest.mark.parametrize("rate_hz", [8_000, 11_025, 22_050, 24_000, 32_000, 44_100, 48_000])
def test_a_tone_keeps_its_pitch_level_and_length(rate_hz: int) -> None:
    """Resampling a 1 kHz sine gives the 1 kHz sine, away from the edges."""
    heard = pcm.resample(_sine(1000, rate_hz, 1.0), rate_hz, 16_000)
    wanted = _sine(1000, 16_000, 1.0)
    assert heard.dtype == np.float32
    assert heard.shape == wanted.shape
    assert np.abs(heard - wanted)[800:-800].max() < 0.002


def test_the_same_rate_changes_nothing() -> None:
    """No filter is applied where none is needed."""
    sound = _sine(440, 16_000, 0.1)
    assert (pcm.resample(sound, 16_000, 16_000) == sound).all()


def test_steep_edges_stay_within_full_scale() -> None:
    """The filter rings at a square wave of full scale; what it adds beyond is clipped."""
    square = np.where(np.arange(8000) // 40 % 2, 1.0, -1.0).astype(np.float32)
    assert np.abs(pcm.resample(square, 8_000, 16_000)).max() == 1.0


@settings(max_examples=30, deadline=None)
@given(
    cuts=st.lists(st.integers(0, 5000), max_size=12),
    rate_hz=st.sampled_from([8_000, 16_000, 24_000, 44_100]),
)
def test_blocks_joined_are_the_whole(cuts: list[int], rate_hz: int) -> None:
    """However a stream is cut, empty blocks included, its output is the output of the whole, bit for bit."""
    sound = np.random.default_rng(5).uniform(-1, 1, 5000).astype(np.float32)
    resampler = pcm.StreamResampler(rate_hz, 16_000)
    blocks = [resampler.push(block) for block in np.split(sound, sorted(cuts))]
    streamed = np.concatenate([*blocks, resampler.finish()])
    assert streamed.tobytes() == pcm.resample(sound, rate_hz, 16_000).tobytes()


@pytest.mark.parametrize("rate_hz", [16_000, 8_000])
def test_a_finished_resampler_is_not_used_again(rate_hz: int) -> None:
    """Two streams through one filter would leak into each other."""
    resampler = pcm.StreamResampler(rate_hz, 16_000)
    resampler.finish()
    with pytest.raises(ValueError, match="finished"):
        resampler.push(_floats(0.0))
    with pytest.raises(ValueError, match="finished"):
        resampler.finish()


@pytest.mark.parametrize("rates", [(0, 16_000), (16_000, -1)])
def test_rates_must_be_positive(rates: tuple[int, int]) -> None:
    """A rate of zero is a mistake of the program."""
    with pytest.raises(ValueError, match="positive"):
        pcm.StreamResampler(*rates)
