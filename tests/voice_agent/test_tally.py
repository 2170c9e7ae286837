"""The count of a turn's sentences, and the lock in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.types import Verdict, VerdictReason
from voice_agent.call.tally import Counts, Tally, UncheckedError

GOOD, BAD = Verdict(True), Verdict(False, VerdictReason.POLARITY)


def test_only_a_passed_sentence_is_released_and_only_once() -> None:
    """Never judged, blocked, or gone already: refused."""
    tally = Tally()
    tally.judged(0, GOOD)
    tally.judged(1, BAD)
    tally.release(0)
    for index in (0, 1, 2):
        with pytest.raises(UncheckedError, match=f"sentence {index}"):
            tally.release(index)


def test_a_block_cannot_be_talked_away() -> None:
    """A later pass of the same place does not undo it; a later block undoes a pass."""
    tally = Tally()
    for index, verdicts in ((0, (BAD, GOOD)), (1, (GOOD, BAD))):
        for verdict in verdicts:
            tally.judged(index, verdict)
        with pytest.raises(UncheckedError):
            tally.release(index)


def test_what_was_not_released_must_not_sound() -> None:
    """Nor may the same sentence begin twice."""
    tally = Tally()
    tally.judged(0, GOOD)
    with pytest.raises(UncheckedError):
        tally.sounded(0)
    tally.release(0)
    tally.sounded(0)
    with pytest.raises(UncheckedError):
        tally.sounded(0)


def test_counts_add_up() -> None:
    """A call's are the sum of its turns', reason by reason."""
    one = Counts(2, 2, {"POLARITY": 1}, 1)
    both = one.plus(Counts(3, 2, {"POLARITY": 1, "STALE": 1}, 0))
    assert both == Counts(5, 4, {"POLARITY": 2, "STALE": 1}, 1)
    assert one.as_json() == {"generated": 2, "checked": 2, "blocked": {"POLARITY": 1}, "spoken": 1}


steps = st.tuples(st.sampled_from(["judge", "block", "release", "sound"]), st.integers(0, 4))


@given(st.lists(steps, max_size=40))
def test_never_more_spoken_than_checked(script: list[tuple[str, int]]) -> None:
    """Whatever is tried in whatever order: spoken <= checked <= generated."""
    tally = Tally()
    todo = {
        "judge": lambda i: tally.judged(i, GOOD),
        "block": lambda i: tally.judged(i, BAD),
        "release": tally.release,
        "sound": tally.sounded,
    }
    for what, index in script:
        try:
            todo[what](index)
        except UncheckedError:
            continue
    counts = tally.counts
    assert counts.spoken <= counts.checked <= counts.generated
    assert sum(counts.blocked.values()) <= counts.checked
