"""Pure: where a text holds personal numbers and mail addresses.

Found: mobile and landline numbers, identity cards of 18 and 15 digits, bank cards of 13 to 19 digits, longer runs of
digits, mail addresses; in ASCII or full width, grouped by spaces or hyphens, or read aloud as Chinese numerals.
Left alone: prices, dates, decimals, codes (ERR_2048, 0x80070005) and the numbers of public services (110, 10086,
95588, 400-820-8820). Where a number could be either, it is taken for a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

WIDE: dict[int, int | str] = {0xFF01 + i: 0x21 + i for i in range(94)}
WIDE |= {0x3000: " "} | {ord(dash): "-" for dash in "\u2010\u2011\u2013\u2014\u2212"}
"""Full width to ASCII, character by character: places in a text stay."""

_NUMERAL_OF = dict(zip("零〇○洞一幺妖腰要二三四五六七拐八九勾", "0000111112345677899", strict=True))
# 洞 幺 拐 勾 are how 0 1 7 9 are read aloud on the phone; 妖 腰 要 is what a recogniser writes for 幺.
_NUMERALS: dict[int, int | str] = {ord(c): d for c, d in _NUMERAL_OF.items()}

_N = "".join(_NUMERAL_OF)
_FIRST = f"(?:[要腰妖](?=[{_N}])|[{_N.translate(str.maketrans('', '', '要腰妖'))}])"
# 需要2000 is no number that begins with 幺.
_SPOKEN = re.compile(rf"{_FIRST}(?:[ ,、。\-]{{0,2}}[{_N}])+")
_MIXED = re.compile(rf"(?:{_FIRST}|\d)(?:[ \-]?[{_N}\d])+", re.ASCII)

_FEWEST_DIGITS = 7
_DIGITISH = re.compile(rf"＠|[\d{_N}](?:[^\d{_N}]{{0,3}}[\d{_N}]){{6}}")
# Digits of one number stand close together: nothing we know of puts more than two marks between them.

_EMAIL = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+")
_RUN = re.compile(r"\d(?:[ \-)]{0,2}\d)*", re.ASCII)
_POINTED_MOBILE = re.compile(r"(?<!\d)1[3-9]\d([.,·/])\d{4}\1\d{4}(?!\d)", re.ASCII)
_BEGUN = re.compile(r"(?<![A-Za-z0-9_])[0-9](?:[ ,、。\-]{0,2}[0-9]){6,}\W*\Z")

_MOBILE = re.compile(r"(?:(?:00)?86)?(1[3-9]\d{9})")
_NEAR_MOBILE = re.compile(r"1[3-9]\d{8}(?:\d{2})?")
# Recognisers drop or double a digit often enough: ten or twelve digits in one piece are still somebody's phone.
_LANDLINE = re.compile(r"(?:010|02\d)\d{8}|0[3-9]\d{2}\d{7,8}")
_AREA_SIZES = (3, 4)
_DAY = r"(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
_ID_18 = re.compile(rf"[1-8]\d{{5}}(?:19|20)\d{{2}}{_DAY}\d{{3}}[\dX]")
_ID_15 = re.compile(rf"[1-8]\d{{7}}{_DAY}\d{{3}}")
_PUBLIC = re.compile(r"1[12]\d|1(?:00|06|2\d)\d{2}|9[56]\d{3,4}|[48]00\d{7}")

_CARD_DIGITS = range(13, 20)
_MOST_DIGITS = 23
# The longest number we name, a bank card of 19, and a country code before it.
_MOST_GROUPS = 5
# A list of small numbers is not a phone; whisper writes a phone in two to five groups, or digit by digit.
_TAIL_CHARS = 200


@dataclass(frozen=True, slots=True)
class Secret:
    """text[start:stop] is personal. `value` is its canonical form, the same however it was written or spoken."""

    kind: str
    start: int
    stop: int
    value: str


Detector = Callable[[str], list[Secret]]


def digits_of(text: str) -> str:
    """The digits in a text, whatever their width or script: "１3零" -> "130"."""
    return "".join(c for c in text.translate(WIDE).translate(_NUMERALS) if "0" <= c <= "9")


def may_hold_secret(text: str) -> bool:
    """False for the many texts with no mail address and too few digits, which need no closer look."""
    return len(text) >= _FEWEST_DIGITS and ("@" in text or _DIGITISH.search(text) is not None)


def find_emails(text: str) -> list[Secret]:
    """Mail addresses."""
    folded = text.translate(WIDE)
    if "@" not in folded:
        return []
    return [Secret("EMAIL", m.start(), m.end(), m[0].lower()) for m in _EMAIL.finditer(folded)]


def find_numbers(text: str) -> list[Secret]:
    """Personal numbers written in digits."""
    folded = text.translate(WIDE)
    secrets = [Secret("PHONE", m.start(), m.end(), digits_of(m[0])) for m in _POINTED_MOBILE.finditer(folded)]
    for run in _RUN.finditer(folded):
        if run.end() - run.start() >= min(_AREA_SIZES) + 7:
            groups = [(run.start() + m.start(), m[0]) for m in re.finditer("[0-9]+", run[0])]
            secrets += _in_groups(folded, groups)
    return secrets


def find_spoken(text: str) -> list[Secret]:
    """Personal numbers read aloud as Chinese numerals, whole or in part, with the commas of the recogniser."""
    folded = text.translate(WIDE)
    secrets = []
    for pattern in (_SPOKEN, _MIXED):
        for run in pattern.finditer(folded):
            if run[0].translate(_NUMERALS) != run[0]:
                secrets += _in_spoken(run[0], run.start())
    return secrets


def find_begun(text: str) -> list[Secret]:
    """A long number at the end of a text that is still being spoken: the rest of it is on its way."""
    start = max(0, len(text) - _TAIL_CHARS)
    m = _BEGUN.search(text[start:].translate(WIDE).translate(_NUMERALS))
    return [Secret("NUMBER", start + m.start(), start + m.end(), digits_of(m[0]))] if m else []


DETECTORS: tuple[Detector, ...] = (find_emails, find_numbers, find_spoken)
"""In this order, each on what the one before has left. A further kind of secret is one more function here."""


def _in_groups(text: str, groups: list[tuple[int, str]]) -> Iterator[Secret]:
    """Every secret made of neighbouring groups of digits, the longest first."""
    if len(groups) > _MOST_GROUPS and all(len(digits) == 1 for _, digits in groups):
        spelled = "".join(digits for _, digits in groups)
        yield from filter(None, [_secret(text, groups[0][0], groups[-1][0] + 1, spelled, (len(spelled),))])
        return
    first = 0
    while first < len(groups):
        for last in range(_reach(groups, first), first, -1):
            part = groups[first:last]
            sizes = tuple(len(digits) for _, digits in part)
            stop = part[-1][0] + sizes[-1]
            if found := _secret(text, part[0][0], stop, "".join(digits for _, digits in part), sizes):
                yield found
                first = last - 1
                break
        first += 1


def _reach(groups: list[tuple[int, str]], first: int) -> int:
    last, total = first + 1, len(groups[first][1])
    while last < len(groups) and total + len(groups[last][1]) <= _MOST_DIGITS:
        total += len(groups[last][1])
        last += 1
    return last


def _secret(text: str, start: int, stop: int, digits: str, sizes: tuple[int, ...]) -> Secret | None:
    """The secret that exactly these digits are, given what stands around them."""
    before, after = text[max(0, start - 2) : start], text[stop : stop + 1]
    if re.fullmatch(r"\d\.", before):  # decimals of a number
        return None
    if (mobile := _MOBILE.fullmatch(digits)) and _is_mobile_grouping(digits, sizes) and not _is_hex(after):
        return Secret("PHONE", start, stop, mobile[1])
    ends_in_x = len(digits) == 17 and after in ("x", "X")
    if _is_word(before[-1:]) or (_is_word(after) and not ends_in_x):  # part of a code
        return None
    if ends_in_x and _ID_18.fullmatch(digits + "X"):
        return Secret("ID", start, stop + 1, digits + "X")
    kind = _kind(digits, sizes)
    return Secret(kind, start, stop, digits) if kind else None


def _kind(digits: str, sizes: tuple[int, ...]) -> str | None:
    one = len(sizes) == 1
    if _ID_18.fullmatch(digits) or (_ID_15.fullmatch(digits) and sizes in ((15,), (6, 6, 3))):
        return "ID"
    if one and _NEAR_MOBILE.fullmatch(digits):
        return "PHONE"
    if _LANDLINE.fullmatch(digits) and (one or (sizes[0] in _AREA_SIZES and min(sizes) >= 3)):
        return "PHONE"
    if len(digits) in _CARD_DIGITS and (one or _is_card_grouping(digits, sizes)):
        return "CARD"
    return "NUMBER" if one and len(digits) > _CARD_DIGITS[-1] else None


def _is_mobile_grouping(digits: str, sizes: tuple[int, ...]) -> bool:
    if len(sizes) == 1:
        return True
    looks_like_date = digits.startswith("19") and sizes[0] == 4 and sizes[1] <= 2
    return len(sizes) <= _MOST_GROUPS and not looks_like_date and not digits.startswith(("86", "0086"))


def _is_card_grouping(digits: str, sizes: tuple[int, ...]) -> bool:
    """Bank cards begin with 3, 4, 5, 6 or 9 and are written in fours, or in two halves."""
    in_fours = set(sizes[:-1]) == {4} and sizes[-1] <= 4
    return digits[0] in "34569" and (in_fours or min(sizes) >= 6)


def _in_spoken(run: str, offset: int) -> list[Secret]:
    places = [i for i, c in enumerate(run) if c in _NUMERAL_OF or c.isdigit()]
    if run[0] in "要腰妖" and _spoken_kind(digits_of(run)[1:]):  # 我要六二二二… : a verb, not 幺
        places = places[1:]
    digits = "".join(digits_of(run[i]) for i in places)
    if all(_PUBLIC.fullmatch(digits_of(group)) for group in re.split(r"[ ,、。\-]+", run)):
        return []
    kind = _spoken_kind(digits)
    inside = re.search(r"1[3-9]\d{9}", digits)
    if kind is None and inside and len(digits) - 11 <= 2:  # …零零零一共
        places, digits, kind = places[inside.start() : inside.end()], inside[0], "PHONE"
    elif kind is None and len(digits) >= _CARD_DIGITS[0]:
        kind = "NUMBER"
    mobile = _MOBILE.fullmatch(digits)
    value = mobile[1] if mobile else digits
    return [Secret(kind, offset + places[0], offset + places[-1] + 1, value)] if kind else []


def _spoken_kind(digits: str) -> str | None:
    """What the digits are as a whole; None where a mobile number may stand among a few others."""
    if _MOBILE.fullmatch(digits):
        return "PHONE"
    if _NEAR_MOBILE.fullmatch(digits) and len(digits) == 12:
        return None
    if len(digits) in (13, 14) and re.search(r"1[3-9]\d{9}", digits):
        return None
    return _kind(digits, (len(digits),))


def _is_word(char: str) -> bool:
    return char == "_" or (char.isascii() and char.isalpha())


def _is_hex(char: str) -> bool:
    return char != "" and char in "abcdefABCDEF_"
