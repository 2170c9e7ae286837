"""Asking for a person always works, and talking about persons does not."""

from __future__ import annotations

import pytest

from voice_agent.reply.requests import asks_for_person


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
