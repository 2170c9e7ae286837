"""Evaluation: the measures are counted as they are named, over a scripted search."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from retrieval.conditions import Conditions
from retrieval.types import Evidence, Found, Gate, Outcome, Passage, PassageId, Query
from voice_agent.errors import InputError
from voice_agent.evaluate import ask, load_questions, summary
from voice_agent.reply.answer import Asked, Looked

PLANS = {  # question -> (dense, fused, evidence, outcome)
    "甲": (["a", "b"], ["b", "a"], ["a"], Outcome.ANSWER),
    "乙": (["c", "d", "b"], ["d", "b"], ["d", "b"], Outcome.ANSWER),
    "丙": (["c"], ["c"], ["c"], Outcome.REFUSE),
    "丁": (["c"], ["c"], ["c"], Outcome.ANSWER),
    "戊": ([], [], [], Outcome.REFUSE),
}
ROWS = [
    {"id": "1", "kind": "plain", "question": "甲", "expect": ["a"], "must_refuse": False},
    {"id": "2", "kind": "plain", "question": "乙", "expect": ["b"], "must_refuse": False},
    {"id": "3", "kind": "colloquial", "question": "丙", "expect": ["c"], "must_refuse": False},
    {"id": "4", "kind": "off_topic", "question": "丁", "expect": [], "must_refuse": True},
    {"id": "5", "kind": "off_topic", "question": "戊", "expect": [], "must_refuse": True},
]


def look(asked: Asked) -> Looked:
    dense, fused, evidence, outcome = PLANS[asked.question]
    ranked = [(PassageId(name), 1.0 / rank) for rank, name in enumerate(dense, start=1)]
    found = Found(
        Query(asked.question, asked.question),
        {"dense": ranked},
        [(PassageId(name), 1.0) for name in fused],
        tuple(Evidence(Passage(PassageId(name), "文")) for name in evidence),
    )
    return Looked(asked.question, (), found, Gate(outcome, None, {}, {}), {}, 5.0)


def written(tmp_path: Path, rows: list[object]) -> Path:
    path = tmp_path / "q.jsonl"
    path.write_text(
        "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8"
    )
    return path


def test_measures_by_layer_and_kind(tmp_path: Path) -> None:
    """Recall, MRR and the gate's rates, worked out by hand."""
    results = [ask(question, look) for question in load_questions(written(tmp_path, list(ROWS)))]
    whole = json.loads(json.dumps(summary(results)))
    dense = whole["kinds"]["plain"]["search"]["dense"]
    assert (dense["recall@1"], dense["recall@3"], dense["mrr"]) == (0.5, 1.0, pytest.approx(0.6667, abs=1e-4))
    assert whole["kinds"]["plain"]["search"]["reranked"]["recall@1"] == 0.5
    gate = whole["all"]["gate"]
    assert (gate["false_accept"]["count"], gate["false_accept"]["of"]) == (1, 2)
    assert (gate["false_reject"]["count"], gate["false_reject"]["of"]) == (1, 3)
    assert (gate["wrong_answer"]["count"], gate["wrong_answer"]["of"]) == (1, 3)
    assert gate["refusal_accuracy"]["share"] == 0.6
    assert whole["kinds"]["off_topic"]["search"] == {}
    assert whole["look_ms"] == {"p50": 5.0, "p95": 5.0}


@pytest.mark.parametrize(
    "row",
    [
        "{",
        "3",
        {"id": "x"},
        {**ROWS[0], "expect": []},
        {**ROWS[3], "expect": ["a"]},
        {**ROWS[0], "as_of": "never"},
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, row: object) -> None:
    """File and line, in one line; a question must have an answer or be one to refuse, not both."""
    with pytest.raises(InputError, match=r"q\.jsonl:2: ") as error:
        load_questions(written(tmp_path, [ROWS[0], row]))
    assert "\n" not in str(error.value)


def test_filters_of_a_question_are_set_conditions(tmp_path: Path) -> None:
    """What a row lays down reaches the search as set by a program; a row without any lays down none."""
    row = {**ROWS[0], "as_of": "2026-11-30"}
    filters = {"tags": ["漫游"], "version": "2026.1", "since": "2026-01-01"}
    plain, narrowed = load_questions(written(tmp_path, [row, {**row, "filters": filters}]))
    day = date(2026, 11, 30)
    assert plain.asked.conditions == Conditions(day)
    assert narrowed.asked.conditions == Conditions(day, ("漫游",), "2026.1", since=date(2026, 1, 1))


@pytest.mark.parametrize("filters", [{"tags": "漫游"}, {"since": "heute"}, {"as_of": "2026-01-01"}, ["x"]])
def test_filters_that_are_none_name_the_line(tmp_path: Path, filters: object) -> None:
    """A misspelt filter would otherwise measure another search than the one meant."""
    with pytest.raises(InputError, match=r"q\.jsonl:1"):
        load_questions(written(tmp_path, [{**ROWS[0], "filters": filters}]))
