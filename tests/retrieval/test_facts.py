"""Laws of figures and their units."""

from __future__ import annotations

import pytest

from retrieval.facts import quantities
from retrieval.normalize import canonical


def keys(text: str) -> list[str]:
    return [q.key for q in quantities(canonical(text))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("三到五个工作日到账", ["3个工作日", "5个工作日"]),
        ("3-5天", ["3天", "5天"]),
        ("满1,299元", ["1299元"]),
        ("每单10块", ["10元"]),
        ("¥30或$30", ["30元", "30美元"]),
        ("百分之三十", ["30%"]),
        ("3.50元", ["3.5元"]),
        ("300兆宽带", ["300mb"]),
        ("8:30开门", ["8点", "30分"]),
        ("2026-01-31", ["2026年", "1月", "31日"]),
        ("3月1号", ["3月", "1日"]),
        ("400-820-8820", ["4008208820"]),
        ("192.168.8.1", ["192.168.8.1"]),
        ("30多天", ["30多天"]),
        ("第3个月", ["第3个月"]),
        ("两堵墙和3堵墙", ["3堵"]),
        ("30左右", ["30"]),
    ],
)
def test_figures_come_with_their_unit(text: str, found: list[str]) -> None:
    """Spellings of one unit are one; the first figure of a range has the unit of its end."""
    assert keys(text) == found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("7个工作日", "7天"),
        ("3个月", "3月"),
        ("10元", "10美元"),
        ("5%", "5个百分点"),
        ("1GB", "1MB"),
        ("3天", "30天"),
    ],
)
def test_units_that_differ_stay_different(one: str, other: str) -> None:
    """天 and 工作日 are not the same promise."""
    assert keys(one) != keys(other)


def test_digits_of_codes_are_no_quantities() -> None:
    """ERR_2048 does not support the figure 2048."""
    assert keys("ERR_2048和RTX-4090用1000瓦") == ["1000w"]
