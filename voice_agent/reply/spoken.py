"""A checked sentence as it is to be said: no marks, no markup, telephone numbers digit by digit, units by their names.

Runs after the check and may change no value. How digits, codes and Latin letters are read is audio/spelling.py's
matter; here is what only the agent knows: its marks, and which numbers are telephone numbers.
"""

from __future__ import annotations

import re

from audio.spelling import digit_by_digit, speakable
from retrieval.marks import strip_marks

_MARKUP = re.compile(r"[*`#>|~]{1,3}(?=\S)|(?<=\S)[*`#|~]{1,3}|[\U0001F000-\U0001FAFF\u2600-\u27BF\uFE0F]")
_URL = re.compile(r"https?://\S+")
_PHONE = re.compile(
    r"(?<![\d.])(?:1[3-9]\d{9}|400[- ]?\d{3}[- ]?\d{4}|0\d{2,3}-\d{7,8}|(?:10|12)\d{3}|95\d{3,4})"
    r"(?![\d.]|\s*[元个次分])"
)
_UNITS = {"GB": "G", "MB": "兆", "Mbps": "兆", "GHz": "G赫兹", "㎡": "平方米"}
"""Units a voice says by another word than their letters. 兆 is both MB and Mbps in speech, as everyone says it."""


def spoken_form(sentence: str) -> str:
    """The words to synthesise.

    >>> spoken_form("退款在3到5个工作日内到账。[S1]")
    '退款在三到五个工作日内到账。'
    >>> spoken_form("请拨打400-820-8820。")
    '请拨打四零零八二零八八二零。'
    """
    text = _MARKUP.sub("", _URL.sub("网页链接", strip_marks(sentence)))
    text = _PHONE.sub(lambda found: _telephone(found[0]), text)
    for unit, word in _UNITS.items():
        text = re.sub(rf"(?<=\d)\s*{unit}(?![A-Za-z])", word, text)
    text = re.sub(r"(?<=\d)\s*[-~～—]\s*(?=\d[\d.]*(?:%|个|元|天|分|小时|次|年|月|日))", "到", text)
    return speakable(text)


def _telephone(number: str) -> str:
    """1 is said 幺, or it would be heard as 七."""
    return digit_by_digit(re.sub(r"\D", "", number)).replace("一", "幺")
