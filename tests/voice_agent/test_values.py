"""Laws of the comparison: a value is shown beside the one it should be, in the unit and bound that each has."""

from __future__ import annotations

import pytest

from voice_agent.record.call_record import CitedRecord, SentenceRecord
from voice_agent.record.values import Piece, ValueRow, compared, spoken_diff


def _compared(said: str, held: str) -> tuple[ValueRow, ...]:
    evidence = (CitedRecord("S1", "p", "手册", held),)
    return compared(SentenceRecord(0, f"{said}[S1]", True, None, "", ("p",), evidence, 1.0))


@pytest.mark.parametrize(
    ("said", "held", "row"),
    [
        ("三天内到账。", "退款在3天内到账。", ("<= 3天", "<= 3天", "same")),
        ("5天内到账。", "退款在3天内到账。", ("<= 5天", "<= 3天", "value differs")),
        ("3个工作日内到账。", "退款在3天内到账。", ("<= 3个工作日", "<= 3天", "unit differs")),
        ("至少3天到账。", "退款在3天内到账。", (">= 3天", "<= 3天", "bound or rate differs")),
        ("每月扣20元。", "一次性扣20元。", ("20元 每月", "20元 一次性", "bound or rate differs")),
        ("扣20元。", "退款在3天内到账。", ("20元", "", "absent")),
    ],
)
def test_values_stand_side_by_side(said: str, held: str, row: tuple[str, str, str]) -> None:
    """The value, the unit, the bound and the rate decide, in whatever form they are written."""
    (found,) = _compared(said, held)
    assert (found.said, found.held, found.relation) == row


def test_the_same_value_wins_and_the_sentence_of_the_same_matter_before_others() -> None:
    """Two values of one kind: the equal one; none equal: the one of the sentence that speaks of the same."""
    held = "手机保修期为12个月。耳机保修期为18个月。"
    assert [row.relation for row in _compared("耳机保修期为18个月。", held)] == ["same"]
    (found,) = _compared("耳机保修期为24个月。", held)
    assert (found.held, found.relation) == ("18个月", "value differs")


def test_codes_are_compared_and_marks_are_no_code() -> None:
    """One that the passage holds and one it does not."""
    rows = _compared("ERR_2048和ERR_2049都要重启。", "出现err 2048时重启。")
    assert [(row.said, row.relation) for row in rows] == [("ERR_2048", "same"), ("ERR_2049", "absent")]


def test_the_spoken_form_is_told_apart() -> None:
    """What was only written and what was only spoken; together they are either text."""
    pieces = spoken_diff("收费60元。[S1]", "收费六十元。")
    assert pieces == (
        Piece("same", "收费"),
        Piece("written", "60"),
        Piece("spoken", "六十"),
        Piece("same", "元。"),
    )
    assert spoken_diff("不变。[S1]", "不变。") == (Piece("same", "不变。"),)
    assert spoken_diff("", "") == ()
