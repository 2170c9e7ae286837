"""Laws of conflicts: two values for one subject are found, and two subjects are never taken for one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from retrieval.conflicts import Conflict, conflicting, conflicts
from retrieval.corpus import load_corpus
from retrieval.types import Passage, PassageId

DEMO = load_corpus(Path(__file__).resolve().parents[2] / "data" / "kb").passages
DAY = date(2026, 6, 1)


def between(one: Sequence[str], other: Sequence[str]) -> tuple[Conflict, ...]:
    made = [Passage(PassageId(i), text, title) for i, (title, text) in zip("ab", (one, other), strict=True)]
    found = conflicting(made, DAY)
    assert [c.values for c in found] == [c.values for c in conflicts(made)]
    return found


@pytest.mark.parametrize(
    ("one", "other", "values"),
    [
        (("退货期限", "商品签收后15天内可以退货。"), ("退货规定", "商品在签收后七天内支持退货。"), ("15天", "7天")),
        (("宽带移机费", "宽带移机每次收费60元。"), ("移机", "宽带移机的费用是每次100元。"), ("60元", "100元")),
        (("客服", "人工客服的时间是每天8点到22点。"), ("客服", "人工客服每天9点到21点。"), ("8到22点", "9到21点")),
        (("保修期", "澄湾路由器保修期为24个月。"), ("保修", "澄湾路由器的保修期是1年。"), ("24个月", "12个月")),
        (("备用机", "备用机须交押金300元。"), ("备用机押金", "备用机押金为500元。"), ("300元", "500元")),
        (("退款", "储蓄卡支付的订单，退款在3到5天到账。"), ("退款", "储蓄卡的退款在7天到账。"), ("3到5天", "7天")),
        (("换货", "换货商品在入仓后3天内发出。"), ("换货", "换货商品在入仓后3个工作日内发出。"), ("3天", "3个工作日")),
        (("上楼费", "大件上楼每层收费10元。"), ("上楼费", "大件上楼每层收费15元。电梯房除外。"), ("10元", "15元")),
    ],
)  # fmt: skip
def test_two_values_for_one_subject_are_a_conflict(
    one: tuple[str, str], other: tuple[str, str], values: tuple[str, str]
) -> None:
    """However the two sentences are worded, if they say the same but for the value."""
    assert [c.values for c in between(one, other)] == [values]


def test_yes_here_and_no_there_is_a_conflict() -> None:
    """The same sentence affirmed and denied."""
    (found,) = between(("副卡", "副卡支持单独开通国际漫游。"), ("副卡", "副卡不支持单独开通国际漫游。"))
    assert found.values == ("副卡支持单独开通国际漫游。", "副卡不支持单独开通国际漫游。")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("退款", "储蓄卡的退款在3个工作日内到账。"), ("退款", "信用卡的退款在5个工作日内到账。")),
        (("退款", "退款在审核通过后7个工作日到账。"), ("退款", "分期订单的退款在审核通过后15个工作日到账。")),
        (("运费", "退货的运费为每单10元。"), ("运费", "换货的运费为每单12元。")),
        (("手机保修期", "保修期为12个月，从签收次日起计算。"), ("耳机保修期", "保修期为18个月，从签收次日起计算。")),
        (("300M宽带", "宽带每月收费39元。"), ("500M宽带", "宽带每月收费59元。")),
        (("套餐", "畅享59元套餐每月含30GB流量。"), ("套餐", "畅享99元套餐每月含60GB流量。")),
        (("充值", "话费充值单笔最低10元。"), ("充值", "话费充值单笔最高500元。")),
        (("配送", "同城订单在发货后1天送达。"), ("配送", "同城订单在发货后24小时送达。")),
        (("配送", "跨省订单在发货后3到5天送达。"), ("配送", "跨省订单在发货后5天送达。")),
        (("维修", "RTX-4090使用1000瓦以上的电源。"), ("维修", "RTX-4080使用850瓦以上的电源。")),
        (("提现", "余额提现每月收取2元。"), ("提现", "余额提现每次收取1元。")),
        (("改地址", "订单出库前支持修改收货地址。"), ("改地址", "订单出库后不支持修改收货地址。")),
        (("", "水深2到5米。"), ("", "水深8到20米。")),
    ],
)  # fmt: skip
def test_two_subjects_are_no_conflict(one: tuple[str, str], other: tuple[str, str]) -> None:
    """Another thing, another bound, another rate, another case, or the same value said otherwise."""
    assert between(one, other) == ()


def test_only_passages_valid_on_a_common_day_conflict() -> None:
    """Last year's fee is no contradiction of this year's; on the day both hold, it is."""
    old = Passage(PassageId("a"), "宽带移机每次收费100元。", "移机", valid_to=date(2026, 5, 31))
    new = Passage(PassageId("b"), "宽带移机每次收费60元。", "移机", valid_from=date(2026, 5, 31))
    assert conflicting((old, new), DAY) == ()
    assert len(conflicting((old, new), date(2026, 5, 31))) == 1
    assert len(list(conflicts((old, new)))) == 1
    assert list(conflicts((old, replace(new, valid_from=DAY)))) == []


def test_parts_of_one_section_are_not_set_against_each_other() -> None:
    """What does not fit into one passage goes on in the next: rows of a table, steps, cases."""
    one, other = (Passage(PassageId(f"m#费用-{n}"), f"移机每次收费{n}0元。", "手册 > 费用") for n in (1, 2))
    assert conflicting((one, other), DAY) == ()


def test_the_demo_knowledge_base_has_none_and_would_have_thirteen_without_its_dates() -> None:
    """Of 287 passages none contradicts another; undated, the old versions do, and nothing else is reported.

    The fourteenth pair of versions (套餐: 20GB and 200分钟 against 30GB and 300分钟) differs twice in one clause.
    """
    assert list(conflicts(DEMO)) == []
    undated = [replace(p, valid_from=None, valid_to=None) for p in DEMO]
    found = [c.ids for c in conflicts(undated)]
    assert all(one.rpartition("-")[0] == other.rpartition("-")[0] for one, other in found)
    assert len(found) == 13
