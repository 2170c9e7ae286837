"""Paired tests: the same questions asked of two systems."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.significance import paired_bootstrap, sign_test


def test_the_sign_test_is_the_exact_binomial() -> None:
    """All of ten the same way is 2 / 2^10; even changes are no evidence; no change is none either."""
    assert sign_test(10, 0) == pytest.approx(2 / 1024)
    assert sign_test(0, 10) == sign_test(10, 0)
    assert sign_test(3, 1) == pytest.approx(2 * (1 + 4) / 16)
    assert sign_test(5, 5) == 1.0 and sign_test(0, 0) == 1.0


def test_a_constant_gain_has_no_spread() -> None:
    """Every question a quarter better: the interval is that quarter, and clear."""
    found = paired_bootstrap([0.75] * 8, [0.5] * 8)
    assert found is not None and (found.mean, found.low, found.high) == (0.25, 0.25, 0.25) and found.is_clear


def test_one_question_of_two_hundred_is_not_clear() -> None:
    """The interval reaches zero."""
    found = paired_bootstrap([1.0] * 200, [0.0] + [1.0] * 199)
    assert found is not None and found.low == 0.0 and not found.is_clear


def test_what_cannot_be_paired_raises_and_nothing_is_none() -> None:
    """Lists of different lengths are different questions."""
    assert paired_bootstrap([], []) is None
    with pytest.raises(ValueError, match="paired"):
        paired_bootstrap([1.0], [1.0, 0.0])


@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0])), min_size=1, max_size=60))
def test_the_interval_holds_the_mean_and_turns_with_the_order(pairs: list[tuple[float, float]]) -> None:
    """low <= mean <= high, the same on every run, and mirrored when the systems change places."""
    one, other = [a for a, _ in pairs], [b for _, b in pairs]
    found, again = paired_bootstrap(one, other), paired_bootstrap(one, other)
    back = paired_bootstrap(other, one)
    assert found is not None and back is not None and found == again
    assert found.low <= found.mean + 1e-12 and found.mean <= found.high + 1e-12
    assert (back.low, back.high) == (pytest.approx(-found.high), pytest.approx(-found.low))
