"""The character error rate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.cer import character_error_rate, characters, edit_distance

WORDS = st.text("退款货ab1", max_size=8)


@pytest.mark.parametrize(
    ("reference", "heard", "rate"),
    [
        ("退款多久到账？", "退款多久到账", 0.0),
        ("退款多久到账", "退宽多久到战", 2 / 6),
        ("退款", "退款退款", 1.0),
        ("退款", "", 1.0),
        ("我要退貨。", "我 要 退货", 0.0),
        ("ERR_2048", "ｅｒｒ 2048", 0.0),
        ("一二三四", "一二四", 0.25),
    ],
)
def test_only_characters_count(reference: str, heard: str, rate: float) -> None:
    """Punctuation, spaces, width, case and script make no error; a character inserted, lost or exchanged makes one."""
    assert character_error_rate(reference, heard) == pytest.approx(rate)


@pytest.mark.parametrize("reference", ["", "……", " \n"])
def test_a_reference_without_characters_has_no_rate(reference: str) -> None:
    """Nothing said cannot be averaged in: it is refused, not counted as 0 or NaN."""
    with pytest.raises(ValueError, match="no error rate"):
        character_error_rate(reference, "谢谢")


@given(WORDS, WORDS, WORDS)
def test_distance_is_a_metric(one: str, other: str, third: str) -> None:
    """Zero only between equals, symmetric, and no detour is shorter."""
    assert (edit_distance(one, other) == 0) == (one == other)
    assert edit_distance(one, other) == edit_distance(other, one)
    assert edit_distance(one, third) <= edit_distance(one, other) + edit_distance(other, third)


def test_characters_have_one_form() -> None:
    """One width, case and script, nothing but letters and digits."""
    assert characters("ＥＲＲ_2048，怎麼辦？①") == "err2048怎么办1"
