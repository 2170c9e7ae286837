"""Follow-ups: what leans on the turn before gets it; nothing of the question itself is changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice_agent.reply.rewrite import Exchange, leaned_on, neutral
from voice_agent.reply.rewrite import standalone as made_whole


def standalone(question: str, history: tuple[Exchange, ...]) -> str:
    return made_whole(question, leaned_on(question, history))


BEFORE = (Exchange("储蓄卡退款多久到账？", "3到5个工作日到账。"),)


@pytest.mark.parametrize("question", ["那信用卡呢", "它要手续费吗", "要几天", "如果超过了怎么办", "那个呢？"])
def test_a_question_that_leans_back_is_given_the_last_one(question: str) -> None:
    """Pronouns, bare conditions and switches of entity are searched together with the question before."""
    assert standalone(question, BEFORE) == f"储蓄卡退款多久到账，{question}"


@pytest.mark.parametrize(
    "question", ["宽带移机要收多少钱啊", "那耳机的保修期呢？", "ERR_2048怎么处理", "我要办理停机保号手续"]
)
def test_a_whole_question_is_left_alone(question: str) -> None:
    """A question that names its subject is searched as it is."""
    assert standalone(question, BEFORE) == question


def test_without_history_nothing_is_carried() -> None:
    """The first question of a call is its own."""
    assert standalone("那信用卡呢", ()) == "那信用卡呢"


def test_a_new_code_replaces_the_old_one() -> None:
    """Only one code is asked for at a time, or the search would find both."""
    history = (Exchange("ERR_2048怎么处理", "请重新登录。"),)
    assert standalone("那ERR_2049呢", history) == "怎么处理，那ERR_2049呢"


@pytest.mark.parametrize(
    ("heard", "meant"),
    [("那他多久能修好", "那它多久能修好"), ("其他人可以吗", "其他人可以吗"), ("他们呢", "他们呢")],
)
def test_he_and_she_are_heard_as_it(heard: str, meant: str) -> None:
    """Three words of one sound: a service line is asked about things."""
    assert neutral(heard) == meant


@given(st.text(max_size=40))
def test_the_words_of_the_question_survive(question: str) -> None:
    """Numbers, codes and negations of the caller are never touched."""
    assert standalone(question, BEFORE).endswith(question)
