"""Silence taken from both ends of a stream."""

from __future__ import annotations

import numpy as np
import pytest

from audio.trimming import ONSET, TAIL, Trimmer

TONE = np.full(4000, 0.5, dtype=np.float32)
HUSH = np.zeros(8000, dtype=np.float32)


@pytest.mark.parametrize("size", [1, 160, 1000, 40_000])
def test_only_the_ends_are_cut(size: int) -> None:
    """However the stream is cut into blocks: silence goes at both ends and stays in the middle."""
    stream = np.concatenate([HUSH, TONE, HUSH, TONE, HUSH])
    trimmer = Trimmer()
    blocks = [trimmer.push(stream[begin : begin + size]) for begin in range(0, len(stream), size)]
    sound = np.concatenate([*blocks, trimmer.finish()])
    assert len(sound) == ONSET + len(TONE) + len(HUSH) + len(TONE) + TAIL


def test_silence_alone_gives_nothing() -> None:
    """Nothing audible: nothing comes out, and that can be asked."""
    trimmer = Trimmer()
    assert not trimmer.push(HUSH).size and not trimmer.finish().size and not trimmer.audible
