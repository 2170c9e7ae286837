"""Sentences of a passage, and which of them may not be spoken without its neighbour. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_ENDS: Final = "。！？；…"
_OPEN: Final = {
    "”": "“",
    "’": "‘",
    "）": "（",
    ")": "(",
    "》": "《",
    "〉": "〈",
    "」": "「",
    "』": "『",
    "】": "【",
    "]": "[",
}
_MAX_BRACKET: Final = 160
"""Characters a bracket may span. One that is never closed must not swallow the rest of the passage."""


def split_sentences(text: str) -> list[str]:
    """Sentences without surrounding blanks, in order; nothing but blanks is lost.

    Ends are 。！？；… and newlines, ASCII !? and the full stop, never inside 1,299 / 3.5% / V2.3.1 / 10:30 / URLs or a
    closed pair of 《》“”（）. Closers behind an end belong to it; 1. and 1、 are stems of what follows.
    """
    inside = _inside(text)
    sentences: list[str] = []
    start = i = 0
    while i < len(text):
        end = _end(text, i, start, inside)
        if end is None:
            i += 1
            continue
        sentences.append(text[start:end])
        start = i = end
    sentences.append(text[start:])
    return [stripped for sentence in sentences if (stripped := sentence.strip())]


def _inside(text: str) -> list[bool]:
    """For each character, does it lie within a closed pair of brackets or quotes (the closer not counted)?"""
    inside = [False] * len(text)
    stack: list[int] = []
    for i, char in enumerate(text):
        if char == "\n":
            stack.clear()
        elif char in _OPEN.values():
            stack.append(i)
        elif char in _OPEN:
            opener = next((k for k in reversed(stack) if text[k] == _OPEN[char]), None)
            if opener is not None and i - opener <= _MAX_BRACKET:
                inside[opener:i] = [True] * (i - opener)
                del stack[stack.index(opener) :]
    return inside


def _end(text: str, i: int, start: int, inside: Sequence[bool]) -> int | None:
    """Where the sentence that ends at i is over, closers included; None if it does not end here."""
    if text[i] == "\n":
        return i + 1
    if inside[i] or not (_is_end(text, i, start) or _closes_quoted_sentence(text, i)):
        return None
    i += 1
    while i < len(text) and not inside[i] and (text[i] in _ENDS or text[i] in _OPEN or text[i] in "!?.\"'"):
        i += 1
    return i


def _is_end(text: str, i: int, start: int) -> bool:
    char, after = text[i], text[i + 1 : i + 2]
    if char in _ENDS:
        return True
    if char in "!?":
        return not (after.isascii() and (after.isalnum() or after in ("=", "/", "&")))
    if char != "." or (
        after.isascii() and not after.isspace() and after not in ("", ".", '"', "'", ")", "]")
    ):
        return False
    return bool(text[start:i].strip()) and not text[start:i].strip().isdigit()


def _closes_quoted_sentence(text: str, i: int) -> bool:
    """他说：“可以退。” is over at its closing quote; 《规则。》 is a title in a sentence that goes on."""
    return text[i] in "”’」』）)" and i > 0 and text[i - 1] in "。！？…!?"


_STRONG: Final = re.compile(
    "除外|例外|仅限|只限|限于|不包括|不包含|不含|不适用|不享受|不参加|方可|才能|才可|^(?:但|不过|然而|否则|其中)"
)
"""An exception or a limit: what it belongs to is wrong without it."""

_DUTY: Final = re.compile("(?<![无不])须|应当|需先|需提供|需出示|凭")
_PERMISSION: Final = re.compile("可以|可在|(?<!不)支持|能够|享受|免费|免收|免除|包邮|升为|获得")
_DEPENDENT: Final = re.compile(
    "^(?:但|不过|然而|否则|其中|其余|因此|所以|此时|届时|该|上述|以上|这|它|逾期|超出部分|之后|同时|.{0,24}除外[。！]?$)"
)
"""Begins like a continuation, or is nothing but an exception: means nothing alone."""

_SHARED_SUBJECT: Final = 4
"""Characters two sentences must begin alike with to speak of the same thing (满500元优惠券…)."""


def with_condition(sentences: Sequence[str], i: int) -> list[int]:
    """Indexes, in order, of sentence i and of the neighbours that it may not be spoken without.

    Taken along are: what a dependent sentence continues (定制商品除外 needs the rule before it), exceptions and limits
    right behind it or, about the same subject, one further on, and a duty right behind a permission. IndexError if i is
    out of range.
    """
    first = i
    while first > 0 and _DEPENDENT.search(sentences[first]):
        first -= 1
    chosen = set(range(first, i + 1))
    last = i
    while last + 1 < len(sentences) and _STRONG.search(sentences[last + 1]):
        last += 1
    chosen.update(range(i, last + 1))
    if last == i and i + 2 < len(sentences) and _same_subject(sentences[i], sentences[i + 2]):
        chosen.update({i + 2} if _STRONG.search(sentences[i + 2]) else ())
    if last == i and i + 1 < len(sentences) and _bound(sentences[i], sentences[i + 1]):
        chosen.add(i + 1)
    return sorted(chosen)


def _same_subject(one: str, other: str) -> bool:
    return len(one) >= _SHARED_SUBJECT and one[:_SHARED_SUBJECT] == other[:_SHARED_SUBJECT]


def _bound(permission: str, duty: str) -> bool:
    """可以/支持/免… followed by what must be done for it."""
    return bool(_PERMISSION.search(permission) and _DUTY.search(duty) and not _PERMISSION.search(duty))
