"""What a Chinese numeral is worth: cardinals as they are spoken, and digit strings read one by one."""

from __future__ import annotations

import re
from typing import Final

DIGITS: Final = {
    c: v
    for v, cs in enumerate(("零〇洞", "一幺", "二两", "三", "四", "五", "六", "七拐", "八", "九勾"), 0)
    for c in cs
}
"""Digit characters, with the radio forms 幺 洞 拐 勾 that callers use for codes."""

DIGIT: Final = "零〇一幺二两三四五六七八九"
"""The digit characters that may be read without other proof; 洞 拐 勾 count only beside a 幺."""

_SECTION: Final = re.compile(
    "(?:([一二两三四五六七八九])千)?(零)?(?:([一二两三四五六七八九])百)?(零)?"
    "(?:([一二三四五六七八九])?(十))?(零)?([一二两三四五六七八九])?"
)


def cardinal(text: str) -> int | None:
    """The value of a Chinese cardinal (一百零五 -> 105, 一百五 -> 150, 两万五 -> 25000), None if it is not one."""
    for sign, size in (("亿", 10**8), ("万", 10**4)):
        left, found, right = text.partition(sign)
        if not found:
            continue
        high = cardinal(left)
        if not high or high >= 10**5:
            return None
        if right in DIGITS and right != "零":
            return high * size + DIGITS[right] * size // 10
        low = cardinal(right.removeprefix("零")) if right else 0
        return None if low is None or low >= size else high * size + low
    return _below_ten_thousand(text)


def _below_ten_thousand(text: str) -> int | None:
    match = _SECTION.fullmatch(text)
    if not text or match is None or text[-1] == "零":
        return None
    thousand, zero_a, hundred, zero_b, tens, ten, zero_c, last = match.groups()
    value = 1000 * DIGITS.get(thousand, 0) + 100 * DIGITS.get(hundred, 0)
    if ten:
        value += 10 * DIGITS.get(tens, 1)
    if last:
        spoken_short = not (ten or zero_a or zero_b or zero_c)
        scale = (10 if hundred else 100 if thousand else 1) if spoken_short else 1
        value += DIGITS[last] * scale
    return value or None


def digits(text: str) -> str:
    """A digit string read one by one: 二零四八 -> 2048, 幺零零八六 -> 10086."""
    return "".join(str(DIGITS[c]) for c in text)
