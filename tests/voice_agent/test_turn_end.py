"""When a silence ends the caller's turn."""

from __future__ import annotations

import pytest

from audio.types import Transcript
from tests.fakes import RULES
from voice_agent.floor.turn_end import Ending, ending, pause_s

SHORT, PLAIN, LONG = RULES.short_pause_s, RULES.end_pause_s, RULES.long_pause_s


def said(text: str, voiced_s: float = 2.0) -> Transcript:
    return Transcript(text, text, 0.9, voiced_s, 0.1)


@pytest.mark.parametrize(
    ("text", "announces"),
    [
        ("退款多久能到账", "complete"),
        ("七天之内可以退货吗？", "complete"),
        ("那会员呢", "complete"),
        ("手机丢了怎么办", "complete"),
        ("开发票要多少钱啊", "complete"),
        ("这个能不能退", "complete"),
        ("要是拆封了的话还能退吗", "complete"),
        ("转人工", "complete"),
        ("我想退货然后", "open"),
        ("我想问一下就是", "open"),
        ("那个，", "open"),
        ("要是七天之内拆封了的话", "open"),
        ("如果我买的手机坏了", "open"),
        ("有什么问题的话", "open"),
        ("我的订单号是2024", "open"),
        ("验证码是三七", "open"),
        ("错误代码691", "open"),
        ("怎么", "open"),
        ("我的手机号是13812345678", "plain"),
        ("会员积分有效期", "plain"),
        ("不是", "plain"),
        ("嗯", "plain"),
        ("", "plain"),
    ],
)
def test_what_the_last_words_announce(text: str, announces: Ending) -> None:
    """A whole question, words that call for more, or neither."""
    assert ending(text) == announces


@pytest.mark.parametrize("text", ["退款多久能到账", "我想退货然后", "会员积分有效期"])
@pytest.mark.parametrize("marks", ["。", "？", "，", "……", " ", "！”"])
def test_punctuation_decides_nothing(text: str, marks: str) -> None:
    """Recognisers set marks as they please and may set none (FIELD A7 7)."""
    assert ending(text + marks) == ending(text)


def test_the_lengths() -> None:
    """Short after a question, long after words that call for more, else the ordinary one."""
    lengths = [pause_s(said(text), False, RULES) for text in ("怎么办", "然后", "会员积分有效期")]
    assert lengths == [SHORT, LONG, PLAIN]


def test_an_answer_at_hand_shortens_the_wait() -> None:
    """Words that found a checked answer need no further ones, unless they call for more or are too short to be it."""
    assert pause_s(said("会员积分有效期"), True, RULES) == SHORT
    assert pause_s(said("如果我买的手机坏了"), True, RULES) == LONG
    assert pause_s(said("退款", voiced_s=0.5), True, RULES) == PLAIN


def test_words_not_known_wait_the_ordinary_time() -> None:
    """No words, or words that were dropped, end nothing early."""
    assert pause_s(None, False, RULES) == PLAIN == pause_s(said(""), True, RULES)
