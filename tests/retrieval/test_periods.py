"""Words that name days, and words that only seem to."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.normalize import canonical
from retrieval.periods import periods, title_years

TODAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("words", "first", "last"),
    [
        ("去年的政策", date(2025, 1, 1), date(2025, 12, 31)),
        ("前年", date(2024, 1, 1), date(2024, 12, 31)),
        ("大前年", date(2023, 1, 1), date(2023, 12, 31)),
        ("二零二三年的规定", date(2023, 1, 1), date(2023, 12, 31)),
        ("2023 年", date(2023, 1, 1), date(2023, 12, 31)),
        ("去年三月份", date(2025, 3, 1), date(2025, 3, 31)),
        ("去年的2月", date(2025, 2, 1), date(2025, 2, 28)),
        ("2024年2月", date(2024, 2, 1), date(2024, 2, 29)),
        ("二零二五年六月一号", date(2025, 6, 1), date(2025, 6, 1)),
        ("2025-06-01", date(2025, 6, 1), date(2025, 6, 1)),
        ("三月一号那时候", date(2026, 3, 1), date(2026, 3, 1)),
        ("12月1号", date(2025, 12, 1), date(2025, 12, 1)),
        ("上个月", date(2026, 10, 1), date(2026, 10, 31)),
        ("2023到2024年的资费", date(2023, 1, 1), date(2024, 12, 31)),
        ("2025年3月1号到2025年5月9号", date(2025, 3, 1), date(2025, 5, 9)),
        ("2023年之后的", date(2023, 1, 1), None),
        ("2023年后的", date(2023, 1, 1), None),
        ("从2023年起", date(2023, 1, 1), None),
        ("2023年之前的", None, date(2022, 12, 31)),
        ("3月1号以前", None, date(2026, 2, 28)),
    ],
)
def test_a_named_period_has_its_first_and_last_day(words: str, first: date | None, last: date | None) -> None:
    """Both ends are inclusive; 之前 ends the day before; a day without its year is the last that has been."""
    assert [(p.first, p.last) for p in periods(canonical(words), TODAY)] == [(first, last)]


@pytest.mark.parametrize(
    "words",
    [
        "ERR_2048怎么办",
        "2030元的套餐",
        "2000到3000元",
        "2000到2025元",
        "2023年13月1号的规定",
        "2月30号的规定",
        "两年前的规定",
        "保修2年",
        "最近的政策",
        "以前的政策",
        "RTX-2060",
    ],
)
def test_what_names_no_whole_day_names_none(words: str) -> None:
    """Amounts, codes, durations, days no calendar has and words without bounds are no period."""
    assert periods(canonical(words), TODAY) == ()


def test_a_leap_day_without_its_year_needs_one_this_year() -> None:
    """2月29号 said in 2026 is no day; said in 2028 it is."""
    assert periods("2月29号", TODAY) == ()
    assert periods("2月29号", date(2028, 11, 30))[0].first == date(2028, 2, 29)


@given(
    st.text(alphabet="去前今明年月日号上个之后以到至的-.0123456789 ERR元", max_size=40),
    st.dates(),
)
def test_any_text_on_any_day_is_read(text: str, today: date) -> None:
    """No exception; what is found lies in the text and never ends before it begins."""
    for period in periods(text, today):
        assert 0 <= period.start < period.end <= len(text)
        assert period.first or period.last
        if period.first and period.last:
            assert period.first <= period.last


@pytest.mark.parametrize(
    ("title", "years"),
    [
        ("2024年度报告", (2024, 2024)),
        ("2023-2024年资费", (2023, 2024)),
        ("2022年和2025版说明", (2022, 2025)),
        ("错误代码ERR_2048", None),
        ("显卡RTX-2060", None),
        ("满2000元包邮", None),
        ("", None),
    ],
)
def test_a_title_names_years_only_as_years(title: str, years: tuple[int, int] | None) -> None:
    """Codes and amounts in a title are no years."""
    assert title_years(title) == years
