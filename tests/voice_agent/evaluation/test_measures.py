"""The measures are counted as they are named, worked out by hand."""

from __future__ import annotations

import json

import pytest

from retrieval.gate import LATE_INTERACTION
from retrieval.types import Outcome
from tests.voice_agent.evaluation.results import question, result
from voice_agent.evaluation.gates import POINTS, curve, histograms, reliability, sure
from voice_agent.evaluation.measures import stage_times, summary

RESULTS = [
    result(question("1"), Outcome.ANSWER, ["a"], rankings={"dense": "ab", "reranked": "a"}),
    result(question("2", expect=["b"]), Outcome.ANSWER, ["d"], rankings={"dense": "cdb", "reranked": "db"}),
    result(
        question("3", expect=["c"], kind="colloquial"),
        Outcome.REFUSE,
        ["c"],
        rankings={"dense": "x", "reranked": "c"},
    ),
    result(question("4", expect=(), kind="off_topic"), Outcome.ANSWER, ["c"]),
    result(question("5", expect=(), kind="off_topic"), Outcome.CLARIFY, []),
]


def test_measures_by_layer_and_kind() -> None:
    """Recall, MRR, the hit rate of the whole list, and the gate's rates, each over its own questions."""
    whole = json.loads(json.dumps(summary(RESULTS)))
    dense = whole["kinds"]["plain"]["search"]["dense"]
    assert (dense["recall@1"], dense["recall@3"], dense["mrr"]) == (0.5, 1.0, pytest.approx(0.6667, abs=1e-4))
    assert whole["all"]["search"]["dense"]["hit_rate"] == pytest.approx(2 / 3, abs=1e-4)
    assert whole["kinds"]["plain"]["search"]["reranked"]["recall@1"] == 0.5
    gate = whole["all"]["gate"]
    assert (gate["false_accept"]["count"], gate["false_accept"]["of"]) == (1, 2)
    assert (gate["false_reject"]["count"], gate["false_reject"]["of"]) == (1, 3)
    assert (gate["wrong_answer"]["count"], gate["wrong_answer"]["of"]) == (1, 3)
    assert gate["refusal_accuracy"]["share"] == 0.6
    assert gate["clarify"]["low"] > 0 and gate["clarify"]["high"] < 1
    assert whole["kinds"]["off_topic"]["search"] == {}
    assert whole["all"]["outcomes"]["must_refuse"] == {"ANSWER": 1, "CLARIFY": 1, "REFUSE": 0}
    assert whole["look_ms"] == {"p50": 5.0, "p95": 5.0}


def test_nothing_measured_is_none_and_not_zero() -> None:
    """Without questions there is no rate, no time and no curve."""
    whole = summary([])
    assert whole["all"]["gate"]["false_accept"]["share"] is None
    assert whole["look_ms"] == {"p50": None, "p95": None}
    assert whole["curve"] == {"points": [], "shipped": None}
    assert whole["reliability"]["ece"] is None


def test_a_stage_is_timed_over_the_questions_that_reached_it() -> None:
    """Generation is not 0 ms for a question that was refused; it is missing."""
    times = stage_times(RESULTS)
    assert times["look"]["count"] == 5 and "generate" not in times


LADDER = [result(question(f"g{n}"), Outcome.ANSWER, ["a"], dense_top=0.80 + n / 50) for n in range(5)] + [
    result(question(f"b{n}", expect=()), Outcome.REFUSE, ["a"], dense_top=0.74 + n / 50) for n in range(5)
]


def test_the_curve_falls_in_accepts_and_rises_in_rejects() -> None:
    """A higher threshold answers less of both; at 0 everything that no check stops, at 1 nothing."""
    found = curve(LADDER)
    accepts = [point[1] for point in found["points"]]
    rejects = [point[2] for point in found["points"]]
    assert len(accepts) == POINTS and accepts == sorted(accepts, reverse=True) and rejects == sorted(rejects)
    assert (accepts[0], rejects[0]) == (1.0, 0.0) and (accepts[-1], rejects[-1]) == (0.0, 1.0)
    assert found["shipped"][1:] == [0.0, 0.0]


def test_a_check_that_no_score_overrules_holds_all_along_the_curve() -> None:
    """A topic for a person is not answered at any threshold."""
    handed = result(question("h", expect=()), Outcome.REFUSE)
    gate = handed.gate
    handed.gate.features["must_handoff"] = 1.0  # type: ignore[index]
    assert gate.features["must_handoff"] == 1.0
    assert {point[1] for point in curve([handed, LADDER[0]])["points"]} == {0.0}


def test_histograms_count_each_question_once_under_its_label() -> None:
    """Bins add up to the questions; one that could not be measured is counted apart."""
    unmeasured = result(question("u"), Outcome.REFUSE)
    unmeasured.gate.features["dense_top"] = None  # type: ignore[index]
    found = histograms([*LADDER, unmeasured])
    assert (sum(found["answerable"]), sum(found["must_refuse"]), found["unmeasured"]) == (5, 5, 1)
    assert found["thresholds"] == {name: LATE_INTERACTION[name] for name in ("answer", "clarify")}
    assert sure(unmeasured.gate) is None


def test_reliability_compares_sureness_with_what_an_answer_would_have_been() -> None:
    """Right means the first passage is expected, whatever was decided; the error is weighed by bucket."""
    found = reliability(LADDER)
    assert sum(bucket["count"] for bucket in found["buckets"]) == 10
    by_hand = sum(b["count"] * abs(b["sure"] - b["right"]) for b in found["buckets"]) / 10
    assert found["ece"] == pytest.approx(by_hand, abs=1e-3)
