"""WAV files read and written: every format as sound, every damage as one line, a call streamed to disk."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import audio.wav
from audio import pcm
from audio.errors import FormatError
from audio.riff import WavEncoding, WavLayout, read_layout
from audio.types import CALL_RATE_HZ, FRAME_SAMPLES, Samples
from audio.wav import Channel, Recording, WavWriter, frames, read_wav, write_wav
from tests.audio.wav_bytes import chunk, fmt, riff

SPEECH = Path(__file__).parents[3] / "shared" / "data" / "speech"


def _tone(rate_hz: int, seconds: float = 0.2, hz: float = 500) -> Samples:
    t = np.arange(round(rate_hz * seconds)) / rate_hz
    return (0.5 * np.sin(2 * np.pi * hz * t)).astype(np.float32)


def _file(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def _pcm16(path: Path, samples: Samples, channels: int = 1, rate_hz: int = CALL_RATE_HZ) -> Path:
    return _file(
        path, riff(fmt(1, 16, channels, rate_hz), chunk(b"data", pcm.encode(samples.ravel(), "s16")))
    )


@pytest.mark.parametrize("extensible", [False, True])
@pytest.mark.parametrize(("rate_hz"), [8_000, 16_000, 44_100, 48_000])
@pytest.mark.parametrize(
    ("tag", "bits", "encoding", "error"),
    [
        (1, 8, "u8", 0.005),
        (1, 16, "s16", 0.0003),
        (1, 24, "s24", 0.0003),
        (1, 32, "s32", 0.0003),
        (3, 32, "f32", 0.0003),
        (3, 64, "f64", 0.0003),
        (6, 8, "alaw", 0.02),
        (7, 8, "mulaw", 0.02),
    ],
)
def test_every_format_and_rate_is_the_same_sound(
    tmp_path: Path, tag: int, bits: int, encoding: pcm.Encoding, error: float, rate_hz: int, extensible: bool
) -> None:
    """A tone comes back as that tone at the call's rate, up to the width's own error."""
    data = pcm.encode(_tone(rate_hz), encoding)
    path = _file(
        tmp_path / "a.wav", riff(fmt(tag, bits, 1, rate_hz, extensible=extensible), chunk(b"data", data))
    )
    heard = read_wav(path)
    wanted = _tone(CALL_RATE_HZ)
    assert heard.samples.shape == wanted.shape
    assert heard.samples.dtype == np.float32
    assert np.abs(heard.samples - wanted)[400:-400].max() < error
    assert (heard.source_rate_hz, heard.channels, heard.warnings) == (rate_hz, 1, ())
    assert heard.duration_s == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("channel", "value"), [("mix", 0.25), ("left", 0.5), ("right", 0.0), (0, 0.5), (1, 0.0)]
)
def test_a_stereo_file_is_mixed_or_split(tmp_path: Path, channel: Channel, value: float) -> None:
    """The mix is the mean; left is channel 0."""
    stereo = np.tile(np.array([0.5, 0.0], dtype=np.float32), (400, 1))
    heard = read_wav(_pcm16(tmp_path / "a.wav", stereo, 2), channel)
    assert heard.channels == 2
    assert heard.samples.tolist() == [value] * 400


def test_more_channels_are_mixed_or_chosen_by_index(tmp_path: Path) -> None:
    """Left and right mean nothing among three."""
    path = _pcm16(tmp_path / "a.wav", np.tile(np.array([0.5, 0.0, 0.25], dtype=np.float32), (9, 1)), 3)
    assert read_wav(path, "mix").samples.tolist() == [0.25] * 9
    assert read_wav(path, 2).samples.tolist() == [0.25] * 9
    with pytest.raises(FormatError, match="channel 'left' of 3: choose mix or an index from 0 to 2"):
        read_wav(path, "left")


@pytest.mark.parametrize("channel", ["right", 1, -1])
def test_a_channel_the_file_has_not_is_an_error(tmp_path: Path, channel: Channel) -> None:
    """The left of a mono file is its only channel; the right is nobody."""
    path = _pcm16(tmp_path / "a.wav", _tone(CALL_RATE_HZ))
    assert (read_wav(path, "left").samples == read_wav(path).samples).all()
    with pytest.raises(FormatError, match="no channel .* among 1"):
        read_wav(path, channel)


def test_blocks_do_not_show_in_the_sound(tmp_path: Path) -> None:
    """A file longer than a reading block is the conversion of the whole, bit for bit."""
    sound = np.random.default_rng(1).uniform(-0.5, 0.5, 200_001).astype(np.float32)
    path = _file(tmp_path / "a.wav", riff(fmt(3, 32, 1, 44_100), chunk(b"data", pcm.encode(sound, "f32"))))
    assert read_wav(path).samples.tobytes() == pcm.resample(sound, 44_100, CALL_RATE_HZ).tobytes()


def test_data_cut_short_are_played_to_their_end(tmp_path: Path) -> None:
    """A file cut in the middle of a sample: what is there is heard, two warnings say what is not."""
    whole = _pcm16(tmp_path / "a.wav", _tone(CALL_RATE_HZ))
    heard = read_wav(_file(tmp_path / "b.wav", whole.read_bytes()[:1043]))
    assert heard.samples.tolist() == read_wav(whole).samples[:499].tolist()
    assert len(heard.warnings) == 2
    assert "cut short" in heard.warnings[0]
    assert "partial" in heard.warnings[1]


def test_floats_beyond_full_scale_are_clipped_with_a_warning(tmp_path: Path) -> None:
    """An over-driven float file is heard; the count says how badly."""
    sound = np.array([0.5, 1.5, -3e38, 1.0], dtype="<f4")
    heard = read_wav(_file(tmp_path / "a.wav", riff(fmt(3, 32), chunk(b"data", sound.tobytes()))))
    assert heard.samples.tolist() == [0.5, 1.0, -1.0, 1.0]
    assert heard.warnings == ("2 samples beyond full scale were clipped",)
    stereo = np.array([3.0, -1.0], dtype="<f4")
    mixed = read_wav(_file(tmp_path / "b.wav", riff(fmt(3, 32, 2), chunk(b"data", stereo.tobytes()))))
    assert mixed.samples.tolist() == [0.0], "each channel is clipped before the mix"


@pytest.mark.parametrize(
    ("bits", "value"), [(32, float("nan")), (32, float("inf")), (64, float("nan")), (64, 1e300)]
)
def test_samples_that_are_no_numbers_are_refused(tmp_path: Path, bits: int, value: float) -> None:
    """A NaN would poison the recogniser; the file is wrong, not quiet."""
    data = np.array([0.1, value, 0.2], dtype=f"<f{bits // 8}").tobytes()
    with pytest.raises(FormatError, match="NaN or infinity"):
        read_wav(_file(tmp_path / "a.wav", riff(fmt(3, bits), chunk(b"data", data))))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"RIFF\x24", "cut short"),
        ("请问怎么退款？\n".encode(), "not a RIFF/WAVE file"),
        (riff(fmt(1, 16), chunk(b"data", b"")), "0 samples"),
        (riff(fmt(1, 16, rate_hz=48_000), chunk(b"data", bytes(2))), "1 samples at 48000 Hz are 0 at 16000"),
        (riff(fmt(2, 4), chunk(b"data", bytes(64))), "unsupported: Microsoft ADPCM"),
    ],
)
def test_a_bad_file_is_one_line_with_its_path(tmp_path: Path, data: bytes, message: str) -> None:
    """What, where, how to mend; also when the path itself holds a line break."""
    path = _file(tmp_path / "坏\n文件.wav", data)
    with pytest.raises(FormatError) as caught:
        read_wav(path)
    text = str(caught.value)
    assert text.startswith(repr(str(path)) + ": ")
    assert message in text
    assert "\n" not in text


def test_what_is_no_file_is_a_format_error(tmp_path: Path) -> None:
    """A missing path, a folder and a pipe are refused without waiting on them."""
    pipe = tmp_path / "pipe.wav"
    os.mkfifo(pipe)
    for path in (tmp_path / "missing.wav", tmp_path, pipe):
        with pytest.raises(FormatError, match="no such file, or not a regular one"):
            read_wav(path)


def test_a_file_that_cannot_be_opened_is_a_format_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's reason is in the line, the system's exception behind it."""
    path = _pcm16(tmp_path / "a.wav", _tone(CALL_RATE_HZ))

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(FormatError, match="cannot be read \\(Permission denied\\)") as caught:
        read_wav(path)
    assert isinstance(caught.value.__cause__, PermissionError)


