"""Cutting long utterances, and the level of the loud frames."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.cuts import level_dbfs, windows
from audio.types import CALL_RATE_HZ, Samples


def _sound(*parts: tuple[float, float]) -> Samples:
    """Square waves of (seconds, amplitude), one after the other."""
    pieces = []
    for seconds, amplitude in parts:
        signs = np.where(np.arange(int(seconds * CALL_RATE_HZ)) // 20 % 2, 1.0, -1.0)
        pieces.append(signs * amplitude)
    return np.concatenate(pieces).astype(np.float32)


@given(
    st.lists(st.tuples(st.floats(0.05, 5.0), st.floats(0.0, 1.0)), min_size=1, max_size=6), st.floats(1, 4)
)
def test_pieces_are_short_and_join_to_the_whole(parts: list[tuple[float, float]], longest_s: float) -> None:
    """Nothing is lost, repeated or moved, no piece is longer than allowed or empty."""
    whole = _sound(*parts)
    pieces = windows(whole, longest_s)
    assert np.array_equal(np.concatenate(pieces), whole)
    assert all(0 < len(piece) <= longest_s * CALL_RATE_HZ for piece in pieces)


def test_a_cut_lies_in_the_pause() -> None:
    """Speech is cut where it rests, in the later half of what a piece may hold."""
    pieces = windows(_sound((1.0, 0.5), (0.4, 0.0), (4.6, 0.5), (0.6, 0.001), (6.0, 0.5)), 8.0)
    assert [len(piece) / CALL_RATE_HZ for piece in pieces] == [
        pytest.approx(6.3, abs=0.3),
        pytest.approx(6.3, abs=0.3),
    ]


def test_what_fits_stays_whole() -> None:
    """An utterance of exactly the longest length is one piece."""
    whole = _sound((2.0, 0.1))
    assert [len(piece) for piece in windows(whole, 2.0)] == [len(whole)]


@pytest.mark.parametrize(
    ("sound", "level"),
    [
        (_sound((1.0, 0.1)), -20.0),
        (_sound((9.0, 0.0), (1.0, 0.1)), -20.0),
        (_sound((1.0, 0.0)), -np.inf),
        (_sound((0.01, 0.5)), -np.inf),
        (np.zeros(0, dtype=np.float32), -np.inf),
    ],
    ids=["sound", "mostly pause", "silence", "shorter than a frame", "nothing"],
)
def test_level_is_that_of_the_loud_frames(sound: Samples, level: float) -> None:
    """Pauses do not lower it; silence has none."""
    assert level_dbfs(sound) == pytest.approx(level, abs=0.1)
