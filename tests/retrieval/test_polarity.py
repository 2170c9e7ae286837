"""Laws of negation: what denies, how far, and what only looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.polarity import denies, negations, settled


@pytest.mark.parametrize(
    "text",
    [
        "不支持退货",
        "不能修改",
        "不予退还",
        "无法开始维修",
        "没有短信",
        "禁止外借",
        "打不了电话",
        "无需申请",
        "请勿断电",
        "并非原厂",
        "不再加价",
        "别拔电源",
    ],
)
def test_these_deny(text: str) -> None:
    """Each plain form of a negation, also behind its verb."""
    assert denies(text)


@pytest.mark.parametrize(
    "text",
    [
        "不仅可以抵扣",
        "不过要先申请",
        "不同的商品",
        "不管是谁",
        "对不起",
        "差不多好了",
        "没关系",
        "非常满意",
        "除非本人同意",
        "未来三个月",
        "未必可行",
        "无线网络",
        "无理由退货",
        "不得不退",
        "不能不去",
        "非本人签收不可",
        "没有人不同意",
        "无不满意",
        "能不能退",
        "是不是本人",
        "可不可以换",
        "能否退",
        "不超过3天",
        "不满3000元",
        "未满79元",
        "不少于85%",
        "特别优惠",
        "告别仪式",
        "不断提高",
    ],
)
def test_these_do_not(text: str) -> None:
    """Words that hold 不 无 没 未 非 别, double denials, questions, and bounds of figures."""
    assert not denies(text)


def test_a_negation_before_a_noun_reaches_no_further() -> None:
    """未拆封的商品可以退货 affirms the return."""
    (found,) = negations("没有拆封的商品可以退货")
    assert found.narrow
    assert found.end == len("没有拆封的")
    (short,) = negations("修改未出库订单的地址")
    assert short.end - short.start == len("未出库")


def test_a_plain_negation_reaches_to_the_end_of_its_clause() -> None:
    """不支持 denies all that follows it."""
    (found,) = negations("海外仓商品不支持换货")
    assert (found.start, found.end) == (5, 10)


def test_double_denials_become_what_they_mean() -> None:
    """非…不可 and 不得不 are duties; 除非…否则不 is only-if."""
    assert settled("非本人签收不可") == "必须本人签收"
    assert settled("不得不退") == "必须退"
    assert settled("除非本人同意，否则不能查询") == "只有本人同意才查询"


@given(st.text(alphabet="不没未无非别勿能得可是的，退货了到时后前", max_size=24))
def test_spans_lie_within_their_clause(clause: str) -> None:
    """Any mixture is read, and no negation reaches beyond the settled text."""
    length = len(settled(clause))
    assert all(0 <= n.start < n.end <= length for n in negations(clause))
