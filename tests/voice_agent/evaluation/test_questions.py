"""Question files: a wrong line is named, and a question either has an answer or is one to refuse."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from retrieval.conditions import Conditions
from voice_agent.errors import InputError
from voice_agent.evaluation.questions import load_questions

ANSWERABLE = {"id": "1", "kind": "plain", "question": "甲", "expect": ["a"], "must_refuse": False}
TO_REFUSE = {"id": "2", "kind": "off_topic", "question": "乙", "expect": [], "must_refuse": True}


def written(tmp_path: Path, rows: list[object]) -> Path:
    path = tmp_path / "q.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "row",
    [
        "{",
        "3",
        {"id": "x"},
        {**ANSWERABLE, "expect": []},
        {**ANSWERABLE, "expect": "a"},
        {**TO_REFUSE, "expect": ["a"]},
        {**ANSWERABLE, "as_of": "never"},
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, row: object) -> None:
    """File and line, in one line; a question must have an answer or be one to refuse, not both."""
    with pytest.raises(InputError, match=r"q\.jsonl:2: ") as error:
        load_questions(written(tmp_path, [ANSWERABLE, row]))
    assert "\n" not in str(error.value)


def test_the_command_lines_day_wins_over_the_files(tmp_path: Path) -> None:
    """--as-of asks every question on that day, whatever the file says; without it the file's day holds."""
    path = written(tmp_path, [{**ANSWERABLE, "as_of": "2025-01-01"}, "", TO_REFUSE])
    assert load_questions(path)[0].asked.as_of == date(2025, 1, 1)
    assert {q.asked.as_of for q in load_questions(path, date(2026, 1, 1))} == {date(2026, 1, 1)}
    assert [q.must_refuse for q in load_questions(path)] == [False, True]


def test_an_empty_or_missing_file_says_what_to_give(tmp_path: Path) -> None:
    """Nothing to ask is an input error, not a table of blanks."""
    for path in (written(tmp_path, [""]), tmp_path / "gone.jsonl"):
        with pytest.raises(InputError, match="give "):
            load_questions(path)


def test_filters_of_a_question_are_set_conditions(tmp_path: Path) -> None:
    """What a row lays down reaches the search as set by a program; a row without any lays down none."""
    row = {**ANSWERABLE, "as_of": "2026-11-30"}
    filters = {"tags": ["漫游"], "version": "2026.1", "since": "2026-01-01"}
    plain, narrowed = load_questions(written(tmp_path, [row, {**row, "filters": filters}]))
    day = date(2026, 11, 30)
    assert plain.asked.conditions == Conditions(day)
    assert narrowed.asked.conditions == Conditions(day, ("漫游",), "2026.1", since=date(2026, 1, 1))


@pytest.mark.parametrize("filters", [{"tags": "漫游"}, {"since": "heute"}, {"as_of": "2026-01-01"}, ["x"]])
def test_filters_that_are_none_name_the_line(tmp_path: Path, filters: object) -> None:
    """A misspelt filter would otherwise measure another search than the one meant."""
    with pytest.raises(InputError, match=r"q\.jsonl:1"):
        load_questions(written(tmp_path, [{**ANSWERABLE, "filters": filters}]))
