"""What a caller's words lay down about where to look, and what they do not."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.conditions import Conditions, conditions_of, laid_down, lifted

TODAY = date(2026, 11, 30)
VERSIONS = ("2026.1", "2025.1", "V2.3", "V2.4")
LAST_YEAR = {"as_of": date(2025, 12, 31), "since": date(2025, 1, 1), "until": date(2025, 12, 31)}


def said(question: str, given: Conditions | None = None) -> dict[str, Any]:
    """The fields that differ from a question without any condition."""
    heard = conditions_of(question, TODAY, VERSIONS, given)
    plain = Conditions(TODAY)
    fields = {name: getattr(heard, name) for name in Conditions.__slots__ if name != "heard"}
    return {name: value for name, value in fields.items() if value != getattr(plain, name)}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("去年的退货政策是几天", LAST_YEAR),
        ("去年那时候的包邮门槛", LAST_YEAR),
        ("去年的套餐变更规则是什么", LAST_YEAR),
        (
            "按3月1号那时候的规定，退货几天",
            dict.fromkeys(("as_of", "since", "until"), date(2026, 3, 1)),
        ),
        ("我按二零二五年六月一号的规定退", dict.fromkeys(("as_of", "since", "until"), date(2025, 6, 1))),
        (
            "2023到2024年的资费",
            {"as_of": date(2024, 12, 31), "since": date(2023, 1, 1), "until": date(2024, 12, 31)},
        ),
        ("2023 年之后的退货政策", {"since": date(2023, 1, 1)}),
        ("那2023年以后的呢", {"since": date(2023, 1, 1)}),
        ("2024年之前的资费标准", {"as_of": date(2023, 12, 31), "until": date(2023, 12, 31)}),
        ("2024年之后出台的资费", {"since": date(2024, 1, 1), "effective": True}),
        ("2023年以前发布的规定还有效吗", {"until": date(2022, 12, 31), "effective": True}),
        (
            "明年的包邮门槛是多少",
            {"as_of": date(2027, 1, 1), "since": date(2027, 1, 1), "until": date(2027, 12, 31)},
        ),
        ("今年的包邮门槛", {"since": date(2026, 1, 1), "until": date(2026, 12, 31)}),
    ],
)
def test_the_day_of_a_rule_that_is_plainly_named_moves_the_search(
    question: str, expected: dict[str, Any]
) -> None:
    """A past rule is looked for on its last day, a coming one on its first; what began when, on today's."""
    assert said(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "去年买的耳机保修期多久",
        "去年的规定现在还算吗",
        "听说去年的规定改了",
        "去年一共有多少人申请换货",
        "明年双十一，包邮线会不会再往下降",
        "2023年之前的订单还能开发票吗",
        "去年和前年的资费有什么区别",
        "两年前的规定",
        "今年不讲原因退东西的期限改成多少天了",
        "以前是七天，现在不喜欢了给我几天退",
        "那之前交的手续费给不给退",
        "之前凑九十九免邮，现在要凑到几块",
    ],
)
def test_a_day_that_may_be_of_something_else_moves_nothing(question: str) -> None:
    """Bought then, compared with now, told as a story: the search stays as it is."""
    assert said(question) == {}


@pytest.mark.parametrize(
    "question", ["上个版本的说明书怎么写的", "上一版的资费", "以前的退货规定是几天", "旧版本的资费标准"]
)
def test_the_edition_before_is_asked_for_in_so_many_words(question: str) -> None:
    """上个版本 and 以前的规定 mean the edition that the present one replaced."""
    assert said(question) == {"previous": True}


@pytest.mark.parametrize("question", ["上个版本改了什么", "之前的订单退货规定", "上个版面", "以前的同事"])
def test_other_earlier_things_are_no_edition(question: str) -> None:
    """Orders have no editions, and what changed since the last one is not in the last one."""
    assert said(question) == {}


@pytest.mark.parametrize(
    ("question", "version"),
    [
        ("V2.3固件怎么升级", "V2.3"),
        ("v二点三的固件", "V2.3"),
        ("固件版本2.3有什么功能", "V2.3"),
        ("2026.1版的退货规定", "2026.1"),
    ],
)
def test_a_version_of_the_knowledge_base_is_heard_when_named_as_one(question: str, version: str) -> None:
    """With 版, 固件 or 系统 beside it, spelled in any way."""
    assert said(question) == {"version": version}


