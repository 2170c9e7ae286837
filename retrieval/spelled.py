"""Codes that were spelled out loud, written as codes: E R R 下划线二零四八 -> ERR_2048, 零x八零零七 -> 0x8007.

Runs before `numbers.written`: it joins letters and signs and leaves plain numerals to that step.
"""

from __future__ import annotations

import re
from typing import Final

from retrieval.numbers import UNITS
from retrieval.numerals import DIGIT, digits

_SIGNS: Final = {
    "下划线": "_",
    "下横线": "_",
    "底划线": "_",
    "中划线": "-",
    "中横线": "-",
    "短横线": "-",
    "短横杠": "-",
    "横杠": "-",
    "横线": "-",
    "短横": "-",
    "减号": "-",
    "杠": "-",
}
"""Spoken names of the signs inside codes. They count only between letters or digits."""

_EDGE: Final = f"A-Za-z0-9{DIGIT}"
_SIGN: Final = re.compile(rf"(?<=[{_EDGE}])[ ，、,]?({'|'.join(_SIGNS)})[ ，、,]?(?=[{_EDGE}])")
_PAUSED: Final = re.compile(
    rf"(?<![A-Za-z0-9])[A-Za-z](?:[ ，、,][A-Za-z]){{1,7}}(?=[ ，、,]?(?:{'|'.join(_SIGNS)})[ ，、,]?[{_EDGE}])"
)
"""Letters with pauses between them, which a recogniser writes as commas, count only in front of a spoken sign."""

_HEX_DIGIT: Final = rf"[{DIGIT}0-9A-Fa-f](?![xX叉])"
_HEX: Final = re.compile(
    rf"(?<![A-Za-z0-9{DIGIT}])[零〇0] ?[xX叉] ?"
    rf"((?:{_HEX_DIGIT}){{8,16}}|{_HEX_DIGIT}(?: ?{_HEX_DIGIT}){{7}}|(?:{_HEX_DIGIT}){{4,7}})(?![A-Za-z])"
)
"""With blanks inside it must be the usual eight digits, or what follows the code would be drawn into it."""

_LETTERS: Final = re.compile(
    r"(?<![A-Za-z0-9.])(?:[A-Za-z](?: [A-Za-z]){1,7}|(?<![_\-])[A-Za-z](?:[-.][A-Za-z]){2,7})(?![A-Za-z])"
)
_LETTER_NUMBER: Final = re.compile(
    rf"(?<![A-Za-z0-9_\-])([A-Za-z]) (?=(?:[0-9]+(?![0-9.])|[{DIGIT}十百千万]{{2,}})(?!{'|'.join(UNITS)}))"
)
_SINGLE_DIGITS: Final = re.compile(
    rf"(?<=[A-Za-z_\-])(?: ?[{DIGIT}0-9](?![{DIGIT}0-9])){{3,12}}(?! ?(?:[{DIGIT}0-9A-Za-z]|{'|'.join(UNITS)}))"
)
"""Digits one by one behind a letter or sign: ERR 2 0 4 8. Two might be a quantity and something else."""

_PLUS: Final = re.compile(rf"(?<![A-Za-z])([Tt]) ?加 ?([{DIGIT}0-9])(?![{DIGIT}0-9十百千])")
_TIGHT: Final = re.compile(rf"(?<=[A-Za-z_\-]) (?=[{DIGIT}]{{2,}})|(?<=[{DIGIT}]) (?=[{DIGIT}]{{2,}})")
_VERSION: Final = re.compile(
    rf"(?<![A-Za-z])[vV] ?((?:[{DIGIT}0-9]{{1,4}} ?点 ?){{1,3}}[{DIGIT}0-9]{{1,4}})(?![{DIGIT}十百])"
)


def joined(text: str) -> str:
    """The text with spelled letters, signs and hexadecimal digits put together. Expects folded width."""
    text = _PAUSED.sub(lambda m: re.sub("[ ，、,]", "", m[0]).upper(), text)
    text = _PLUS.sub(lambda m: f"{m[1]}+{_figures(m[2])}", text)
    text = _SIGN.sub(lambda m: _SIGNS[m[1]], text)
    text = _HEX.sub(lambda m: "0x" + _figures(m[1]).upper(), text)
    text = _VERSION.sub(lambda m: "V" + ".".join(_figures(part) for part in m[1].split("点")), text)
    text = _LETTERS.sub(lambda m: re.sub(r"[ .\-]", "", m[0]).upper(), text)
    text = _SINGLE_DIGITS.sub(lambda m: _figures(m[0]), text)
    text = _LETTER_NUMBER.sub(r"\1", text)
    return _TIGHT.sub("", text)


def _figures(text: str) -> str:
    return "".join(digits(c) if c in DIGIT else c for c in text.replace(" ", ""))