def test_a_recording_longer_than_the_limit_is_refused_by_its_header(tmp_path: Path) -> None:
    """Two hours at most: the refusal comes before memory is taken, from a sparse file that holds no data."""
    path = _file(tmp_path / "a.wav", riff(fmt(1, 8, 1, 8_000), chunk(b"data", b"", 8_000 * 7_201)))
    os.truncate(path, 44 + 8_000 * 7_201)
    with pytest.raises(FormatError, match="7201 s long, at most 7200 s are read: split"):
        read_wav(path)


def test_a_file_that_shrinks_while_it_is_read_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never half a recording without a word."""
    path = _pcm16(tmp_path / "a.wav", _tone(CALL_RATE_HZ))

    def layout_then_cut(stream: BinaryIO, file_bytes: int) -> WavLayout:
        layout = read_layout(stream, file_bytes)
        os.truncate(path, 100)
        return layout

    monkeypatch.setattr("audio.wav.read_layout", layout_then_cut)
    with pytest.raises(FormatError, match="became shorter while it was read"):
        read_wav(path)


@settings(deadline=None)
@given(length=st.integers(0, 5 * FRAME_SAMPLES), start=st.integers(0, 10**9))
def test_frames_are_the_sound_and_zeros(length: int, start: int) -> None:
    """Joined frames are the sound and a tail of zeros; positions follow each other from `start`."""
    sound = np.arange(1, length + 1, dtype=np.float32)
    cut = list(frames(sound, start))
    assert [frame.start for frame in cut] == [
        start + i * FRAME_SAMPLES for i in range(-(-length // FRAME_SAMPLES))
    ]
    assert all(frame.samples.shape == (FRAME_SAMPLES,) for frame in cut)
    joined = np.concatenate([frame.samples for frame in cut] or [sound])
    assert (joined[:length] == sound).all()
    assert not joined[length:].any()


@pytest.mark.parametrize(("encoding", "error"), [("pcm16", 2.0**-15), ("mulaw", 0.02)])
@pytest.mark.parametrize("channels", [1, 2])
def test_a_written_file_reads_back(
    tmp_path: Path, encoding: WavEncoding, error: float, channels: int
) -> None:
    """Mono (n,) and stereo (n, 2), an odd number of bytes too; nothing else is left in the folder."""
    sound = np.random.default_rng(2).uniform(-1, 1, (401, channels)).astype(np.float32)
    path = tmp_path / "a.wav"
    write_wav(path, sound[:, 0] if channels == 1 else sound, CALL_RATE_HZ, encoding)
    for index in range(channels):
        heard = read_wav(path, index)
        assert np.abs(heard.samples - sound[:, index]).max() <= error
    assert (heard.channels, heard.duration_s, heard.warnings) == (channels, 401 / CALL_RATE_HZ, ())
    assert path.stat().st_size % 2 == 0
    assert os.listdir(tmp_path) == ["a.wav"]


def test_an_8_khz_mulaw_file_is_a_telephone_call(tmp_path: Path) -> None:
    """The header is the one telephone systems write: tag 7, 8 bits, 8000 bytes a second, a fact chunk."""
    write_wav(tmp_path / "a.wav", _tone(8_000), 8_000, "mulaw")
    head = (tmp_path / "a.wav").read_bytes()[:58]
    assert struct.unpack("<HHIIHHH", head[20:38]) == (7, 1, 8_000, 8_000, 1, 8, 0)
    assert head[38:42] == b"fact"
    assert read_wav(tmp_path / "a.wav").format == "µ-law"


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    """Replaced in one step or not at all, and no partial file stays behind."""
    path = tmp_path / "a.wav"
    write_wav(path, _tone(CALL_RATE_HZ), CALL_RATE_HZ)
    before = path.read_bytes()
    with pytest.raises(FormatError, match="NaN"):
        write_wav(path, np.array([np.nan], dtype=np.float32), CALL_RATE_HZ)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.wav"]


@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 300), min_size=1, max_size=6).filter(any),
    encoding=st.sampled_from(["pcm16", "mulaw"]),
)
def test_a_streamed_file_is_the_file_written_whole(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], encoding: WavEncoding
) -> None:
    """However the call arrives in blocks, the file is the same bytes."""
    folder = tmp_path_factory.mktemp("stream")
    sound = np.random.default_rng(3).uniform(-1, 1, (sum(sizes), 2)).astype(np.float32)
    with WavWriter(folder / "stream.wav", CALL_RATE_HZ, 2, encoding) as writer:
        for block in np.split(sound, np.cumsum(sizes)[:-1]):
            writer.append(block)
        assert writer.seconds == sum(sizes) / CALL_RATE_HZ
    write_wav(folder / "whole.wav", sound, CALL_RATE_HZ, encoding)
    assert (folder / "stream.wav").read_bytes() == (folder / "whole.wav").read_bytes()


def test_a_file_still_being_written_is_readable(tmp_path: Path) -> None:
    """Every block is on disk when append returns; the open sizes are read to the end with a warning."""
    with WavWriter(tmp_path / "a.wav", CALL_RATE_HZ) as writer:
        for count in (1, 2, 3):
            writer.append(np.full((160, 2), 0.5, dtype=np.float32))
            heard = read_wav(tmp_path / "a.wav")
            assert heard.samples.tolist() == [0.5] * 160 * count
            assert "never filled in" in heard.warnings[0]
    assert read_wav(tmp_path / "a.wav").warnings == ()


def test_a_killed_process_leaves_its_call(tmp_path: Path) -> None:
    """SIGKILL in the middle of a call loses nothing that was appended."""
    path = tmp_path / "a.wav"
    script = (
        "import os, signal, sys, numpy as np\n"
        "from audio.wav import WavWriter\n"
        "writer = WavWriter(sys.argv[1], 16000)\n"
        "writer.append(np.full((320, 2), 0.25, dtype=np.float32))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = Path(audio.wav.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", script, str(path)], cwd=root, timeout=60, check=False)
    assert done.returncode == -9
    assert read_wav(path).samples.tolist() == [0.25] * 320


def test_an_error_inside_the_call_still_closes_the_recording(tmp_path: Path) -> None:
    """The context manager fills in the sizes whatever ended the call; closing again does nothing."""
    with pytest.raises(RuntimeError, match="line lost"), WavWriter(tmp_path / "a.wav", 8_000, 1) as writer:
        writer.append(_tone(8_000))
        raise RuntimeError("line lost")
    writer.close()
    assert read_wav(tmp_path / "a.wav").warnings == ()
    with pytest.raises(ValueError, match="closed file"):
        writer.append(_tone(8_000))


@pytest.mark.parametrize("shape", [(5,), (5, 1), (5, 3), (5, 2, 1)])
def test_a_block_of_another_shape_is_refused(tmp_path: Path, shape: tuple[int, ...]) -> None:
    """Channels are never guessed from a shape."""
    with (
        WavWriter(tmp_path / "a.wav", CALL_RATE_HZ) as writer,
        pytest.raises(ValueError, match="in a file of 2 channels"),
    ):
        writer.append(np.zeros(shape, dtype=np.float32))


@pytest.mark.parametrize(("rate_hz", "channels"), [(7_999, 1), (96_000, 1), (16_000, 0)])
def test_a_file_nobody_could_read_is_not_begun(tmp_path: Path, rate_hz: int, channels: int) -> None:
    """The writer keeps to what the reader takes, and creates nothing otherwise."""
    with pytest.raises(ValueError, match="cannot write"):
        WavWriter(tmp_path / "a.wav", rate_hz, channels)
    assert os.listdir(tmp_path) == []


def _speech() -> list[Path]:
    return sorted(SPEECH.glob("*.wav")) if SPEECH.is_dir() else []


def test_the_human_recordings_are_read() -> None:
    """24 kHz float, chunks before and after the data, 70 s: no warning, the length of the file, an audible level."""
    if not _speech():
        pytest.skip("the human recordings are not beside the project")
    read: dict[str, Recording] = {path.name: read_wav(path) for path in _speech()}
    for heard in read.values():
        assert heard.warnings == ()
        assert len(heard.samples) == round(heard.duration_s * CALL_RATE_HZ)
        assert -45 < pcm.dbfs(heard.samples) < -10
    rates = {(heard.source_rate_hz, heard.format) for heard in read.values()}
    assert (24_000, "float 32-bit") in rates
    assert max(heard.duration_s for heard in read.values()) > 70
