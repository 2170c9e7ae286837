"""Thresholds for a stated rate: chosen on one half, measured on the other, honest about the size of the sample."""

from __future__ import annotations

import math

import pytest

from retrieval.calibrate import (
    Example,
    Wanted,
    accepted,
    asked_back,
    choose,
    clean_sample,
    halves,
    rejected,
    survives,
)
from retrieval.metrics import upper_bound
from tests.retrieval.test_gate import GOOD, PLAIN


def example(number: int, margin: float | None, must_refuse: bool = False, right: bool = True) -> Example:
    """The sureness is the sigmoid of the margin alone."""
    return Example(f"q{number}", {**GOOD, "rerank_margin": margin}, must_refuse, right)


def crowd(answerable: list[float], unanswerable: list[float]) -> list[Example]:
    """Each margin 40 times, so that both halves hold about 20 of it."""
    margins = [(m, False) for m in answerable] + [(m, True) for m in unanswerable]
    return [example(100 * i + n, m, refuse) for i, (m, refuse) in enumerate(margins) for n in range(40)]


def test_halves_are_disjoint_whole_and_stable() -> None:
    """Every question is in exactly one half, the same one whatever stands beside it."""
    examples = [example(n, 1.0) for n in range(200)]
    chosen, measured = halves(examples)
    assert sorted(e.id for e in chosen + measured) == sorted(e.id for e in examples)
    assert 60 < len(chosen) < 140
    assert halves(examples[:50])[0] == [e for e in chosen if e in examples[:50]]


def test_separable_questions_are_all_decided_rightly() -> None:
    """Where sureness separates, everything answerable is answered and nothing else, on both halves."""
    examples = crowd([1.0, 2.0], [-1.0, -2.0])
    thresholds, bound = choose(examples, PLAIN, Wanted())
    decided = {**PLAIN, **thresholds}
    assert accepted(examples, decided) == (0, 80) and rejected(examples, decided) == (0, 80)
    assert asked_back(examples, decided) == (0, 80)
    assert bound.chosen_on[0] == bound.seen_on[0] == 0


def test_the_wanted_rate_holds_on_the_choosing_half() -> None:
    """Overlapping questions cost answers, never the rate: what is not sure enough is asked back or refused."""
    examples = crowd([3.0, 1.0, 0.0, -1.0], [2.0, -1.0, -2.0, -3.0])
    for most in (0.02, 0.3):
        _, bound = choose(examples, PLAIN, Wanted(most))
        assert bound.chosen_on[0] <= most * bound.chosen_on[1]
    strict, _ = choose(examples, PLAIN, Wanted(0.02))
    decided = {**PLAIN, **strict}
    assert asked_back(examples, decided)[0] + rejected(examples, decided)[0] == 120


def test_no_more_than_the_wanted_share_is_refused() -> None:
    """`clarify` is as high as false rejects allow: some refusals, but not more than stated."""
    examples = crowd([3.0, 1.0, -1.0, -3.0], [-2.0, -4.0])
    for most in (0.1, 0.3):
        thresholds, _ = choose(examples, PLAIN, Wanted(0.02, most))
        first, _ = halves(examples)
        count, total = rejected(first, {**PLAIN, **thresholds})
        assert count <= most * total
        assert thresholds["clarify"] <= thresholds["answer"]


def test_a_lenient_rate_answers_more() -> None:
    """The other half of the law: the threshold is the lowest allowed, not just any strict one."""
    examples = crowd([3.0, 1.0], [2.0, -1.0, -2.0, -3.0])
    strict, _ = choose(examples, PLAIN, Wanted(0.02))
    lenient, _ = choose(examples, PLAIN, Wanted(0.4))
    assert lenient["answer"] < strict["answer"]


def test_what_is_not_a_number_is_never_accepted() -> None:
    """A missing or NaN feature counts as not answered, whatever the threshold."""
    examples = [*crowd([1.0], [-1.0]), example(9001, math.nan, True), example(9002, None, True)]
    thresholds, _ = choose(examples, PLAIN, Wanted())
    assert accepted(examples[-2:], {**PLAIN, **thresholds, "answer": 0.0, "clarify": 0.0}) == (0, 2)


def test_the_bound_is_of_the_other_half_and_says_when_it_is_too_small() -> None:
    """Upper Clopper–Pearson, and the number of clean questions that would do: 149 for 2 %."""
    _, bound = choose(crowd([1.0], [-1.0, -2.0]), PLAIN, Wanted(0.02))
    assert bound.upper == upper_bound(*bound.seen_on) and bound.seen_on[0] == 0
    assert bound.needed == clean_sample(0.02) == 149
    assert not bound.shown and bound.seen_on[1] < 149
    _, large = choose(crowd([1.0], [-1.0] * 9), PLAIN, Wanted(0.02))
    assert large.seen_on[1] >= 149 and large.shown


@pytest.mark.parametrize("must_refuse", [True, False])
def test_one_kind_of_question_is_not_enough(must_refuse: bool) -> None:
    """Without questions of the other kind there is nothing to trade off."""
    with pytest.raises(ValueError, match="each half needs"):
        choose([example(n, 1.0, must_refuse) for n in range(50)], PLAIN, Wanted())


def test_a_channel_may_be_missing_only_while_both_rates_hold() -> None:
    """Too many false accepts or too many wrong passages without it: the gate must not answer without it."""
    fine = crowd([1.0], [-1.0])
    assert survives(fine, PLAIN, accept=0.02, wrong=0.01)
    assert not survives([*fine, *crowd([], [2.0])], PLAIN, accept=0.02, wrong=0.01)
    assert not survives([*fine, example(9001, 2.0, right=False)], PLAIN, accept=0.02, wrong=0.01)
