"""Twice the rate and half of it: the telephone's band comes through, its mirror image does not, no joint shows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audio.halfband import TAPS, Doubler, Halver
from audio.types import Samples

DELAY = TAPS // 2  # samples at the higher rate


def tone(hz: float, rate_hz: int, count: int, late: float = 0) -> Samples:
    """`late` is in samples."""
    return (0.5 * np.sin(2 * np.pi * hz * (np.arange(count) - late) / rate_hz)).astype(np.float32)


def level_db(error: Samples) -> float:
    return float(20 * np.log10(np.sqrt(np.mean(error**2)) / (0.5 / np.sqrt(2)) + 1e-12))


@pytest.mark.parametrize("hz", [100, 300, 1000, 2000, 3000, 3400])
def test_the_telephone_band_comes_through(hz: float) -> None:
    """Either way a tone of the band is the same tone, 2 ms late, to better than 50 dB."""
    up = Doubler().push(tone(hz, 8_000, 4000))
    assert level_db((up - tone(hz, 16_000, 8000, late=DELAY))[500:]) < -50
    down = Halver().push(tone(hz, 16_000, 8000))
    assert level_db((down - tone(hz, 8_000, 4000, late=DELAY / 2))[250:]) < -50


@pytest.mark.parametrize("hz", [4600, 5000, 6000, 7900])
def test_what_the_telephone_cannot_carry_is_gone(hz: float) -> None:
    """Above the band nothing folds back into it."""
    assert level_db(Halver().push(tone(hz, 16_000, 8000))[200:]) < -60


@pytest.mark.parametrize("hz", [300, 3400])
def test_no_mirror_image_is_left(hz: float) -> None:
    """After doubling, a tone has no twin at 8 kHz less its own frequency."""
    up = Doubler().push(tone(hz, 8_000, 8000))[1000:-1000]
    spectrum = np.abs(np.fft.rfft(up * np.hanning(len(up))))
    at = np.fft.rfftfreq(len(up), 1 / 16_000)
    twin = spectrum[np.abs(at - (8_000 - hz)) < 30].max()
    assert 20 * np.log10(twin / spectrum.max()) < -60


@settings(max_examples=50, deadline=None)
@given(cuts=st.lists(st.integers(0, 2000), max_size=12))
def test_blocks_joined_are_the_whole(cuts: list[int]) -> None:
    """However a stream is cut, empty blocks and odd ones included."""
    sound = np.random.default_rng(3).uniform(-0.5, 0.5, 2000).astype(np.float32)
    for make in (Doubler, Halver):
        stream = make()
        joined = np.concatenate([stream.push(block) for block in np.split(sound, sorted(cuts))])
        np.testing.assert_allclose(joined, make().push(sound), atol=1e-6)


def test_there_and_back_is_the_sound() -> None:
    """The two filters one after the other delay by 62 samples of the higher rate and change the band by under 1 %."""
    sound = tone(700, 8_000, 4000)
    back = Halver().push(Doubler().push(sound))
    assert len(back) == len(sound)
    assert np.abs(back[DELAY:] - sound[:-DELAY])[200:].max() < 0.005


def test_a_full_scale_edge_is_clipped() -> None:
    """The filter rings at a square wave; what it adds beyond full scale is cut off."""
    square = np.where(np.arange(4000) // 40 % 2, 1.0, -1.0).astype(np.float32)
    assert np.abs(Doubler().push(square)).max() == 1.0
