"""Asking for a person always works, and talking about persons does not."""

from __future__ import annotations

import pytest

from voice_agent.reply.requests import asks_for_person, wish


@pytest.mark.parametrize(
    "text",
    [
        "转人工",
        "帮我转人工客服。",
        "我要人工",
        "人工客服",
        "找你们经理",
        "换个人来跟我说",
        "给我转接人工服务",
        "叫你们主管接电话",
        "请帮我战人工",
        "电话占人工客服",
        "好的帮我转员工客服",
        "请帮我转人公客服",
        "请帮我债人公",
        "人工。",
    ],
)
def test_a_demand_for_a_person_is_heard(text: str) -> None:
    """Every plain way to demand a human."""
    assert asks_for_person(text)


@pytest.mark.parametrize(
    "text",
    [
        "人工检测费多少钱",
        "不用转人工",
        "人民币怎么换",
        "换人民币划算吗",
        "人工排队要多久",
        "本人签收可以吗",
        "收件人怎么改",
        "网站人工审核要多久",
        "别转接人工，你直接说",
    ],
)
def test_mentioning_people_is_no_demand(text: str) -> None:
    """Words that merely hold 人 or 人工 are questions like any other."""
    assert not asks_for_person(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("再说一遍。", "again"),
        ("没听清楚，你再说一遍", "again"),
        ("你刚才说什么？", "again"),
        ("麻烦您再重复一下", "again"),
        ("再说一遍退款流程", None),
        ("你说的是什么型号", None),
        ("再见", "goodbye"),
        ("没有别的问题了，谢谢", "goodbye"),
        ("就这样吧", "goodbye"),
        ("没有", "no"),
        ("没有收到退款", None),
        ("不需要了怎么退", None),
        ("不用了我不要退了", None),
        ("我先挂失", None),
        ("谢谢", "nothing"),
        ("知道了，谢谢", "nothing"),
        ("谢谢观看", None),
        ("等一下", "wait"),
        ("嗯，不是", "wait"),
        ("三个", None),
        ("", None),
        ("好的" * 400, None),
    ],
)
def test_wishes_are_a_closed_list(text: str, wanted: str | None) -> None:
    """What only asks something of the call is one; whatever may be a question for the documents is none."""
    assert wish(text) == wanted
