"""Playback: what was asked for is heard once, in order, and counted to the sample."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from audio.playback import Finished, Playback, Started
from audio.types import Samples

RATE = 16_000


def tone(length: int, value: float = 0.5) -> Samples:
    return np.full(length, value, dtype=np.float32)


def test_items_sound_in_order_and_their_ends_are_known_to_the_sample() -> None:
    """The start and end of every item carry the offset in the block in which they fell."""
    playback = Playback(RATE)
    playback.add(1, tone(250))
    playback.complete(1)
    playback.add(2, tone(100))
    playback.complete(2)
    block, facts = playback.take(320)
    assert facts == [Started(1, 0), Finished(1, 250), Started(2, 250)]
    assert np.count_nonzero(block) == 320
    block, facts = playback.take(320)
    assert facts == [Finished(2, 30)] and np.count_nonzero(block) == 30
    assert playback.idle


def test_a_pause_keeps_the_place() -> None:
    """What was heard with the gap taken out is what would have been heard without it."""
    sound = np.linspace(0.1, 0.9, 1000, dtype=np.float32)
    playback = Playback(RATE)
    playback.add(1, sound)
    playback.complete(1)
    first, _ = playback.take(320)
    playback.pause()
    gap, facts = playback.take(320)
    assert not gap.any() and not facts and not playback.idle
    playback.resume()
    rest, facts = playback.take(680)
    assert np.array_equal(np.concatenate([first, rest]), sound)
    assert facts == [Finished(1, 680)]


def test_silence_tells_how_much_was_heard() -> None:
    """Seconds heard of the item cut, zero for those behind it, and nothing sounds afterwards."""
    playback = Playback(RATE)
    playback.add(1, tone(RATE))
    playback.add(2, tone(RATE))
    playback.take(RATE // 2)
    assert playback.silence() == {1: 0.5, 2: 0.0}
    block, facts = playback.take(320)
    assert not block.any() and not facts and playback.idle


def test_a_halt_drops_only_what_was_not_begun() -> None:
    """The item now playing goes on; those behind it are gone."""
    playback = Playback(RATE)
    for item in (1, 2, 3):
        playback.add(item, tone(640))
        playback.complete(item)
    playback.take(320)
    assert playback.drop_unstarted() == (2, 3)
    block, facts = playback.take(640)
    assert np.count_nonzero(block) == 320 and facts == [Finished(1, 320)]


def test_an_item_that_waits_for_sound_is_an_underrun() -> None:
    """Silence in the middle of an item is counted, and the item goes on when its sound arrives."""
    playback = Playback(RATE)
    playback.add(1, tone(100))
    block, _ = playback.take(320)
    assert np.count_nonzero(block) == 100 and playback.underruns == 1
    playback.add(1, tone(100))
    playback.complete(1)
    block, facts = playback.take(320)
    assert np.count_nonzero(block) == 100 and facts == [Finished(1, 100)]


def test_an_item_without_sound_is_never_announced() -> None:
    """Nothing heard, nothing said to have been heard."""
    playback = Playback(RATE)
    playback.add(1, tone(0))
    playback.complete(1)
    _, facts = playback.take(320)
    assert facts == [] and playback.idle


@given(
    st.lists(st.integers(1, 900), min_size=1, max_size=6),
    st.lists(st.integers(1, 700), min_size=1, max_size=30),
)
def test_nothing_is_lost_or_doubled(lengths: list[int], blocks: list[int]) -> None:
    """Whatever the block sizes, the samples heard are the samples queued, and each item starts and ends once."""
    playback = Playback(RATE)
    sounds = [np.arange(1, n + 1, dtype=np.float32) for n in lengths]
    for item, sound in enumerate(sounds):
        playback.add(item, sound[: len(sound) // 2])
        playback.add(item, sound[len(sound) // 2 :])
        playback.complete(item)
    heard, facts = [], []
    for size in [*blocks, sum(lengths)]:
        block, found = playback.take(size)
        heard.append(block)
        facts.extend(found)
    joined = np.concatenate(heard)
    assert np.array_equal(joined[joined > 0], np.concatenate(sounds))
    assert [f.item for f in facts if isinstance(f, Started)] == list(range(len(lengths)))
    assert [f.item for f in facts if isinstance(f, Finished)] == list(range(len(lengths)))
