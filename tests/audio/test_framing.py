"""Any rate, channels and block size in, frames of 20 ms at 16 kHz out."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audio.errors import FormatError
from audio.framing import Framer
from audio.pcm import resample
from audio.types import CALL_RATE_HZ, FRAME_SAMPLES, AudioFrame, Samples
from audio.vad import VoiceDetector

RATES = (8_000, 11_025, 16_000, 22_050, 44_100, 48_000, 96_000)


def _noise(count: int, channels: int = 1) -> Samples:
    return (
        np.random.default_rng(count).uniform(-0.5, 0.5, (count, channels)).astype(np.float32)
        if channels > 1
        else np.random.default_rng(count).uniform(-0.5, 0.5, count).astype(np.float32)
    )


def _all(framer: Framer, *blocks: Samples) -> list[AudioFrame]:
    return [frame for block in blocks for frame in framer.push(block)] + framer.flush()


def _joined(frames: list[AudioFrame]) -> Samples:
    return np.concatenate([frame.samples for frame in frames] or [np.zeros(0, dtype=np.float32)])


@settings(max_examples=60)
@given(
    rate=st.sampled_from(RATES),
    channels=st.integers(1, 3),
    sizes=st.lists(st.integers(0, 3000), max_size=12),
)
def test_how_sound_was_cut_into_blocks_never_shows(rate: int, channels: int, sizes: list[int]) -> None:
    """Blocks of any sizes give the frames of the whole, sample for sample, each exactly after the one before."""
    sound = _noise(sum(sizes), channels)
    ends = np.cumsum([0, *sizes])
    blocks = [sound[a:b] for a, b in pairwise(ends)]
    cut, whole = _all(Framer(rate, channels), *blocks), _all(Framer(rate, channels), sound)
    assert [frame.start for frame in cut] == [n * FRAME_SAMPLES for n in range(len(whole))]
    assert all(len(frame.samples) == FRAME_SAMPLES and not frame.lost for frame in cut)
    np.testing.assert_array_equal(_joined(cut), _joined(whole))


@pytest.mark.parametrize("rate", RATES)
def test_frames_hold_the_whole_sound(rate: int) -> None:
    """Nothing is missing at the end of the stream: the tail is filled up with silence, less than one frame of it."""
    sound = _noise(rate + 17)
    expected = resample(sound, rate, CALL_RATE_HZ)
    got = _joined(_all(Framer(rate), sound))
    assert 0 <= len(got) - len(expected) < FRAME_SAMPLES
    np.testing.assert_array_equal(got[: len(expected)], expected)
    assert not got[len(expected) :].any()


@pytest.mark.parametrize("rate", [8_000, 11_025, 44_100, 48_000])
@pytest.mark.parametrize("size", [1, 37, 441, 480, 4096])
def test_the_detector_takes_every_frame_of_every_device(rate: int, size: int) -> None:
    """FIELD A7-37 (py-webrtcvad#3, #30, #54; FunASR#173): 44.1 kHz and odd blocks were errors; 20 ms always come."""
    sound = _noise(rate // 4)
    detector = VoiceDetector()
    blocks = [sound[at : at + size] for at in range(0, len(sound), size)]
    frames = _all(Framer(rate), *blocks)
    for frame in frames:
        detector.is_voiced(frame)
    assert len(frames) == pytest.approx(12.5, abs=1)


def test_channels_are_averaged_and_clipped() -> None:
    """Full scale on both sides is full scale; beyond it nothing passes."""
    both = np.stack([np.full(640, 3.0), np.full(640, -0.5)], axis=1).astype(np.float32)
    np.testing.assert_array_equal(_joined(_all(Framer(CALL_RATE_HZ, 2), both)), np.full(640, 0.25))


def test_one_channel_comes_in_either_shape() -> None:
    """A column, as devices give it, is the same sound as a row."""
    sound = _noise(1000)
    row, column = _all(Framer(48_000), sound), _all(Framer(48_000), sound[:, None])
    np.testing.assert_array_equal(_joined(row), _joined(column))


@settings(max_examples=60)
@given(
    rate=st.sampled_from(RATES),
    before=st.integers(0, 9_000),
    gap=st.integers(1, 30_000),
    after=st.integers(0, 9_000),
)
def test_time_goes_on_where_sound_was_lost(rate: int, before: int, gap: int, after: int) -> None:
    """As many frames as without the loss; those over the gap, and only those, are marked."""
    sound = _noise(before + after)
    framer = Framer(rate)
    frames = [
        *framer.push(sound[:before]),
        *framer.lose(gap),
        *framer.push(sound[before:]),
        *framer.flush(),
    ]
    untouched = _all(Framer(rate), _noise(before + gap + after))
    assert [frame.start for frame in frames] == [frame.start for frame in untouched]
    lost_from, lost_until = (n * CALL_RATE_HZ // rate for n in (before, before + gap))
    for frame in frames:
        assert frame.lost == (frame.start < lost_until and frame.start + FRAME_SAMPLES > lost_from)


def test_a_device_that_comes_back_goes_on_where_the_old_one_stopped() -> None:
    """Another rate, another Framer, one clock."""
    old = Framer(48_000)
    first = _all(old, _noise(48_000))
    new = Framer(8_000, start=old.position)
    second = [*new.lose(400), *new.push(_noise(800)), *new.flush()]
    starts = [frame.start for frame in first + second]
    assert starts == [n * FRAME_SAMPLES for n in range(len(starts))]
    assert [frame.lost for frame in second] == [True, True, True, False, False, False, False, False]


@pytest.mark.parametrize(("rate", "channels"), [(7_999, 1), (200_000, 1), (0, 1), (16_000, 0), (16_000, 65)])
def test_impossible_streams_are_refused(rate: int, channels: int) -> None:
    """One line that says what is possible."""
    with pytest.raises(FormatError, match="choose 1 to 64 channels") as fault:
        Framer(rate, channels)
    assert "\n" not in str(fault.value)


@pytest.mark.parametrize(
    "block",
    [
        np.zeros((10, 3), dtype=np.float32),
        np.zeros(10, dtype=np.float32),
        np.zeros((2, 2, 2), dtype=np.float32),
        np.full((10, 2), np.nan, dtype=np.float32),
        np.full((10, 2), np.inf, dtype=np.float32),
    ],
    ids=["channels", "row", "cube", "nan", "infinite"],
)
def test_broken_blocks_are_refused(block: Samples) -> None:
    """A device that gives something else than it promised is a fault, not silence (FIELD A7-42)."""
    with pytest.raises(FormatError):
        Framer(16_000, 2).push(block)


def test_nothing_follows_the_end() -> None:
    """After the flush the stream is over, and no time is lost backwards."""
    framer = Framer(8_000)
    framer.flush()
    with pytest.raises(ValueError, match="finished"):
        framer.push(_noise(10))
    with pytest.raises(ValueError, match="cannot be lost"):
        Framer(8_000).lose(-1)
