"""Laws of Chinese numerals."""

from __future__ import annotations

import cn2an
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.numerals import cardinal, digits


@pytest.mark.parametrize(
    ("spoken", "value"),
    [
        ("十", 10),
        ("十五", 15),
        ("二十", 20),
        ("一百零五", 105),
        ("一百五", 150),
        ("一百五十", 150),
        ("两千", 2000),
        ("两千三", 2300),
        ("一千零五", 1005),
        ("两万五", 25_000),
        ("一万零三百", 10_300),
        ("一亿两千万", 120_000_000),
    ],
)
def test_a_cardinal_has_the_value_a_listener_hears(spoken: str, value: int) -> None:
    """A last digit without 零 counts the next lower place."""
    assert cardinal(spoken) == value


@pytest.mark.parametrize(
    "words", ["", "百", "万一", "千万", "三五", "十五六", "八九千", "一五一十", "零", "三七二十一"]
)
def test_what_is_no_single_cardinal_has_no_value(words: str) -> None:
    """Idioms, approximate pairs and bare places are refused, not guessed."""
    assert cardinal(words) is None


@given(st.integers(1, 99_999_999))
@settings(max_examples=300, deadline=None)
def test_every_number_said_in_full_is_understood(number: int) -> None:
    """What an independent library says for a number means that number."""
    assert cardinal(cn2an.an2cn(str(number), "low")) == number


def test_digits_are_read_one_by_one() -> None:
    """幺 is 1 and 两 is 2 within a digit string."""
    assert digits("幺零零八六") == "10086"
