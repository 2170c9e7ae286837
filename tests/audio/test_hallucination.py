"""What is not speech: each layer by itself, then their order."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.hallucination import (
    CREDITS,
    LANGUAGE_TELLS_S,
    MIN_CHINESE,
    MIN_LEVEL_DBFS,
    MIN_LOGPROB,
    MIN_VOICED_S,
    POLITE,
    Decoding,
    after_decoding,
    before_decoding,
    is_loop,
    syllables,
    undoubled,
)
from audio.types import DropReason

PROMPT = "以下是一段普通话客服电话。"
HOT = ("退货", "运费", "会员", "积分", "发货", "余额", "ERR_2048", "update_billing_address", "RTX-4090")


def _heard(
    text: str,
    *,
    logprob: float = -0.2,
    no_speech: float = 0.05,
    chinese: float = 0.99,
    other: float = 0.005,
    voiced_s: float | None = None,
) -> Decoding:
    """A sure decoding of Chinese speech at five syllables a second unless said otherwise."""
    voiced = syllables(text) / 5 if voiced_s is None else voiced_s
    return Decoding(text, logprob, no_speech, chinese, other, voiced)


def _reason(decoding: Decoding) -> DropReason | None:
    return after_decoding(decoding, PROMPT, HOT)


@pytest.mark.parametrize(
    ("voiced_s", "level_dbfs", "reason"),
    [
        (1.0, -30.0, None),
        (MIN_VOICED_S, MIN_LEVEL_DBFS, None),
        (MIN_VOICED_S - 0.01, -30.0, "too_short"),
        (0.0, -math.inf, "too_short"),
        (3.0, MIN_LEVEL_DBFS - 0.1, "too_quiet"),
        (3.0, -math.inf, "too_quiet"),
    ],
)
def test_clicks_and_near_silence_are_never_decoded(
    voiced_s: float, level_dbfs: float, reason: DropReason | None
) -> None:
    """Too little voice or too low a level is dropped before the model can invent anything; the limits are in."""
    assert before_decoding(voiced_s, level_dbfs) == reason


@pytest.mark.parametrize(
    "decoding",
    [
        _heard("退款多久到账？"),
        _heard("谢谢"),
        _heard("谢谢。", voiced_s=0.5),
        _heard("嗯", voiced_s=0.25),
        _heard("对对对对对", voiced_s=0.8),
        _heard("好的好的好的好的"),
        _heard("退货"),
        _heard("退货运费"),
        _heard("会员积分怎么算"),
        _heard("我要退货，运费谁付，会员有积分吗，什么时候发货，余额能退吗"),
        _heard("我的号码是13888888888"),
        _heard("ERR_2048"),
        _heard("update_billing_address怎么用"),
        _heard("update billing address, update billing address"),
        _heard("RTX-4090有货吗"),
        _heard("he must be home now for the light is on 他一定在家因为灯亮着就是有一种推理的感觉", chinese=0.93),
        _heard("我在打普通话客服电话", voiced_s=2.0),
        _heard("感谢收看", logprob=-0.3, voiced_s=1.0),
        _heard("对呀", chinese=0.03, logprob=-0.5, voiced_s=0.5),
        _heard("客服电话"),
        _heard("那美国的呢", chinese=0.03, voiced_s=LANGUAGE_TELLS_S - 0.1),
        _heard("我想退掉这个订单", logprob=MIN_LOGPROB),
        _heard("我想退掉这个订单", no_speech=0.9, logprob=-0.5),
    ],
    ids=lambda decoding: decoding.text,
)  # fmt: skip
def test_speech_is_heard(decoding: Decoding) -> None:
    """Thanks, repeated yes, one hot word, all hot words in a sentence, numbers, codes: whatever callers say stays."""
    assert _reason(decoding) is None


@pytest.mark.parametrize(
    ("decoding", "reason"),
    [
        (_heard(""), "no_speech"),
        (_heard("。……"), "no_speech"),
        # another language, by sound or by text
        (_heard("后后后后", chinese=0.001, voiced_s=LANGUAGE_TELLS_S), "not_chinese"),
        (_heard("会员发货会员发货", chinese=MIN_CHINESE - 0.01, voiced_s=3.0), "not_chinese"),
        (_heard("退款多久到账", chinese=math.nan, voiced_s=2.0), "not_chinese"),
        (_heard("没有", chinese=0.02, logprob=-1.1, voiced_s=0.4), "not_chinese"),
        (_heard("After early nightfall, the yellow lamps would light up"), "not_chinese"),
        (_heard("货运费货运费", chinese=0.04, other=0.95, logprob=-0.9, no_speech=0.8), "not_chinese"),
        (_heard("对", chinese=0.04, other=0.4, logprob=-1.3, no_speech=0.24), "not_chinese"),
        # noise: no language at all
        (_heard("评论。", chinese=0.01, other=0.4, logprob=-1.5, no_speech=0.71), "no_speech"),
        (_heard("退货运费", chinese=0.15, other=0.42, logprob=-1.7, no_speech=0.25), "no_speech"),
        (_heard("客服退货", chinese=0.03, other=0.5, logprob=-0.8, no_speech=0.19), "no_speech"),
        (_heard("货运费", chinese=0.01, other=0.85, logprob=-1.2, no_speech=0.92), "no_speech"),
        (_heard("退货运费费", chinese=0.02, other=0.3, logprob=-1.6, no_speech=0.34), "no_speech"),
        (_heard("网络网络网", chinese=0.02, other=0.6, logprob=-1.44, no_speech=0.26, voiced_s=0.72), "no_speech"),
        (_heard("电话费货", chinese=0.05, other=0.56, logprob=-1.69, no_speech=0.3, voiced_s=0.54), "no_speech"),
        (_heard("轻轻轻轻", chinese=0.01, other=0.81, logprob=-1.74, no_speech=0.2, voiced_s=1.2), "no_speech"),
        (_heard("对", chinese=0.02, other=0.6, logprob=-1.2, no_speech=0.26, voiced_s=0.65), "no_speech"),
        (_heard("对", chinese=0.02, other=0.6, logprob=-1.2, no_speech=0.26, voiced_s=0.5), "not_chinese"),
        (_heard("轻轻轻轻轻", chinese=0.01, other=0.6, logprob=-0.97, no_speech=0.33, voiced_s=0.66), "no_speech"),
        (_heard("网络", chinese=0.18, other=0.36, logprob=-1.78, no_speech=0.29, voiced_s=0.54), "no_speech"),
        (_heard("网络", chinese=0.18, other=0.36, logprob=-1.78, no_speech=0.29, voiced_s=0.4), "not_chinese"),
        (_heard("不对吗", chinese=0.02, other=0.6, logprob=-1.44, no_speech=0.26, voiced_s=0.4), "not_chinese"),
        # loops, however sure
        (_heard("后,后,后,后,后,后,后,后", logprob=-0.14), "loop"),
        (_heard("货 货 货 货 货 货", logprob=-0.1), "loop"),
        (_heard("客服电话客服电话客服电话客服电话", logprob=-0.1), "loop"),
        (_heard("RTX-4090显卡保修几年。RTX-4090显卡保修几年。RTX-4090显卡保修几年。"), "loop"),
        (_heard("我想问一下" + "1" * 12), "loop"),
        # the prompt, the hot words
        (_heard("以下是一段普通话客服电话。"), "prompt_echo"),
        (_heard("这次是一段普通话客服电话。"), "prompt_echo"),
        (_heard("一段普通话", logprob=-0.05), "prompt_echo"),
        (_heard("电话客服电话客服"), "prompt_echo"),
        (_heard("退货 运费 会员"), "prompt_echo"),
        (_heard("我说会员、积分、发货啊"), "prompt_echo"),
        (_heard("积分 退货 余额 会员 运费"), "prompt_echo"),
        (_heard("会员 发货", logprob=-0.75), "prompt_echo"),
        (_heard("余额", logprob=-0.4, no_speech=0.8), "prompt_echo"),
        # credits and politeness of videos
        (_heard("请不吝点赞 订阅 转发 打赏支持明镜与点点栏目"), "boilerplate"),
        (_heard("字幕由Amara.org社区提供"), "boilerplate"),
        (_heard("谢谢", logprob=-0.85), "boilerplate"),
        (_heard("谢谢观看", voiced_s=0.3), "boilerplate"),
        # more than anyone can say in that time
        (_heard("您好我想问一下退款多久到账呢谢谢您啊", voiced_s=1.5), "too_dense"),
        # the model's own doubt
        (_heard("我想退掉这个订单", no_speech=0.7, logprob=-1.1), "no_speech"),
        (_heard("我想退掉这个订单", logprob=MIN_LOGPROB - 0.01), "low_confidence"),
        (_heard("我想退掉这个订单", logprob=math.nan), "low_confidence"),
    ],
)  # fmt: skip
def test_invented_text_is_dropped_with_its_reason(decoding: Decoding, reason: DropReason) -> None:
    """Silence, foreign speech, loops, echoes, credits and doubt each have a layer of their own."""
    assert _reason(decoding) == reason


@pytest.mark.parametrize("line", sorted(CREDITS))
def test_credits_need_no_further_suspicion(line: str) -> None:
    """No caller says them: long and sure is no excuse."""
    assert _reason(_heard(f"好{line}的", logprob=-0.01, voiced_s=30.0)) in ("boilerplate", "prompt_echo")


@pytest.mark.parametrize("phrase", sorted(POLITE))
def test_polite_phrases_depend_on_the_evidence(phrase: str) -> None:
    """The same words are speech when voiced and sure, and boilerplate when the model is not sure."""
    assert _reason(_heard(phrase, voiced_s=2.0)) is None
    assert _reason(_heard(phrase, voiced_s=2.0, logprob=-0.9)) == "boilerplate"


@given(st.sampled_from(HOT), st.sampled_from(HOT), st.sampled_from(HOT))
def test_neighbours_of_the_list_never_pass(first: str, second: str, third: str) -> None:
    """Three terms in the order of the list are the list, whatever the scores; in another order they may be speech."""
    spot = HOT.index(first)
    in_order = HOT[spot : spot + 3] == (first, second, third)
    reason = _reason(_heard(f"请问{first}、{second}、{third}是什么意思呢", voiced_s=20.0))
    assert reason == ("prompt_echo" if in_order else reason)
    assert in_order or len({first, second, third}) < 3 or reason is None


@pytest.mark.parametrize(
    ("text", "voiced_s", "once"),
    [
        ("可以可以", 0.4, "可以"),
        ("再说一遍,再说一遍。", 0.8, "再说一遍"),
        ("快递到哪了?快递到哪了?", 0.9, "快递到哪了"),
        ("可以可以", 0.6, "可以可以"),
        ("对对", 0.1, "对对"),
        ("可以可否", 0.2, "可以可否"),
        ("", 0.0, ""),
    ],
)
def test_what_came_out_twice_was_said_once(text: str, voiced_s: float, once: str) -> None:
    """Only the whole text, only exactly twice, only faster than anyone speaks; 对对 stays what it is."""
    assert undoubled(text, voiced_s) == once


@given(st.text("退款 多久,到账。吗", max_size=12), st.floats(0, 5))
def test_undoubling_only_ever_takes_the_second_half(text: str, voiced_s: float) -> None:
    """What is left is the beginning of the text, and doubling it again gives its letters back."""
    left = undoubled(text, voiced_s)
    assert text.startswith(left)
    assert left == text or "".join(filter(str.isalnum, left)) * 2 == "".join(filter(str.isalnum, text))


@given(st.text("退款多久到账吗", min_size=1, max_size=6), st.integers(6, 20))
def test_anything_often_enough_is_a_loop(unit: str, times: int) -> None:
    """Six times the same is never speech, whatever the unit and whatever stands before it."""
    assert is_loop(f"我想问{unit * times}")


@pytest.mark.parametrize(
    ("text", "count"), [("退款", 2), ("ERR 2048", 7), ("Galaxy", 3), ("hello 你好", 4), ("，。", 0)]
)
def test_syllables_are_a_lower_bound(text: str, count: int) -> None:
    """One a Chinese character, digit or capital; Latin words by their length; none for punctuation."""
    assert syllables(text) == count
