"""Measures by hand-made examples, bounds against an independent implementation."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.metrics import (
    Judged,
    average_precision,
    binomial_cdf,
    clarify_rate,
    clopper_pearson,
    false_accept,
    false_reject,
    hit_at,
    mean,
    ndcg_at,
    percentile,
    rate,
    recall_at,
    reciprocal_rank,
    upper_bound,
    wrong_answer,
)
from retrieval.types import Outcome


def test_recall_counts_each_expected_and_hit_counts_any() -> None:
    """Of two expected passages one found is half a recall and a whole hit."""
    assert recall_at(3, ["x", "a", "y", "b"], {"a", "b"}) == 0.5
    assert hit_at(3, ["x", "a", "y", "b"], {"a", "b"}) == 1.0
    assert hit_at(1, ["x", "a"], {"a"}) == 0.0


def test_reciprocal_rank_is_of_the_first_right_one() -> None:
    """1 / rank; 0 when nothing right was found."""
    assert reciprocal_rank(["x", "a", "b"], {"a", "b"}) == 0.5
    assert reciprocal_rank(["x"], {"a"}) == 0.0


def test_ndcg_by_hand() -> None:
    """Gain 1 / log2(rank + 1), ideal with all expected in front; a repeated id earns nothing twice."""
    ideal = 1 + 1 / math.log2(3)
    assert ndcg_at(10, ["x", "a", "b"], {"a", "b"}) == pytest.approx((1 / math.log2(3) + 0.5) / ideal)
    assert ndcg_at(10, ["a", "a"], {"a"}) == 1.0
    assert ndcg_at(2, ["x", "y", "a"], {"a"}) == 0.0


def test_average_precision_is_pure_when_the_right_ones_stand_first() -> None:
    """The mean of precision at each right place; what is missing does not lower it, what stands before does."""
    assert average_precision(["a", "b", "x"], {"a", "b"}) == 1.0
    assert average_precision(["x", "a", "b"], {"a", "b"}) == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert average_precision(["a"], {"a", "b"}) == 1.0
    assert average_precision(["x"], {"a"}) == 0.0


def test_a_percentile_is_one_of_the_values() -> None:
    """Nearest rank: of four values the half is the second; P95 of few values is the last."""
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.0
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.95) == 4.0
    assert percentile([1.0], 0.0) == 1.0 and percentile([], 0.5) is None


def test_nothing_expected_is_an_error_not_a_number() -> None:
    """A question without an expected passage has no recall and must not enter a mean as 0 or NaN."""
    for measure in (
        lambda: recall_at(1, ["a"], ()),
        lambda: ndcg_at(1, ["a"], ()),
        lambda: reciprocal_rank([], ()),
    ):
        with pytest.raises(ValueError, match="no recall"):
            measure()
    assert mean([]) is None
    assert rate(0, 0).share is None


JUDGED = [
    Judged(Outcome.ANSWER, must_refuse=True),
    Judged(Outcome.CLARIFY, must_refuse=True),
    Judged(Outcome.REFUSE, must_refuse=True),
    Judged(Outcome.ANSWER, must_refuse=False, right=True),
    Judged(Outcome.ANSWER, must_refuse=False, right=False),
    Judged(Outcome.REFUSE, must_refuse=False),
    Judged(Outcome.CLARIFY, must_refuse=False),
]


def test_accept_and_reject_rates_have_their_own_denominators() -> None:
    """False accepts count among what must be refused, the others among what has an answer; asking back is neither."""
    assert (false_accept(JUDGED).count, false_accept(JUDGED).total) == (1, 3)
    assert (false_reject(JUDGED).count, false_reject(JUDGED).total) == (1, 4)
    assert (wrong_answer(JUDGED).count, wrong_answer(JUDGED).total) == (1, 4)
    assert (clarify_rate(JUDGED).count, clarify_rate(JUDGED).total) == (2, 7)


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [  # the exact interval by the beta quantile, from an independent table
        (0, 10, 0.0, 0.3084971),
        (10, 10, 0.6915029, 1.0),
        (1, 20, 0.0012651, 0.2487328),
        (5, 160, 0.0102231, 0.0714177),
        (160, 300, 0.4751235, 0.5908784),
    ],
)
def test_clopper_pearson_against_known_values(count: int, total: int, low: float, high: float) -> None:
    """The bisection agrees with the beta quantile."""
    assert clopper_pearson(count, total) == (pytest.approx(low, abs=1e-6), pytest.approx(high, abs=1e-6))


def test_no_error_in_three_hundred_is_still_one_percent() -> None:
    """The rule of three: 0 of 300 leaves a one-sided 95 % bound of 1 - 0.05 ** (1 / 300)."""
    assert upper_bound(0, 300) == pytest.approx(1 - 0.05 ** (1 / 300), abs=1e-9)


def test_thousands_of_trials_do_not_underflow() -> None:
    """The distribution is summed by logarithms: the middle of 20,000 fair trials is still about one half."""
    assert binomial_cdf(10_000, 20_000, 0.5) == pytest.approx(0.5028, abs=1e-3)


def test_nothing_known_is_zero_to_one_and_nonsense_is_refused() -> None:
    """Without trials the interval is everything; impossible counts raise."""
    assert clopper_pearson(0, 0) == (0.0, 1.0)
    for count, total, confidence in ((3, 2, 0.95), (-1, 2, 0.95), (1, 2, 1.0)):
        with pytest.raises(ValueError, match="no interval"):
            clopper_pearson(count, total, confidence)


@given(st.integers(1, 500), st.floats(0.001, 0.999), st.data())
def test_interval_holds_the_share_and_cdf_is_a_distribution(
    total: int, p: float, data: st.DataObject
) -> None:
    """Bounds enclose count / total inside [0, 1]; the distribution function rises with the count."""
    count = data.draw(st.integers(0, total))
    low, high = clopper_pearson(count, total)
    assert 0.0 <= low <= count / total <= high <= 1.0
    assert 0.0 <= binomial_cdf(count - 1, total, p) <= binomial_cdf(count, total, p) <= 1.0
