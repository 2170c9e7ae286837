"""Fusion: ranks in, ranks out, the same on every run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.fusion import (
    RRF_K,
    best_first,
    min_max,
    relative,
    rrf,
    top_rows,
    weighted_min_max,
    weighted_relative,
    weighted_rrf,
)
from retrieval.types import PassageId, Ranking


def ranking(*pairs: tuple[str, float]) -> Ranking:
    return [(PassageId(pid), score) for pid, score in pairs]


A, B, C = (PassageId(name) for name in "abc")


def test_rrf_sums_one_over_k_plus_rank() -> None:
    """Each list gives 1 / (k + rank), ranks from 1, and the scores themselves do not matter."""
    fused = dict(rrf([ranking(("a", 900.0), ("b", 2.0)), ranking(("b", 0.3), ("c", 0.2))]))
    assert fused[B] == pytest.approx(1 / (RRF_K + 2) + 1 / (RRF_K + 1))
    assert fused[A] == pytest.approx(1 / (RRF_K + 1))
    assert fused[C] == pytest.approx(1 / (RRF_K + 2))


def test_third_in_both_lists_beats_first_in_one() -> None:
    """With k = 60 agreement beats a lone top rank; with a tiny k it would not."""
    one = ranking(("x", 9), ("p", 8), ("both", 7))
    other = ranking(("q", 9), ("r", 8), ("both", 7))
    assert rrf([one, other])[0][0] == "both"
    assert rrf([one, other], k=0.5)[0][0] != "both"


def test_a_weight_moves_a_list_and_zero_leaves_it_out() -> None:
    """A heavier list decides; a list of weight 0 does not even add its ids."""
    one, other = ranking(("a", 1)), ranking(("b", 1))
    assert [pid for pid, _ in weighted_rrf([(one, 1.0), (other, 2.0)])] == [B, A]
    assert [pid for pid, _ in weighted_rrf([(one, 1.0), (other, 0.0)])] == [A]


def test_equal_scores_are_ordered_by_id_whatever_the_order_of_lists() -> None:
    """Ties go by id, so that two runs give one answer."""
    one, other = ranking(("b", 5.0)), ranking(("a", 3.0))
    assert rrf([one, other]) == rrf([other, one])
    assert [pid for pid, _ in rrf([one, other])] == [A, B]


def test_a_duplicate_id_counts_once_at_its_better_rank() -> None:
    """A list that names an id twice must not push it up."""
    doubled = ranking(("a", 3.0), ("a", 2.0), ("b", 1.0))
    assert rrf([doubled]) == rrf([ranking(("a", 3.0), ("b", 1.0))])
    assert dict(min_max(doubled))[A] == 1.0
    assert len(min_max(doubled)) == 2


def test_min_max_keeps_a_single_or_level_ranking() -> None:
    """Without spread there is nothing to divide by: every score is 1, none is 0 or NaN."""
    assert min_max(ranking(("a", -4.0))) == ranking(("a", 1.0))
    assert min_max(ranking(("b", 2.0), ("a", 2.0))) == ranking(("a", 1.0), ("b", 1.0))
    assert min_max([]) == []


def test_min_max_scales_to_the_unit_interval() -> None:
    """Best is 1, last is 0, the middle in proportion."""
    assert min_max(ranking(("a", 10.0), ("b", 5.0), ("c", 0.0))) == ranking(
        ("a", 1.0), ("b", 0.5), ("c", 0.0)
    )


def test_weighted_min_max_gives_nothing_to_an_absent_id() -> None:
    """An id that one list lacks earns only what the other gives it."""
    fused = dict(weighted_min_max([(ranking(("a", 1.0), ("b", 0.0)), 1.0), (ranking(("b", 7.0)), 0.4)]))
    assert fused == {A: pytest.approx(1.0), B: pytest.approx(0.4)}


def test_relative_scores_stand_by_their_distance_from_the_mean() -> None:
    """0.5 is the mean; three deviations reach the ends; the order stays."""
    placed = dict(relative(ranking(("a", 3.0), ("b", 2.0), ("c", 1.0))))
    deviation = (2 / 3) ** 0.5
    assert placed[B] == pytest.approx(0.5)
    assert placed[A] == pytest.approx(0.5 + 1 / (6 * deviation))
    assert placed[A] + placed[C] == pytest.approx(1.0)


def test_relative_keeps_a_single_or_level_ranking() -> None:
    """No spread, nothing to divide by: a lone or level list is all 1, never 0 and never NaN (haystack#12507)."""
    assert relative(ranking(("a", -4.0))) == ranking(("a", 1.0))
    assert relative(ranking(("b", 0.1), ("a", 0.1), ("c", 0.1))) == ranking(
        ("a", 1.0), ("b", 1.0), ("c", 1.0)
    )
    assert relative([]) == []


def test_an_outlier_presses_the_others_together_less_than_in_min_max() -> None:
    """With one far-off score the rest still differ by their own spread, and none leaves the unit interval."""
    scores = [("z", 1000.0), *((name, float(n)) for n, name in enumerate("abcdefghij"))]
    placed, scaled = dict(relative(ranking(*scores))), dict(min_max(ranking(*scores)))
    gap = PassageId("j"), PassageId("a")
    assert placed[gap[0]] - placed[gap[1]] != scaled[gap[0]] - scaled[gap[1]]
    assert all(0.0 <= score <= 1.0 for score in placed.values()) and placed[PassageId("z")] == 1.0


def test_weighted_relative_sums_and_zero_leaves_out() -> None:
    """An absent id earns nothing; a list of weight 0 adds no ids; ties go by id whatever the order of lists."""
    one, other = ranking(("a", 1.0)), ranking(("b", 7.0))
    assert weighted_relative([(one, 1.0), (other, 0.0)]) == ranking(("a", 1.0))
    assert weighted_relative([(one, 1.0), (other, 1.0)]) == weighted_relative([(other, 1.0), (one, 1.0)])


@given(st.lists(st.tuples(st.sampled_from("abcdefg"), st.floats(-1e6, 1e6)), max_size=12))
def test_relative_scores_are_numbers_in_the_unit_interval(pairs: list[tuple[str, float]]) -> None:
    """Whatever the scores: finite, between 0 and 1, one for each id, in the order of the scores."""
    given_ = ranking(*pairs)
    placed = relative(given_)
    assert all(0.0 <= score <= 1.0 for _, score in placed)
    assert {pid for pid, _ in placed} == {pid for pid, _ in given_}


@given(st.lists(st.tuples(st.sampled_from("abcdefg"), st.floats(-5, 5)), max_size=12), st.integers(0, 9))
def test_top_rows_is_the_sorted_head(pairs: list[tuple[str, float]], limit: int) -> None:
    """The partial sort gives exactly what a full sort by score and id would, cut to the limit."""
    unique = {PassageId(pid): score for pid, score in pairs}
    ids, scores = list(unique), np.array(list(unique.values()))
    every = np.ones(len(ids), dtype=np.bool_)
    assert top_rows(ids, scores, every, limit) == best_first(unique, limit)


def test_top_rows_leaves_closed_rows_out() -> None:
    """A row that is not open is not found, however good."""
    found = top_rows([A, B, C], np.array([3.0, 2.0, 1.0]), np.array([False, True, True]), 5)
    assert [pid for pid, _ in found] == [B, C]
