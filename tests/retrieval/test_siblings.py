"""Passages that differ in a name only, and whether a question says which one it means."""

from __future__ import annotations

import pytest

from retrieval.siblings import Siblings
from tests.retrieval.letters import passage

TITLES = {
    "c200": "满200元优惠券",
    "c500": "满500元优惠券",
    "usa": "美国漫游日包",
    "jp25": "日本漫游日包（2025版）",
    "jp26": "日本漫游日包（2026版）",
    "b300": "宽带手册 > 资费 > 300M宽带资费",
    "b1000": "宽带手册 > 资费 > 1000M宽带资费",
    "save": "储蓄卡退款时效",
    "credit": "信用卡退款时效",
    "point": "积分有效期",
    "alone": "显示器坏点换货",
    "none": "",
}
SIBLINGS = Siblings([passage(one, "。", title=title) for one, title in TITLES.items()])


@pytest.mark.parametrize(
    ("one", "names"),
    [
        ("c500", {"500"}),
        ("usa", {"美国"}),
        ("jp26", {"日本"}),
        ("b1000", {"1000M"}),
        ("save", {"储蓄"}),
        ("point", set()),
        ("alone", set()),
        ("none", set()),
        ("never seen", set()),
    ],
)
def test_what_sets_a_passage_apart(one: str, names: set[str]) -> None:
    """The number, or the beginning before a common end; editions of one rule are not apart; most have no sibling."""
    assert SIBLINGS.names(one) == names


@pytest.mark.parametrize(
    ("one", "words", "named"),
    [
        ("c500", "满500的券减多少", True),
        ("c500", "满1000的那种券减多少", False),
        ("c500", "满1500的那种券减多少", False),
        ("b300", "300兆宽带1个月多少钱", True),
        ("b1000", "100兆的小宽带每个月交多少", False),
        ("usa", "韩国那边的漫游日包1天几块", False),
        ("usa", "去美国用的日包几块", True),
        ("save", "储蓄卡退款几天", True),
        ("save", "微信支付的那单退款得几天", False),
        ("alone", "随便什么", True),
    ],
)
def test_a_question_names_its_passage_or_does_not(one: str, words: str, named: bool) -> None:
    """A number must stand by itself: 500 is not in 1500. A passage without siblings needs no name."""
    assert SIBLINGS.named(one, words) is named


def test_a_long_name_is_recognised_by_two_of_its_characters() -> None:
    """分期订单 is meant by 分期; callers shorten."""
    cards = Siblings(
        [passage("i", "。", title="分期订单退款时效"), passage("g", "。", title="礼品卡退款时效")]
    )
    assert cards.named("i", "分期的退款几天") and not cards.named("i", "礼品卡的退款几天")
