"""Laws of figures and their units."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.facts import Fact, facts, quantities
from retrieval.normalize import canonical
from retrieval.wording import folded


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


def values(text: str) -> list[str]:
    return [fact.shown for fact in facts(folded(text))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("三到五个工作日到账", ["3到5个工作日"]),
        ("3天到5天", ["3到5天"]),
        ("10到5个工作日", ["10个工作日", "5个工作日"]),
        ("保修一年", ["12个月"]),
        ("合约两年半", ["30个月"]),
        ("打五折", ["50%"]),
        ("打八五折", ["85%"]),
        ("千分之一", ["0.1%"]),
        ("一毛钱", ["0.1元"]),
        ("下午6点", ["18点"]),
        ("晚上8点到10点", ["20到22点"]),
        ("早上8点到晚上10点", ["8到22点"]),
        ("2026年3月1日", ["2026年3月1日"]),
        ("2026-03-01", ["2026年3月1日"]),
        ("3月1号", ["3月1日"]),
        ("2026年2月至2026年5月", ["2026年2月", "2026年5月"]),
        ("第三个月", ["第3个月"]),
        ("伍拾万元", ["500000元"]),
        ("没有数字", []),
    ],
)
def test_values_are_typed(text: str, found: list[str]) -> None:
    """Ranges, dates, clock times and shares are one value each, whatever the writing."""
    assert values(text) == found


@pytest.mark.parametrize(
    ("one", "other"),
    [("12个月", "1年"), ("90%", "九成"), ("0.5元", "五毛"), ("30分钟", "半小时"), ("150元", "一百五十块")],
)
def test_equal_values_are_equal(one: str, other: str) -> None:
    """Spellings of one value."""
    assert values(one) == values(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("24小时", "1天"), ("30天", "1个月"), ("7天", "7个工作日"), ("3月", "3个月"), ("5%", "5个百分点")],
)
def test_values_that_differ_stay_different(one: str, other: str) -> None:
    """None of these may stand for the other."""
    assert values(one) != values(other)


def test_a_figure_has_the_rates_of_its_clause() -> None:
    """每月 belongs to 59元, 累计 to 2000元, and the sentence has both."""
    month, total = facts(folded("套餐每月59元，充值累计2000元"))
    assert (month.own, total.own) == ({"每月"}, {"累计"})
    assert month.rates == {"每月", "累计"}


@given(
    st.text(
        alphabet="0123456789.,:-~%第前近约至到年月日天元块折个工作小时点分半十百千万亿一二三两几多每满超过不内后",
        max_size=40,
    )
)
@settings(max_examples=300, deadline=None)
def test_any_mixture_of_figures_is_read(text: str) -> None:
    """Never raises; every value lies in the text, from left to right, and a range is not reversed."""
    plain = folded(text)
    found: tuple[Fact, ...] = facts(plain)
    assert all(0 <= fact.start < fact.end <= len(plain) for fact in found)
    assert [fact.start for fact in found] == sorted(fact.start for fact in found)
    assert all(fact.low <= fact.high for fact in found if fact.low is not None and fact.high is not None)


@given(st.text(max_size=200))
@settings(deadline=None)
def test_any_text_at_all_is_read(text: str) -> None:
    """Arbitrary Unicode, digits of every script among it: values lie in the text, in order, or there are none."""
    plain = folded(text)
    found = facts(plain)
    assert all(0 <= fact.start < fact.end <= len(plain) for fact in found)
    assert [fact.start for fact in found] == sorted(fact.start for fact in found)
