"""The agent's voice under the caller's: lowered, raised, and said again where it was paused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.playback import DUCKED, RAMP_S, Finished, Playback, Started
from audio.types import Samples

RATE = 16_000
BLOCK = 320


def sound(length: int) -> Samples:
    """No two samples alike, none zero: what is missing, twice, or out of place is seen."""
    return np.linspace(0.1, 0.9, length, dtype=np.float32)


def playing(samples: Samples) -> Playback:
    playback = Playback(RATE)
    playback.add(1, samples)
    playback.complete(1)
    return playback


def test_a_duck_lowers_the_voice_without_a_click_and_without_losing_a_sample() -> None:
    """Within the ramp the gain falls by small steps to DUCKED, then stays; the place in the item goes on as ever."""
    samples = sound(4 * BLOCK)
    playback = playing(samples)
    plain, _ = playback.take(BLOCK)
    playback.duck()
    low = np.concatenate([playback.take(BLOCK)[0], playback.take(BLOCK)[0]])
    gains = low / samples[BLOCK : 3 * BLOCK]
    ramp = int(RAMP_S * RATE)
    assert np.array_equal(plain, samples[:BLOCK])
    assert np.abs(np.diff(gains)).max() < 0.01 and gains[0] > 0.95
    assert gains[ramp:] == pytest.approx(DUCKED, rel=1e-5) and playback.gain == DUCKED
    playback.unduck()
    back = playback.take(BLOCK)[0] / samples[3 * BLOCK :]
    assert back[ramp:] == pytest.approx(1.0, rel=1e-5)


def test_an_empty_block_is_no_fault_while_ducked() -> None:
    """Nothing to play: the ramp goes on in silence."""
    playback = Playback(RATE)
    playback.duck()
    block, facts = playback.take(BLOCK)
    assert not block.any() and not facts and playback.gain == DUCKED


@given(
    length=st.integers(10 * BLOCK, 40 * BLOCK),
    before=st.integers(1, 8),
    ducked=st.integers(0, 9),
    gap=st.integers(1, 5),
)
def test_without_the_stretch_from_duck_to_resume_the_item_is_whole(
    length: int, before: int, ducked: int, gap: int
) -> None:
    """Wherever it is ducked and paused, what is heard before and after is the item, sample for sample."""
    samples = sound(length)
    playback = playing(samples)
    blocks = [playback.take(BLOCK)[0] for _ in range(before)]
    playback.duck()
    for _ in range(min(ducked, length // BLOCK - before - 1)):
        playback.take(BLOCK)
    playback.pause()
    assert not any(playback.take(BLOCK)[0].any() for _ in range(gap))
    playback.resume()
    facts: list[object] = []
    while not playback.idle:
        block, told = playback.take(BLOCK)
        blocks.append(block)
        facts += told
    heard = np.concatenate(blocks)
    assert np.array_equal(heard[heard != 0], samples)
    assert facts == [Finished(1, length % BLOCK or BLOCK)]


def test_a_pause_while_the_voice_still_rises_loses_nothing() -> None:
    """The ramp up counts as ducked: a caller who starts again at once hears those samples again too."""
    samples = sound(6 * BLOCK)
    playback = playing(samples)
    first = playback.take(BLOCK)[0]
    playback.duck()
    playback.take(BLOCK)
    playback.unduck()
    playback.take(80)
    playback.pause()
    playback.resume()
    rest = playback.take(5 * BLOCK)[0]
    assert np.array_equal(np.concatenate([first, rest]), samples)


def test_an_item_is_started_once_even_if_it_is_begun_again() -> None:
    """Ducked from its first sample and paused: it goes back to its start, but it has begun and is not dropped."""
    playback = Playback(RATE)
    playback.duck()
    playback.add(1, sound(2 * BLOCK))
    playback.complete(1)
    _, facts = playback.take(BLOCK)
    assert facts == [Started(1, 0)]
    playback.pause()
    assert playback.drop_unstarted() == () and playback.sounding() is None
    playback.resume()
    _, facts = playback.take(2 * BLOCK)
    assert facts == [Finished(1, 2 * BLOCK)]


def test_what_has_ended_is_not_said_again() -> None:
    """A duck that reaches into the next item takes only that one back."""
    playback = playing(sound(BLOCK + 10))
    second = sound(4 * BLOCK)
    playback.add(2, second)
    playback.complete(2)
    playback.take(BLOCK)
    playback.duck()
    playback.take(BLOCK)
    playback.pause()
    playback.resume()
    assert np.array_equal(playback.take(4 * BLOCK)[0], second)


def test_silence_ends_the_duck() -> None:
    """The next thing said is said in full."""
    playback = playing(sound(4 * BLOCK))
    playback.duck()
    playback.take(BLOCK)
    playback.silence()
    samples = sound(BLOCK)
    playback.add(2, samples)
    assert np.array_equal(playback.take(BLOCK)[0], samples)
    assert playback.sounding() == (2, BLOCK / RATE, None)
