"""When sound that is still being made may begin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.pacing import FIXED_S, begins_s, flowing, paced
from audio.types import CALL_RATE_HZ, Samples

seconds = st.floats(0.1, 5.0)


@pytest.mark.parametrize(
    ("costs", "lengths", "begins"),
    [
        ([1.0], [3.0], 1.0),
        ([1.0, 1.0], [3.0, 3.0], 1.0),
        ([1.0, 3.5], [3.0, 3.0], 1.5),
        ([1.0, 1.0, 6.0], [3.0, 3.0, 3.0], 2.0),
        ([], [], 0.0),
    ],
)
def test_the_earliest_beginning_without_a_gap(
    costs: list[float], lengths: list[float], begins: float
) -> None:
    """As soon as the first piece is there, or later by what a later piece would come too late."""
    assert begins_s(costs, lengths) == pytest.approx(begins)


class Kitchen:
    """Makes blocks at a fixed rate of work on a clock of its own, and notes when each was given out."""

    def __init__(self, rate: float, lengths: Sequence[float]) -> None:
        self.rate, self.lengths, self.clock = rate, lengths, 0.0

    def __iter__(self) -> Iterator[Samples]:
        for length in self.lengths:
            self.clock += self.rate * (length + FIXED_S)
            yield np.zeros(int(length * CALL_RATE_HZ), dtype=np.float32)

    def given_out(self, expected_s: Sequence[float]) -> list[float]:
        return [self.clock for _ in paced(self, expected_s, lambda: self.clock)]


@given(st.floats(0.05, 3.0), st.lists(seconds, min_size=1, max_size=6))
def test_no_gap_inside_a_sentence(rate: float, lengths: list[float]) -> None:
    """Whatever the machine's speed, as long as it keeps it: no block comes after the one before has ended."""
    times = Kitchen(rate, lengths).given_out(lengths)
    assert len(times) == len(lengths)
    ends = times[0]
    for at, length in zip(times, lengths, strict=True):
        assert at <= ends + 1e-6
        ends += length


def test_a_fast_machine_speaks_at_once_and_a_slow_one_waits() -> None:
    """The first clause goes out alone where the second will be there in time, else both together."""
    lengths = [1.5, 3.0]
    assert Kitchen(0.3, lengths).given_out(lengths)[0] == pytest.approx(0.3 * (1.5 + FIXED_S))
    slow = Kitchen(1.5, lengths).given_out(lengths)
    assert slow[0] == slow[1]


def test_no_block_is_lost_when_there_are_more_or_fewer_than_expected() -> None:
    """The expectation is a guess; everything made is given out."""
    assert len(Kitchen(2.0, [1.0, 1.0, 1.0]).given_out([1.0])) == 3
    assert len(Kitchen(2.0, [1.0]).given_out([1.0, 5.0])) == 1


@pytest.mark.parametrize(("rate", "heard"), [(0.1, 1), (5.0, 0)])
def test_a_fault_passes_and_what_was_held_back_is_not_heard(rate: float, heard: int) -> None:
    """Whoever speaks the sentence again then need not repeat a part of it."""
    kitchen = Kitchen(rate, [1.0])

    def breaks() -> Iterator[Samples]:
        yield from kitchen
        raise ValueError("broken")

    given_out: list[Samples] = []
    with pytest.raises(ValueError, match="broken"):
        for block in paced(breaks(), [1.0, 2.0], lambda: kitchen.clock):
            given_out.append(block)
    assert len(given_out) == heard


@pytest.mark.parametrize(
    ("received", "took", "may"),
    [(0.5, 0.1, True), (0.5, 0.0, True), (0.5, 1.0, False), (1.0, 2.0, False), (3.0, 6.0, True)],
)
def test_a_stream_slower_than_speech_must_be_ahead(received: float, took: float, may: bool) -> None:
    """Of four seconds: at once when it comes faster than it is spoken, else when the rest can no longer fall behind."""
    assert flowing(received, took, 4.0) is may
