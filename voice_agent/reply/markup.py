"""What a written answer holds that nobody says: markup, links, emoji. Pure; no figure or code is touched."""

from __future__ import annotations

import re

LINK = "网页链接"
"""What is said for an address that nobody could write down by ear."""

_LINK = re.compile(r"!?\[([^\[\]]*)\]\(\s*(?:https?://|www\.|/|#)[!-~]*?\s*\)")
_URL = re.compile(r"(?:https?://|www\.)[!-~]*[A-Za-z0-9/=&#_~-]")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,60}>")
_LINE_START = re.compile(r"(?m)^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+•·▪●◆][ \t]+|\|(?=.*\|[ \t]*$))+")
_STEM = re.compile(
    r"^\s*(?:\d{1,2}(?:[.、)）][ \t]*|[ \t]*[:：][ \t]+)|[(（]\d{1,2}[)）][ \t]*)(?=[\u4e00-\u9fff])"
)
"""1. or （1） in front of words. In front of a figure it may be one: 2、3天."""
_BARS = re.compile(r"[ \t]*\|[ \t|]*")
_STRUCK = re.compile(r"~~(?=\S)|(?<=\S)~~")
_FENCE = re.compile(r"`+(?:[a-z]+\n)?")
_BOLD = re.compile(r"(?<![A-Za-z0-9_])__(?=\S)(.+?)(?<=\S)__(?![A-Za-z0-9_])")
_TIMES = re.compile(r"(?<=\d)[ \t]*\*[ \t]*(?=\d)")
_STARS = re.compile(r"\*+")
_DRAWN = re.compile(
    "[\U0001f000-\U0001faff\U000e0000-\U000e007f"
    "\u2300-\u23ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u200b-\u200f\u2060\ufe00-\ufe0f\u20e3\u2139\u3030\u303d\ufeff]+"
)
"""Emoji, dingbats and what only joins them."""

_ARROWS = re.compile(r"[ \t]*(?:[\u2190-\u21ff]\ufe0f?|[-=]+>)[ \t]*")
"""Between the steps of a path through menus: a breath."""


def without_markup(text: str) -> str:
    """The words themselves.

    >>> without_markup("**注意**：3*24小时内见[说明](https://a.cn/b)😀。")
    '注意：3×24小时内见说明。'
    """
    text = _URL.sub(LINK, _LINK.sub(r"\1", text))
    text = _LINE_START.sub("", _TAG.sub(" ", text))
    text = _BARS.sub("，", text.rstrip(" \t|")) if "|" in text else text
    text = _BOLD.sub(r"\1", _FENCE.sub("", _STRUCK.sub("", text)))
    text = _STARS.sub("", _TIMES.sub("×", text))
    return _DRAWN.sub("", _ARROWS.sub("，", text))


def without_stem(sentence: str) -> str:
    """A sentence without the number of a list in front of it, which is no figure that anything states.

    >>> without_stem("1. 请先登录。[S1]"), without_stem("2、3天内到账。"), without_stem("3.5元。")
    ('请先登录。[S1]', '2、3天内到账。', '3.5元。')
    """
    return _STEM.sub("", sentence, count=1)
