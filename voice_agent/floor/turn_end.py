"""How long a silence must be before the caller's turn has ended: a rule over their words and voice. Pure.

A pause says little by itself: people breathe inside a sentence and stop at once after a question. So the words decide
between three lengths. Words that call for more (然后, 要是…的话, digits being read out) wait long, whatever else is
known; a question that is whole, or one whose checked answer is already at hand, waits short; anything else, and words
not known yet, wait the ordinary time. Punctuation decides nothing: recognisers set or leave it as they please.
"""

from __future__ import annotations

import re
from typing import Literal

from audio.types import Transcript
from voice_agent.floor.state import Rules

Ending = Literal["open", "complete", "plain"]

SURE_VOICED_S = 0.8
"""A shorter utterance is the first word of many questions: 退款 finds an answer, and is none."""

_MARKS = re.compile(r"[^\w%％℃¥￥]+")
_MURMUR = re.compile(r"[啊呀哦噢嗯呃额诶哎]+$")

_MORE_TO_COME = re.compile(
    r"(?:然后|还有|以及|或者|而且|并且|但是|不过|因为|所以|另外|就是|就是说|也就是|比如|比如说|例如|那个|这个|那么|包括|关于|对于"
    r"|至于|如果|要是|假如|假设|万一|的话|的时候|想问|想问一下|问一下|想问问|想知道|请问|麻烦|帮我|我想|我要|我的|你们的|和|跟|与"
    r"|把|被|从|又|也|能不能|可不可以|会不会|有没有|怎么)$"
)
"""A caller does not end on these; a few can end a sentence, and then cost a longer wait."""

_CONDITION = re.compile(r"(?:如果|要是|假如|假设|倘若|万一|只要|除非)")
_ASKS = (
    r"(?:吗|(?<![怎什那这多])么|(?<!有)没有|呢|多少|多少钱|多久|多长|多长时间|多大|怎么办|怎么弄|怎么做|怎么样|怎么回事|为什么|什么|什么意思|哪里|哪儿|哪些|谁"
    r"|几[天个次年月点号块元]|是不是|对不对|行不行|好不好|可以不|行吗)"
)
_COMPLETE = re.compile(
    rf"{_ASKS}$"
    r"|(?:多少|多久|多长时间|多大|怎么|如何|什么|哪[个些里种家]|几[天个次年月点]).{1,6}$"
    r"|(?:能不能|可不可以|会不会|有没有|要不要|是不是|需不需要|支不支持|算不算).{1,12}$"
    r"|(?:转人工|人工客服|再说一遍|再见|不用了|没有了|没了)(?:吧|了)?$"
)
_DIGIT = r"[\d零〇一二三四五六七八九幺两]"
_READ_OUT = re.compile(rf"{_DIGIT}{{3,}}$")
_NUMBER_OF = re.compile(rf"(?:号码|号|密码|验证码|取件码|代码|电话|尾号).{{0,3}}?({_DIGIT}+)$")
_WHOLE_NUMBER = re.compile(r"(?:^|\D)[1一幺]\d{10}$")


def ending(text: str) -> Ending:
    """What the last words announce.

    >>> ending("退款多久能到账"), ending("要是七天之内拆封了的话"), ending("我的订单号是2024")
    ('complete', 'open', 'open')
    """
    words = _MURMUR.sub("", _MARKS.sub("", text))
    if not words:
        return "plain"
    if _reads_out(words):
        return "open"
    if _COMPLETE.search(words):
        return "open" if words.endswith("的话") else "complete"
    if _MORE_TO_COME.search(words) or _unfinished_condition(words):
        return "open"
    return "plain"


def pause_s(said: Transcript | None, sure: bool, rules: Rules) -> float:
    """Seconds of silence that end the turn. `said` are the words up to the last voiced sample, None while unknown.

    `sure`: the guard let an answer to exactly these words pass.
    """
    if said is None or not said.text:
        return rules.end_pause_s
    match ending(said.text):
        case "open":
            return rules.long_pause_s
        case "complete":
            return rules.short_pause_s
        case "plain":
            return rules.short_pause_s if sure and said.voiced_s >= SURE_VOICED_S else rules.end_pause_s


def _reads_out(words: str) -> bool:
    """Digits are being dictated: behind the name of a number, or three and more in a row."""
    if _WHOLE_NUMBER.search(words):
        return False
    return bool(_READ_OUT.search(words) or _NUMBER_OF.search(words))


def _unfinished_condition(words: str) -> bool:
    """The last condition has no question behind it: what is asked of the case is still to come."""
    conditions = list(_CONDITION.finditer(words))
    return bool(conditions) and not re.search(_ASKS, words[conditions[-1].end() :])
