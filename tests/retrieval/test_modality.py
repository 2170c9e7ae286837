"""Laws of hedges and duties."""

from __future__ import annotations

import pytest

from retrieval.modality import duties, hedges


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("一般3天送达", "usually"),
        ("通常3天送达", "usually"),
        ("预计3天送达", "expected"),
        ("公司计划增加投入", "expected"),
        ("可能延后", "possibly"),
        ("疑似肺炎", "possibly"),
        ("最快2小时", "fastest"),
        ("原则上不退", "principle"),
        ("部分地区不送", "partly"),
    ],
)
def test_hedges(text: str, group: str) -> None:
    """Each word belongs to one group."""
    assert hedges(text) == {group}


@pytest.mark.parametrize("text", ["一般人都懂", "可能性很小", "培训计划", "部分退货的订单", "拟合曲线"])
def test_words_that_hedge_nothing(text: str) -> None:
    """一般人, 可能性 and 计划 as a noun."""
    assert hedges(text) == frozenset()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("必须退出账号", "must"),
        ("须本人签收", "must"),
        ("需要寄回配件", "must"),
        ("可以换货", "may"),
        ("能自行更换", "may"),
        ("支持退货", "may"),
        ("建议备份", "advised"),
        ("无须申请", "needless"),
        ("不用申请", "needless"),
        ("不能申请", "mustnot"),
        ("请勿断电", "mustnot"),
        ("请重新登录", "loose"),
    ],
)
def test_duties(text: str, kind: str) -> None:
    """Duty, permission, advice, no need, prohibition, and a plain request that may be told in any way."""
    assert kind in duties(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("功能很多", "may"),
        ("可能延后", "may"),
        ("可用额度", "may"),
        ("相应处理", "must"),
        ("申请换开", "loose"),
        ("不能申请", "may"),
    ],
)
def test_words_that_bind_nothing(text: str, kind: str) -> None:
    """功能 permits nothing, 申请 asks for nothing."""
    assert kind not in duties(text)
