"""Laws of the review loop: marks are kept and read back, cases are what the evaluation reads, rates are exact."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.voice_agent.failing_calls import CALLS, named, record
from voice_agent.errors import InputError
from voice_agent.evaluation.questions import load_questions
from voice_agent.record.call_record import CallRecord
from voice_agent.record.cases import case_of
from voice_agent.record.inspection import read_call
from voice_agent.record.operations import by_day
from voice_agent.record.review import Mark, add_mark, agreement, marks_in, marks_of, marks_path
from voice_agent.record.summary import CallSummary, TurnSummary, summarise

SCHEMA = Path(__file__).resolve().parents[2] / "data/schemas/eval_question.json"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("calls")
    for call in CALLS:
        record(made, call)
    return made


def test_the_last_mark_of_a_turn_holds(tmp_path: Path) -> None:
    """Only the owner reads the file; torn, foreign and spoilt lines are left out, and a torn one swallows no other."""
    journal = record(tmp_path, named("fine"))
    assert marks_of(journal) == {}
    add_mark(journal, Mark("fine", 1, "right"))
    path = marks_path(journal)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with path.open("a") as file:
        file.write('[1]\n{"turn": 1}\n{"call":"x","turn":1,"judgement":"nice"}\n\xff\n{"call":"fine","tu')
    wrong = Mark("fine", 1, "wrong", ("refund",), "退款", "2026-11-30T09:00:00+00:00")
    add_mark(journal, wrong)
    add_mark(journal, Mark("fine", 2, "right"))
    assert marks_of(journal) == {1: wrong, 2: Mark("fine", 2, "right")}
    assert marks_in(tmp_path) == (wrong, Mark("fine", 2, "right"))
    journal.unlink()
    assert marks_in(tmp_path) == (), "a call that was erased has no marks"


@pytest.mark.parametrize("passage", ["", " x", "a\nb", "\x1b[2J", "x" * 201])
def test_an_impossible_passage_is_refused(tmp_path: Path, passage: str) -> None:
    """Nothing is written."""
    with pytest.raises(InputError, match="no passage id"):
        add_mark(tmp_path / "a.jsonl", Mark("a", 1, "wrong", (passage,)))
    with pytest.raises(InputError, match="leave it out"):
        add_mark(tmp_path / "a.jsonl", Mark("a", 1, "should_have_refused", ("x",)))
    with pytest.raises(InputError, match="cannot be written"):
        add_mark(tmp_path / "none" / "a.jsonl", Mark("a", 1, "right"))
    assert not list(tmp_path.iterdir())


def _case(folder: Path, name: str, **mark: Any) -> dict[str, Any] | None:
    call = read_call(folder / f"{name}.jsonl")
    return case_of(call, call.turns[0], Mark(name, 1, **mark))


def test_marks_become_cases_of_the_evaluations_format(folder: Path, tmp_path: Path) -> None:
    """Each is right by the schema and is read by the evaluation; what teaches nothing is no case."""
    cases = [
        _case(folder, "fine", judgement="right"),
        _case(folder, "fine", judgement="wrong", expect=("freight",)),
        _case(folder, "gate_feature", judgement="right"),
        _case(folder, "gate_feature", judgement="should_have_answered", expect=("refund",), said="退宽多久"),
        _case(folder, "fine", judgement="should_have_refused"),
    ]
    told = [(c["kind"], c["expect"], c["must_refuse"], c["as_of"]) for c in cases if c]
    day = "2026-11-30"
    assert told == [
        ("plain", ["refund"], False, day),
        ("plain", ["freight"], False, day),
        ("hard_negative", [], True, day),
        ("misheard", ["refund"], False, day),
        ("hard_negative", [], True, day),
    ]
    validator = Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert not [list(validator.iter_errors(case)) for case in cases if list(validator.iter_errors(case))]
    file = tmp_path / "cases.jsonl"
    file.write_text("\n".join(json.dumps(case, ensure_ascii=False) for case in cases), encoding="utf-8")
    assert [q.expect for q in load_questions(file)] == [("refund",), ("freight",), (), ("refund",), ()]
    for name, judgement in (("fine", "wrong"), ("gate_threshold", "right"), ("check", "right")):
        assert _case(folder, name, judgement=judgement) is None


def test_a_follow_up_takes_the_turns_before_along(folder: Path) -> None:
    """With what was heard of their answers; a question that leaned on nothing goes alone."""
    call = read_call(folder / "fine.jsonl")
    later = replace(call.turns[0], turn=2, history=("退款多久到账",), heard="那运费呢")
    both: CallRecord = replace(call, turns=(*call.turns, later))
    case = case_of(both, later, Mark("fine", 2, "wrong", ("freight",)))
    assert case is not None and case["kind"] == "multi_turn"
    assert case["history"][0]["question"] == "退款多久到账" and "三天" in case["history"][0]["answer"]
    alone = case_of(both, replace(later, history=()), Mark("fine", 2, "wrong", ("freight",)))
    assert alone is not None and "history" not in alone


def test_agreement_is_the_share_of_right_with_its_bounds() -> None:
    """Nothing marked has no rate."""
    marks = [Mark("a", n, "right" if n else "wrong") for n in range(4)]
    agreed = agreement(marks)
    assert (agreed.count, agreed.total, agreed.share) == (3, 4, 0.75)
    assert agreed.low < 0.75 < agreed.high and agreement([]).share is None


def test_the_days_are_told_in_operations_numbers() -> None:
    """Rates of calls, turns and utterances; times by nearest rank; reasons counted; days in order."""
    turns = (
        TurnSummary(1, "answered", first_audio_s=1.0),
        TurnSummary(
            2, "blocked", failed_at="check", blocked={"POLARITY": 1}, first_audio_s=3.0, repeated=True
        ),
    )
    late = CallSummary("b", "b.jsonl", "2026-12-01T09:00:00+00:00", 9.0, "x", "VERDICT", 3, 1, turns, ())
    early = CallSummary("a", "a.jsonl", "2026-11-30T09:00:00+00:00", 9.0, "x", None, 1, 0, turns[:1], ())
    first, second = by_day([late, replace(late, call="c", handoff=None), early])
    assert (first.day, first.calls, first.turns, first.handoff_rate) == ("2026-11-30", 1, 1, 0.0)
    assert (second.handoff_rate, second.repeated_rate, second.false_drop_rate) == (0.5, 0.5, 0.25)
    assert (second.first_audio_p50_s, second.first_audio_p95_s) == (1.0, 3.0)
    assert (second.handoffs, second.blocked, second.failed_at) == (
        {"VERDICT": 1},
        {"POLARITY": 2},
        {"check": 2},
    )
    assert by_day([]) == ()


def test_a_dropped_utterance_that_is_said_again_is_a_false_drop(folder: Path) -> None:
    """With voice in it and the caller heard soon after; a click, and a silence after it, are none."""
    call = read_call(folder / "fine.jsonl")
    (heard,) = call.turns[0].utterances
    dropped = replace(heard, text="", dropped="no_speech", voiced_s=0.8, start_s=0.1, end_s=0.4)
    for one, drops in (
        (dropped, 1),
        (replace(dropped, voiced_s=0.1), 0),
        (replace(dropped, start_s=-9.0, end_s=-8.0), 0),
        (replace(dropped, dropped=None), 0),
    ):
        turn = replace(call.turns[0], utterances=(one, heard))
        assert summarise(replace(call, turns=(turn,))).false_drops == drops
