"""Laws of the one wording that checks compare."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.wording import folded


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("三天以内", "3天内"),
        ("签收之后", "签收后"),
        ("首次提现", "第一次提现"),
        ("每个月39元", "每月39元"),
        ("一个月39元", "每月39元"),
        ("月费39元", "每月费39元"),
        ("单笔订单", "每单订单"),
        ("每笔订单收2元", "每单收2元"),
        ("免收安装费", "不收安装费"),
        ("免运费", "不收运费"),
        ("九成", "90%"),
        ("三成五", "35%"),
        ("人民币伍拾万元整", "人民币50万元整"),
        ("满**999**元", "满999元"),
        ("翻了一番", "翻一番"),
        ("零到40度", "0到40度"),
        ("光猫一台120元", "光猫每台120元"),
    ],
)
def test_variants_become_one(one: str, other: str) -> None:
    """Two ways of saying the same small thing are compared as one."""
    assert folded(one) == folded(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("免费", "不费"),
        ("首月费用", "首每月费用"),
        ("成为会员", "10%为会员"),
        ("一成不变", "10%不变"),
        ("不免收", "不收"),
        ("姓陆", "姓六"),
        ("3天内", "3天后"),
    ],
)
def test_what_differs_stays_different(one: str, other: str) -> None:
    """A word that only looks like a variant is left alone."""
    assert folded(one) != other


@given(st.text(max_size=40))
@settings(max_examples=200, deadline=None)
def test_any_text_is_folded(text: str) -> None:
    """Never raises, and no capital letter of ASCII is left."""
    assert not any("A" <= char <= "Z" for char in folded(text))
