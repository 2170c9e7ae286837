"""Laws of what stands around a figure: its bound, vagueness, time, change and rate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.qualifiers import is_period, qualifier, rates


@pytest.mark.parametrize(
    ("before", "behind", "bound"),
    [
        ("至少", "", ">="),
        ("不少于", "", ">="),
        ("不能小于", "", ">="),
        ("满", "", ">="),
        ("", "以上", ">="),
        ("", "起", ">="),
        ("", "起算", ""),
        ("超过", "", ">"),
        ("", "以外", ">"),
        ("不超过", "", "<="),
        ("不得超过", "", "<="),
        ("最多可以连接", "", "<="),
        ("", "内", "<="),
        ("", "内存", ""),
        ("", "封顶", "<="),
        ("不满", "", "<"),
        ("不足", "", "<"),
        ("低于签约速率", "", "<"),
        ("超出的部分每米收", "", ""),
        ("达到", "", "reach"),
        ("达到了", "", ""),
        ("大约", "左右", ""),
    ],
)
def test_bounds(before: str, behind: str, bound: str) -> None:
    """以上 以内 满 起 hold their end, 超过 以外 不满 do not; a denied bound is the opposite one."""
    assert qualifier(before, behind, "元").bound == bound


@pytest.mark.parametrize(
    ("before", "behind", "unit", "about", "time"),
    [
        ("约", "", "元", True, ""),
        ("", "左右", "天", True, ""),
        ("近", "", "元", True, ""),
        ("近", "", "个月", False, "recent"),
        ("将近", "", "个月", True, ""),
        ("提前", "", "天", False, "ahead"),
        ("前", "", "次", False, "first"),
        ("", "后", "天", False, "after"),
        ("", "内", "天", False, ""),
        ("", "，再", "分钟", False, ""),
        ("", "再重试", "分钟", False, "after"),
        ("", "后台", "个", False, ""),
    ],
)
def test_vagueness_and_time(before: str, behind: str, unit: str, about: bool, time: str) -> None:
    """近300元 is vague, 近12个月 is a span; 3天内, 3天后 and 提前3天 are three times."""
    found = qualifier(before, behind, unit)
    assert (found.about, found.time) == (about, time)


@pytest.mark.parametrize(
    ("before", "change"),
    [
        ("提高到", "to"),
        ("提高至", "to"),
        ("提高了", "by"),
        ("增加", "by"),
        ("增长率为", "by"),
        ("税率为", ""),
    ],
)
def test_changes(before: str, change: str) -> None:
    """到 names the level that is reached, 了 the difference."""
    assert qualifier(before, "", "%").change == change


def test_a_plain_nei_is_told_from_a_spoken_bound() -> None:
    """内 may stand behind what a noun like 期限 says; 最多 may not."""
    assert qualifier("", "内", "天").inside
    assert not qualifier("最多", "", "天").inside


def test_rates_have_one_name() -> None:
    """日均 is 每天, 合计 is 累计; only some of them are periods."""
    assert rates("每天累计最多充值") == {"每天", "累计"}
    assert rates("日均合计") == {"每天", "累计"}
    assert is_period("每月")
    assert not is_period("每张")


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=3))
def test_any_surroundings_are_read(before: str, behind: str, unit: str) -> None:
    """Never raises."""
    qualifier(before, behind, unit)
    rates(before)
