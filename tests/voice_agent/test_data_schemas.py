"""Laws of the data files: each has a schema that can fail, and every file that is here obeys it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from retrieval.corpus import load_corpus
from retrieval.types import GateReason
from voice_agent.data_files import KINDS, SCHEMAS, check_file, check_files, validator_of

DATA = SCHEMAS.parent
NAMES = (
    "kb_examples",
    "kb_entry",
    "eval_question",
    "eval_topic",
    "guard_case",
    "answerability",
    "call_expectation",
    "eval_recording",
)

QUESTION = {
    "id": "q1", "kind": "plain", "question": "几天能退", "expect": ["a"], "must_refuse": False, "as_of": "2026-11-30",
}  # fmt: skip
TOPIC = {"topic": "退货天数", "ids": ["a"], "kb": "jsonl"}
PAIR = {"passage": "refund", "question": "几天到账", "answers": True, "kind": "value"}
GUARD = {
    "id": "g1",
    "split": "dev",
    "kind": "unit",
    "passage": "a",
    "sentence": "三天可退。",
    "faithful": False,
}
TURN = {
    "outcome": "answered", "heard_contains": ["退款"], "cites": ["a"], "never_cites": ["b"], "spoken_contains": ["天"],
}  # fmt: skip
CALL = {
    "call": "refund", "as_of": "2026-11-30", "about": "退款", "handoff": False,
    "clips": [{"wav": "refund.wav", "cue": "agent_started", "delay_s": 0.8}],
    "turns": [TURN],
}  # fmt: skip

RECORDING = {"id": "r1", "wav": "one.wav", "text": "几天能退", "expect": ["a"], "must_refuse": False}

GOOD: list[tuple[str, dict[str, Any]]] = [
    ("kb_entry", {"id": "a", "text": "文"}),
    ("kb_entry", {"id": "a", "text": "文", "valid_from": None, "valid_to": "2025-12-31", "risk": "high"}),
    ("kb_entry", {"id": "a", "text": "文", "risk": None, "title": None, "must_handoff": None, "of_their_own": 1}),
    ("kb_examples", {"id": "a", "examples": ["几天能退"], "near_misses": ["怎么退"]}),
    ("eval_question", QUESTION),
    ("eval_question", {**QUESTION, "kind": "off_topic", "expect": [], "must_refuse": True}),
    ("eval_question", {**QUESTION, "kind": "hard_negative", "expect": [], "must_refuse": True, "near": ["a"]}),
    ("eval_question", {**QUESTION, "kind": "must_handoff", "expect": [], "must_refuse": True, "handoff": ["a"]}),
    ("eval_question", {**QUESTION, "kind": "misheard", "spoken": "几天能退"}),
    ("eval_question", {**QUESTION, "kind": "multi_turn", "history": [{"question": "退货", "answer": "可以"}]}),
    ("eval_topic", TOPIC),
    ("eval_topic", {"topic": "灯", "ids": [], "kb": "manual_router.md", "section": "指示灯", "absent": "亮度"}),
    ("guard_case", GUARD),
    ("answerability", PAIR),
    ("answerability", {**PAIR, "answers": False, "kind": "sibling"}),
    ("guard_case", {**GUARD, "kind": "faithful", "faithful": True, "question": "几天能退"}),
    ("call_expectation", CALL),
    ("call_expectation", {**CALL, "turns": []}),
    ("call_expectation", {**CALL, "turns": [{"outcome": "refused", "reason": "MUST_HANDOFF"}], "handoff": True}),
    ("eval_recording", RECORDING),
    ("eval_recording", {"id": "r2", "wav": "noise.wav", "text": "", "must_refuse": True}),
]  # fmt: skip

BAD: list[tuple[str, dict[str, Any]]] = [
    ("kb_entry", {"id": "a"}),
    ("kb_entry", {"id": "", "text": "文"}),
    ("kb_entry", {"id": "a", "text": " "}),
    ("kb_entry", {"id": "a", "text": "文", "valid_to": "2026-02-30"}),
    ("kb_entry", {"id": "a", "text": "文", "valid_to": "20260101"}),
    ("kb_entry", {"id": "a", "text": "文", "risk": "huge"}),
    ("kb_entry", {"id": "a", "text": "文", "must_handoff": "yes"}),
    ("kb_entry", {"id": "a", "text": "文", "questions": "几天"}),
    ("kb_examples", {"id": "a", "examples": [" "]}),
    ("kb_examples", {"id": "a", "questions": ["几天能退"]}),
    ("eval_question", {**QUESTION, "kind": "other"}),
    ("eval_question", {**QUESTION, "expect": []}),
    ("eval_question", {**QUESTION, "must_refuse": True}),
    ("eval_question", {**QUESTION, "kind": "off_topic"}),
    ("eval_question", {**QUESTION, "expect_section": "包装清单"}),
    ("eval_question", {**QUESTION, "kind": "multi_turn"}),
    ("eval_question", {**QUESTION, "kind": "multi_turn", "history": []}),
    ("eval_question", {**QUESTION, "as_of": "30.11.2026"}),
    ("eval_question", {**QUESTION, "history": [{"question": "退货"}]}),
    ("eval_topic", {**TOPIC, "ids": []}),
    ("eval_topic", {**TOPIC, "kb": "manual_router.md"}),
    ("eval_topic", {**TOPIC, "kb": "../x.md", "section": "s"}),
    ("guard_case", {**GUARD, "kind": "faithful"}),
    ("answerability", {**PAIR, "answers": "yes"}),
    ("answerability", {**PAIR, "kind": "other"}),
    ("answerability", {**PAIR, "question": ""}),
    ("guard_case", {**GUARD, "faithful": True}),
    ("guard_case", {**GUARD, "split": "train"}),
    ("guard_case", {**GUARD, "sentence": " "}),
    ("call_expectation", {**CALL, "call": "../x"}),
    ("call_expectation", {**CALL, "clips": []}),
    ("call_expectation", {**CALL, "clips": [{"wav": "a/b.wav"}]}),
    ("call_expectation", {**CALL, "clips": [{"wav": "b.wav", "cue": "later"}]}),
    ("call_expectation", {**CALL, "clips": [{"wav": "b.wav", "delay_s": -1}]}),
    ("call_expectation", {**CALL, "turns": [{**TURN, "outcome": "done"}]}),
    ("call_expectation", {**CALL, "turns": [{**TURN, "reason": "WHY"}]}),
    ("call_expectation", {**CALL, "turns": [{**TURN, "spoken_contain": ["天"]}]}),
    ("call_expectation", {**CALL, "turns": [{**TURN, "cites": "a"}]}),
    ("eval_recording", {"id": "r1", "wav": "one.wav", "must_refuse": True}),
    ("eval_recording", {**RECORDING, "wav": ""}),
    ("eval_recording", {**RECORDING, "text": None}),
    ("eval_recording", {**RECORDING, "question": "几天能退"}),
    ("eval_recording", {**RECORDING, "history": [{"question": "退货"}]}),
]  # fmt: skip


def _schema(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_valid_and_explain_themselves(name: str) -> None:
    """Draft 2020-12, a title, a description, and a description of every field of the line."""
    schema = _schema(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"].endswith("2020-12/schema")
    assert schema["title"]
    assert schema["description"]
    unexplained = [key for key, value in schema["properties"].items() if "description" not in value]
    assert unexplained == []


def test_there_is_a_schema_for_each_kind_and_no_other() -> None:
    """A schema nobody uses, or a kind without one, is a mistake."""
    assert (
        {path.stem for path in SCHEMAS.glob("*.json")}
        == set(NAMES)
        == {"kb_entry", "kb_examples", *KINDS.values()}
    )


@pytest.mark.parametrize(("name", "line"), GOOD)
def test_right_lines_pass(name: str, line: dict[str, Any]) -> None:
    """The shortest and the fullest of each kind."""
    assert list(validator_of(_schema(name)).iter_errors(line)) == []


@pytest.mark.parametrize(("name", "line"), BAD)
def test_wrong_lines_fail(name: str, line: dict[str, Any]) -> None:
    """Misspelt keys above all: a condition that is never tested is worse than none."""
    assert list(validator_of(_schema(name)).iter_errors(line))


def test_gate_reasons_are_those_of_the_gate() -> None:
    """The schema and the program name the same reasons."""
    turn = _schema("call_expectation")["properties"]["turns"]["items"]
    assert set(turn["properties"]["reason"]["enum"]) == {str(reason) for reason in GateReason}


REPORTS = list(check_files(DATA / "kb", DATA))


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.path.name)
def test_every_data_file_obeys_its_schema(report: Any) -> None:
    """No fault in any line, and no file without lines."""
    assert report.faults == ()
    assert report.lines > 0


def test_the_knowledge_base_loads_without_a_warning() -> None:
    """No misspelt key in ours: a valid_to that is not read would let an expired policy be spoken."""
    assert load_corpus(DATA / "kb").warnings == ()


def test_the_data_files_are_there() -> None:
    """So that the test above is not empty: the knowledge base at least, and every file of KINDS that exists."""
    checked = {report.path for report in REPORTS}
    assert len([path for path in checked if path.parent.name == "kb"]) >= 1
    assert {DATA / name for name in KINDS if (DATA / name).exists()} <= checked


def test_faults_name_file_line_and_field(tmp_path: Path) -> None:
    """No JSON, a wrong field, two faults in one line; blank lines are no fault."""
    file = tmp_path / "a.jsonl"
    file.write_text('{"id":"a","text":"文"}\n\n{"id":\n{"id":3,"text":""}\n[]\n', encoding="utf-8")
    report = check_file(file, validator_of(_schema("kb_entry")))
    assert report.lines == 4
    found = [fault.removeprefix(f"{file}:").split(": ")[:2] for fault in report.faults]
    assert [(line, what if line != "3" else "not JSON") for line, what in found] == [
        ("3", "not JSON"), ("4", "$.id"), ("4", "$.text"), ("5", "$"),
    ]  # fmt: skip


def test_a_file_that_is_no_text_is_one_fault(tmp_path: Path) -> None:
    """Bytes that are no UTF-8, and a schema that is not there."""
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "a.jsonl").write_bytes(b"\xff\xfe\x00")
    (report,) = check_files(tmp_path / "kb", tmp_path)
    assert len(report.faults) == 1
    assert "cannot be read as UTF-8" in report.faults[0]
    (report,) = check_files(tmp_path / "kb", tmp_path, schemas=tmp_path)
    assert "kb_entry.json: cannot be used" in report.faults[0]
