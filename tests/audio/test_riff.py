"""The header of a WAV file: every layout read, every damage named in one line."""

from __future__ import annotations

import io
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audio.errors import FormatError
from audio.riff import UNSIZED, WavEncoding, WavLayout, pack_header, read_layout
from tests.audio.wav_bytes import GUID_TAIL, chunk, fmt, riff

PCM16 = fmt(1, 16)
DATA = chunk(b"data", bytes(8))


def _layout(data: bytes) -> WavLayout:
    return read_layout(io.BytesIO(data), len(data))


@pytest.mark.parametrize("extensible", [False, True])
@pytest.mark.parametrize(
    ("tag", "bits", "encoding", "name"),
    [
        (1, 8, "u8", "PCM 8-bit"),
        (1, 16, "s16", "PCM 16-bit"),
        (1, 24, "s24", "PCM 24-bit"),
        (1, 32, "s32", "PCM 32-bit"),
        (3, 32, "f32", "float 32-bit"),
        (3, 64, "f64", "float 64-bit"),
        (6, 8, "alaw", "A-law"),
        (7, 8, "mulaw", "µ-law"),
    ],
)
def test_every_format_is_known_plain_and_extensible(
    tag: int, bits: int, encoding: str, name: str, extensible: bool
) -> None:
    """The layout says how to decode, where the data lie and how long they are."""
    data = bytes(bits * 2)  # 8 stereo sample frames
    layout = _layout(riff(fmt(tag, bits, 2, 8_000, extensible=extensible), chunk(b"data", data)))
    assert (layout.encoding, layout.name, layout.channels, layout.rate_hz) == (encoding, name, 2, 8_000)
    assert (layout.frame_bytes, layout.frame_count, layout.data_bytes) == (bits // 4, 8, bits * 2)
    assert layout.seconds == 0.001
    assert layout.warnings == ()


def test_chunks_before_and_after_the_data_are_passed_over() -> None:
    """An odd chunk is followed by a pad byte; what comes after the data is not audio."""
    file = riff(chunk(b"LIST", b"odd"), PCM16, chunk(b"fact", bytes(4)), DATA, chunk(b"id3 ", bytes(5)))
    layout = _layout(file)
    assert file[layout.data_start - 8 : layout.data_start - 4] == b"data"
    assert layout.data_bytes == 8
    assert layout.warnings == ()


@pytest.mark.parametrize(
    ("riff_size", "data_size"),
    [(0, 0), (UNSIZED, UNSIZED), (36, 0), (0, UNSIZED), (44, UNSIZED), (UNSIZED, 0)],
)
def test_sizes_never_filled_in_mean_to_the_end(riff_size: int, data_size: int) -> None:
    """What crashed or piping recorders leave is read whole, with a warning."""
    layout = _layout(riff(PCM16, chunk(b"data", bytes(100), data_size), size=riff_size))
    assert layout.data_bytes == 100
    assert len(layout.warnings) == 1
    assert "never filled in" in layout.warnings[0]


def test_data_cut_short_are_read_to_the_end() -> None:
    """A header that promises more than there is: the rest is played, with both numbers in the warning."""
    layout = _layout(riff(PCM16, chunk(b"data", bytes(100), 32_000)))
    assert layout.data_bytes == 100
    assert layout.warnings == ("the data are cut short: 100 of 32000 bytes are there and were read",)


def test_a_partial_last_sample_frame_is_dropped() -> None:
    """The end of the data in the middle of a sample frame costs that frame only."""
    layout = _layout(riff(fmt(1, 16, 2), chunk(b"data", bytes(11))))
    assert layout.data_bytes == 8
    assert layout.warnings == ("a partial sample frame of 3 bytes at the end was dropped",)
    both = _layout(riff(fmt(1, 16, 2), chunk(b"data", bytes(10), 400)))
    assert len(both.warnings) == 2


EXTENSIBLE = fmt(1, 16, extensible=True)
BAD = {
    "empty": (b"", "the file is empty"),
    "three letters": (b"RIF", "header is cut short after 3 bytes"),
    "half a header": (riff()[:11], "header is cut short after 11 bytes"),
    "header alone": (riff(), "no fmt chunk"),
    "text": ("你好，这不是录音。\n".encode() * 9, "not a RIFF/WAVE file: convert"),
    "short text": (b"hi\n", "not a RIFF/WAVE file"),
    "another RIFF": (b"RIFF" + bytes(4) + b"AVI " + bytes(99), "not a RIFF/WAVE file"),
    "flac": (b"fLaC" + bytes(99), "not a RIFF/WAVE file but FLAC"),
    "mp3": (b"ID3\x04" + bytes(99), "not a RIFF/WAVE file but MP3"),
    "ogg": (b"OggS" + bytes(99), "not a RIFF/WAVE file but Ogg"),
    "rf64": (b"RF64" + bytes(99), "not a RIFF/WAVE file but RF64"),
    "big endian": (b"RIFX" + bytes(99), "not a RIFF/WAVE file but big-endian RIFF"),
    "cut in fmt": (riff(PCM16)[:30], "cut short inside its 'fmt' chunk"),
    "cut after fmt": (riff(PCM16), "no data chunk"),
    "cut in a list": (riff(PCM16, chunk(b"LIST", bytes(4), 400)), "cut short inside its 'LIST' chunk"),
    "small fmt": (riff(chunk(b"fmt ", bytes(14)), DATA), "fmt chunk has 14 of at least 16 bytes"),
    "no fmt": (riff(DATA), "no fmt chunk before the data"),
    "no fmt at all": (riff(chunk(b"LIST", bytes(4))), "no fmt chunk"),
    "no data": (riff(PCM16, chunk(b"LIST", bytes(4))), "no data chunk"),
    "0 samples": (riff(PCM16, chunk(b"data", b"")), "0 samples"),
    "0 samples, finished, more chunks": (
        riff(PCM16, chunk(b"data", b""), chunk(b"LIST", bytes(20))),
        "0 samples",
    ),
    "0 samples, unsized": (riff(PCM16, chunk(b"data", b"", UNSIZED)), "0 samples"),
    "less than a frame": (riff(PCM16, chunk(b"data", b"\x01")), "0 samples"),
    "ima adpcm": (riff(fmt(0x11, 4), DATA), "unsupported: IMA ADPCM with 4 bits"),
    "mp3 in wav": (riff(fmt(0x55, 0), DATA), "unsupported: MP3 with 0 bits"),
    "gsm": (riff(fmt(0x31, 0), DATA), "unsupported: GSM 6.10"),
    "unknown codec": (riff(fmt(0x1234, 16), DATA), "unsupported: codec 0x1234"),
    "12 bit": (riff(fmt(1, 12), DATA), "unsupported: PCM with 12 bits"),
    "half float": (riff(fmt(3, 16), DATA), "unsupported: IEEE float with 16 bits"),
    "no rate": (riff(fmt(1, 16, rate_hz=0), DATA), "a rate of 0 Hz"),
    "slow": (riff(fmt(1, 16, rate_hz=7_999), DATA), "a rate of 7999 Hz"),
    "fast": (riff(fmt(1, 16, rate_hz=96_000), DATA), "a rate of 96000 Hz, not 8000 to 48000"),
    "no channel": (riff(fmt(1, 16, channels=0), DATA), "0 channels"),
    "crowd": (riff(fmt(1, 16, channels=33), DATA), "33 channels, not 1 to 32"),
    "wrong alignment": (
        riff(chunk(b"fmt ", struct.pack("<HHIIHH", 1, 2, 16_000, 64_000, 2, 16)), DATA),
        "2 bytes a sample frame where 2 x PCM 16-bit need 4",
    ),
    "short extensible": (
        riff(chunk(b"fmt ", EXTENSIBLE[8:32]), DATA),
        "extensible fmt chunk has 24 of 40 bytes",
    ),
    "foreign subformat": (
        riff(EXTENSIBLE.replace(GUID_TAIL, bytes(14)), DATA),
        "unsupported: subformat 0100" + "00" * 14,
    ),
    "endless chunks": (riff(*[chunk(b"junk", b"")] * 2_000, PCM16, DATA), "no fmt chunk"),
}


@pytest.mark.parametrize(("data", "message"), BAD.values(), ids=BAD.keys())
def test_anything_else_is_one_clear_line(data: bytes, message: str) -> None:
    """One FormatError that names the fault and, after a colon, what to do."""
    with pytest.raises(FormatError) as caught:
        _layout(data)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert ": " in str(caught.value)


@settings(deadline=None)
@given(data=st.binary(max_size=200), keep=st.integers(0, 60))
def test_no_bytes_make_the_reader_fail_otherwise(data: bytes, keep: int) -> None:
    """Whatever follows a true beginning, there is a layout inside the file or a FormatError."""
    file = riff(PCM16, DATA)[:keep] + data
    try:
        layout = _layout(file)
    except FormatError:
        return
    assert 0 < layout.data_bytes <= len(file) - layout.data_start
    assert layout.data_bytes % layout.frame_bytes == 0


@pytest.mark.parametrize(("encoding", "name"), [("pcm16", "s16"), ("mulaw", "mulaw")])
@settings(deadline=None)
@given(channels=st.integers(1, 4), rate_hz=st.integers(8_000, 48_000), count=st.integers(1, 50))
def test_a_packed_header_reads_back(
    encoding: WavEncoding, name: str, channels: int, rate_hz: int, count: int
) -> None:
    """What we write is what we read, finished or left open."""
    data = bytes(count * channels * (2 if encoding == "pcm16" else 1))
    finished = _layout(pack_header(encoding, channels, rate_hz, len(data)) + data)
    assert (finished.encoding, finished.channels, finished.rate_hz) == (name, channels, rate_hz)
    assert finished.frame_count == count
    assert finished.warnings == ()
    cut = _layout(pack_header(encoding, channels, rate_hz, UNSIZED) + data)
    assert cut.frame_count == count
    assert len(cut.warnings) == 1


def test_both_headers_have_equal_length_and_true_sizes() -> None:
    """The sizes are filled in over the open header, so it must not grow; RIFF counts the pad byte, data do not."""
    assert len(pack_header("mulaw", 1, 8_000, UNSIZED)) == len(pack_header("mulaw", 1, 8_000, 801)) == 58
    header = pack_header("mulaw", 1, 8_000, 801)
    assert struct.unpack("<I", header[4:8]) == (58 + 801 + 1 - 8,)
    assert struct.unpack("<I", header[-4:]) == (801,)
    assert struct.unpack("<I", header[46:50]) == (801,)


def test_data_beyond_32_bits_leave_the_sizes_open() -> None:
    """A size that does not fit is never wrapped around."""
    assert pack_header("pcm16", 2, 48_000, 1 << 33) == pack_header("pcm16", 2, 48_000, UNSIZED)
