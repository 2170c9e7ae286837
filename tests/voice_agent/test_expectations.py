"""Expectations: every way a call can fall short is found, and a wrong file is named by its line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from voice_agent.errors import InputError
from voice_agent.expectations import Expectation, load_expectations, unmet
from voice_agent.record.call_record import CallRecord, GateRecord, SentenceRecord, SpokenRecord, TurnRecord

ROW = {
    "call": "refund",
    "as_of": "2026-11-30",
    "clips": [{"wav": "refund.wav"}],
    "handoff": False,
    "turns": [
        {
            "outcome": "answered",
            "heard_contains": ["退款"],
            "cites": ["refund-bank-card"],
            "never_cites": ["refund-old"],
            "spoken_contains": ["3到5个工作日"],
        }
    ],
}
SENTENCE = SentenceRecord(0, "3到5个工作日到账。[S1]", True, None, "", ("refund-bank-card",), (), 1.0)
TURN = TurnRecord(
    turn=1,
    heard="退款多久到账",
    gate=GateRecord("ANSWER", None, {}, {}),
    sentences=(SENTENCE,),
    spoken=(SpokenRecord(0, "三到五个工作日到账。", 1.0, 2.0, True, "手册"),),
    outcome="answered",
)
CALL = CallRecord("refund", Path("refund.jsonl"), {}, (TURN,), {}, "hung_up", 9.0, 0, {}, 9, False, 0)


def written(tmp_path: Path, *rows: object) -> Path:
    path = tmp_path / "expect.jsonl"
    path.write_text(
        "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8"
    )
    return path


def expected(tmp_path: Path, **changes: object) -> Expectation:
    (only,) = load_expectations(written(tmp_path, {**ROW, **changes}))
    return only


def turn(**changes: object) -> list[dict[str, object]]:
    return [{**ROW["turns"][0], **changes}]  # type: ignore[dict-item]


def test_a_call_as_expected_is_met(tmp_path: Path) -> None:
    """Nothing is wrong with what is right."""
    assert unmet(expected(tmp_path), CALL) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"handoff": True},
        {"turns": []},
        {"turns": turn() * 2},
        {"turns": turn(outcome="refused")},
        {"turns": turn(reason="LOW_SCORE")},
        {"turns": turn(heard_contains=["换货"])},
        {"turns": turn(cites=["refund-old"])},
        {"turns": turn(never_cites=["refund-bank-card"])},
        {"turns": turn(spoken_contains=["7天"])},
    ],
    ids=str,
)
def test_every_expectation_can_fail(tmp_path: Path, changes: dict[str, object]) -> None:
    """Each field, made wrong, is reported."""
    assert unmet(expected(tmp_path, **changes), CALL)


def test_a_fault_in_a_call_is_never_as_expected(tmp_path: Path) -> None:
    """A recorded error fails the call even when the outcome is right."""
    assert unmet(expected(tmp_path), replace(CALL, turns=(replace(TURN, errors=("asr: broken",)),)))


@pytest.mark.parametrize(
    "row",
    [
        "{",
        "[]",
        {},
        {**ROW, "as_of": "soon"},
        {**ROW, "clips": [{"wav": "a.wav", "cue": "later"}]},
        {**ROW, "turns": [{}]},
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, row: object) -> None:
    """File and line, in one line."""
    with pytest.raises(InputError, match=r"expect\.jsonl:2: ") as error:
        load_expectations(written(tmp_path, ROW, row))
    assert "\n" not in str(error.value)


def test_an_empty_file_expects_nothing_and_says_so(tmp_path: Path) -> None:
    """A check of nothing must not pass."""
    with pytest.raises(InputError, match="no expectation"):
        load_expectations(written(tmp_path))
