"""Two runs compared: paired by id, tested where rows are there, never where they are not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from retrieval.types import Outcome
from tests.voice_agent.evaluation.results import checked, question, result
from voice_agent.evaluation.answers import answer_measures
from voice_agent.evaluation.compare import Change, compare
from voice_agent.evaluation.measures import summary
from voice_agent.evaluation.rows import row
from voice_agent.evaluation.walk import Result


def run_of(results: list[Result]) -> dict[str, Any]:
    """As it comes back from a file."""
    layer = answer_measures(results, lambda one, other: 0.5, "m")
    rows = [row(one, lambda question, said: 0.5) for one in results]
    return dict(json.loads(json.dumps({**summary(results), "answers": layer, "rows": rows})))


def asked(right: int, of: int = 20) -> list[Result]:
    """The first `right` of the questions have their passage first, the others nowhere."""
    return [
        result(question(f"q{n}"), Outcome.ANSWER, ["a" if n < right else "x"], [checked("一。[S1]")])
        for n in range(of)
    ]


def named(changes: list[Change], name: str) -> Change:
    return next(change for change in changes if change.measure == name)


def test_a_gain_of_ten_questions_is_clear_and_one_of_two_is_not() -> None:
    """Exact sign test over the questions that changed: 10 of 10 is p = 2/1024, 2 of 2 is p = 1/2."""
    many = named(compare(run_of(asked(15)), run_of(asked(5))), "reranked recall@1")
    assert (many.better, many.worse, many.paired) == (10, 0, 20)
    assert many.p == pytest.approx(2 / 1024) and many.is_clear and many.difference == pytest.approx(0.5)
    few = named(compare(run_of(asked(7)), run_of(asked(5))), "reranked recall@1")
    assert few.p == pytest.approx(0.5) and not few.is_clear
    mrr = named(compare(run_of(asked(15)), run_of(asked(5))), "reranked MRR")
    assert mrr.low is not None and mrr.low > 0 and mrr.is_clear


def test_worse_is_worse_where_less_is_better() -> None:
    """More wrong answers are a fall, whatever the sign of the difference."""
    change = named(compare(run_of(asked(5)), run_of(asked(15))), "wrong_answer")
    assert change.difference > 0 and change.good == -1 and (change.better, change.worse) == (0, 10)


def test_the_same_run_has_not_changed() -> None:
    """Every difference is 0 and none is clear."""
    changes = compare(run_of(asked(5)), run_of(asked(5)))
    assert {change.difference for change in changes} == {0.0}
    assert not [change for change in changes if change.is_clear]


def test_other_questions_are_not_paired() -> None:
    """Rows are paired by id: a run over others is compared by totals, without a test."""
    other = run_of(asked(5))
    for one in other["rows"]:
        one["id"] = f"other-{one['id']}"
    change = named(compare(run_of(asked(15)), other), "reranked recall@1")
    assert change.paired == 0 and change.p is None and not change.is_clear
    assert change.difference == pytest.approx(0.5)


def test_a_run_of_an_earlier_version_is_compared_by_what_it_has() -> None:
    """Without rows, answers and stages the totals of search and gate remain."""
    old = run_of(asked(5))
    for key in ("rows", "answers", "stages_ms"):
        del old[key]
    measures = {change.measure for change in compare(run_of(asked(15)), old)}
    assert "reranked recall@3" in measures and "faithfulness" not in measures
    assert not [name for name in measures if name.startswith("P50")]
