"""Laws of sentences in passages."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.sentences import split_sentences, with_condition


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("满1,299元减3.5%。V2.3.1在10:30发布！", ["满1,299元减3.5%。", "V2.3.1在10:30发布！"]),
        ("真的？！是的……好", ["真的？！", "是的……", "好"]),
        ("直连可以上网；不能则报修。", ["直连可以上网；", "不能则报修。"]),
        ("他说：“可以退。运费自理。”然后挂了。", ["他说：“可以退。运费自理。”", "然后挂了。"]),
        ("（详见附录。）下一句", ["（详见附录。）", "下一句"]),
        ("《规则。》说明。", ["《规则。》说明。"]),
        ("看https://a.cn/b?x=1&y=2!好吗?好", ["看https://a.cn/b?x=1&y=2!", "好吗?", "好"]),
        ("1. 打开盒子\n2、关上", ["1. 打开盒子", "2、关上"]),
        ("共计200. Next one", ["共计200.", "Next one"]),
        ("请升级V2.3.1.然后重启", ["请升级V2.3.1.", "然后重启"]),
        ("等等...好", ["等等...", "好"]),
        ("没有句号", ["没有句号"]),
        ("“没有关上。下一句。", ["“没有关上。", "下一句。"]),
        ("", []),
        (" \n\n ", []),
    ],
)
def test_a_text_is_cut_at_its_ends_only(text: str, sentences: list[str]) -> None:
    """Decimals, versions, clocks, links, quotes and stems hold; closers stay with their sentence."""
    assert split_sentences(text) == sentences


@given(st.text(alphabet="退货。！？；…\n!?.,“”（）《》[]S1 3a：", max_size=40))
@settings(max_examples=400, deadline=None)
def test_nothing_but_blanks_is_lost(text: str) -> None:
    """The sentences joined are the text."""
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


RETURN = ["签收后15天内可以退货。", "定制商品除外。", "退款原路退回。"]


def test_an_exception_goes_with_its_rule() -> None:
    """Neither may be spoken alone."""
    assert with_condition(RETURN, 0) == [0, 1]
    assert with_condition(RETURN, 1) == [0, 1]
    assert with_condition(RETURN, 2) == [2]


@pytest.mark.parametrize(
    ("sentences", "i", "expected"),
    [
        (["订单满300元可以分3期。", "3期分期仅限信用卡支付。"], 0, [0, 1]),
        (["主卡支持开通漫游。", "开通漫游须预存话费100元。"], 0, [0, 1]),
        (["漫游默认开通。", "开通无须申请。"], 0, [0]),
        (["副卡不支持漫游。", "副卡须在主卡开通后一起使用。"], 0, [0]),
        (["黑卡享受9.5折。", "其中手机除外。", "耳机除外。"], 0, [0, 1, 2]),
        (["满500元券减60元。", "满500元券15天有效。", "满500元券仅限自营商品。"], 0, [0, 2]),
        (["可以退货。", "但须付运费。", "运费每单10元。"], 1, [0, 1]),
        (["只有一句。"], 0, [0]),
    ],
)
def test_limits_duties_and_continuations(sentences: list[str], i: int, expected: list[int]) -> None:
    """A limit follows its subject, a duty its permission, and a dependent sentence needs what it continues."""
    assert with_condition(sentences, i) == expected


def test_there_is_no_sentence_out_of_range() -> None:
    """A wrong index is the caller's fault."""
    with pytest.raises(IndexError):
        with_condition(["一句。"], 3)