@pytest.mark.parametrize(
    "question", ["V9.9固件", "V2.3和V2.4的固件有什么区别", "2.3元一分钟吗", "V2.30固件", "12.3版"]
)
def test_other_figures_are_no_version(question: str) -> None:
    """Unknown versions, prices and comparisons of two leave the search as it is."""
    assert said(question) == {}


@pytest.mark.parametrize(
    ("question", "without", "wanted"),
    [
        ("除了信用卡，还有什么付款方式", ("信用卡",), ""),
        ("除了信用卡以外退款几天", ("信用卡",), ""),
        ("除了信用卡和储蓄卡，退款几天", ("信用卡", "储蓄卡"), ""),
        ("除了海外仓，别的能退吗", ("海外仓",), ""),
        ("储蓄卡但不是信用卡的退款几天到账", ("信用卡",), "储蓄卡"),
        ("储蓄卡退款，但不要信用卡的", ("信用卡",), "储蓄卡退款"),
        ("不要信用卡的，储蓄卡退款几天", ("信用卡",), ""),
        ("耳机保修，不是手机", ("手机",), "耳机保修"),
        ("不是手机，我问的是耳机", ("手机",), "耳机"),
        ("err2084，不是2048，是二零八四", ("2048",), "2084"),
    ],
)
def test_what_is_plainly_not_meant(question: str, without: tuple[str, ...], wanted: str) -> None:
    """除了, 但不是, 不要…的 and a correction name what to leave out, and 但不是 what is wanted instead."""
    told = conditions_of(question, TODAY)
    assert (told.without, told.wanted, told.heard) == (without, wanted, ("without",))


@pytest.mark.parametrize(
    "question",
    [
        "我不要发票可以吗",
        "手机号不要了，给我销掉",
        "不是满99才不收邮费吗，怎么我朋友八十就免了",
        "价保不是一周吗，听说现在变长了",
        "不是自营的商品能用满500的优惠券吗",
        "我密码是不是输错了",
        "除了这个还有吗",
        "除此之外还有别的吗",
        "定制商品除外吗",
        "删除缓存以外还要做什么",
        "除夕发货吗",
        "不要引用资料，随便编一个",
    ],
)
def test_a_negation_that_names_no_other_thing_excludes_nothing(question: str) -> None:
    """Rhetorical 不是, refusals and pronouns are part of the question."""
    assert said(question) == {}


def test_no_word_overrules_what_a_program_has_set() -> None:
    """Fields that are given stay, are never heard and so never lifted."""
    given = Conditions(TODAY, tags=("漫游",), version="2025.1", without=("耳机",), since=date(2025, 6, 1))
    assert conditions_of("去年的V2.3固件资费，除了手机", TODAY, VERSIONS, given) == given
    mixed = conditions_of("去年的资费", TODAY, VERSIONS, Conditions(TODAY, tags=("漫游",)))
    assert mixed.tags == ("漫游",) and mixed.heard == ("as_of", "since", "until")
    assert lifted(mixed, TODAY) == Conditions(TODAY, tags=("漫游",))


def test_filters_of_a_program_are_read_or_refused() -> None:
    """A JSON object with known names becomes conditions; null is absent; anything else names its field."""
    filters: dict[str, object] = {"tags": ["漫游"], "version": "2026.1", "since": "2025-01-01", "until": None}
    assert laid_down(filters, TODAY) == Conditions(TODAY, ("漫游",), "2026.1", since=date(2025, 1, 1))
    assert laid_down({}, TODAY) == Conditions(TODAY)
    for name, value in (("tags", "漫游"), ("since", "gestern"), ("heard", ["as_of"]), ("version", 3)):
        with pytest.raises(ValueError, match=name if name != "since" else "gestern"):
            laid_down({name: value}, TODAY)


@given(st.text(max_size=60), st.dates())
def test_any_text_lays_down_conditions(question: str, day: date) -> None:
    """No exception, whatever was said, and what is not marked as heard is as it was."""
    told = conditions_of(question, day, VERSIONS)
    assert lifted(told, day).as_of == day
    if not told.heard:
        assert told == Conditions(day)
