"""Codes and model names: which stretches of a text are one, and the form in which two of them are compared.

RTX-4090 = RTX 4090 = RTX4090 -> rtx4090; ERR_2048 -> err2048; 0X80070005 -> 0x80070005; V2.3.1 -> v2.3.1;
update_billing_address whole; Galaxy S3 -> galaxys3. Amounts and dates (10GB, 3天, 2026-01-01) are no codes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from retrieval.normalize import Normalized, normalize


@dataclass(frozen=True, slots=True)
class Code:
    """One code as it stands in the text at [start, end).

    `key` is what is compared. `inner` are the codes it holds (CW-AX3000 holds ax3000, 0x8024402C holds
    8024402c): whoever asks for one of those means it. `parts` are its letters and figures apart (rtx, 4090):
    searched, never compared.
    """

    text: str
    key: str
    start: int
    end: int
    inner: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


_NO_WORD_BEFORE: Final = r"(?<![^\W\u2e80-\u9fff\uf900-\ufaff])"
_NO_WORD_BEHIND: Final = r"(?![^\W\u2e80-\u9fff\uf900-\ufaff])"
"""A code ends at a Chinese character but not inside a longer word of any other script."""

_CHUNK: Final = re.compile(
    rf"{_NO_WORD_BEFORE}(?:t\+\d+|[a-z0-9]+(?:(?:[-_]|(?<=\d)\.(?=\d))[a-z0-9]+)*){_NO_WORD_BEHIND}"
)
_LATIN_UNITS: Final = (
    "gb|mb|kb|tb|g|m|k|t|gbps|mbps|kbps|bps|ghz|mhz|khz|hz|kwh|kw|wh|w|v|mah|ma|a|kg|mg|km|cm|mm|nm|ml|l"
    "|h|s|ms|min|px|p|fps|dbm|db|dpi|x|st|nd|rd|th"
)
_AMOUNT: Final = re.compile(rf"\d+(?:[.\-]\d+)*(?:{_LATIN_UNITS})|\d+x\d+[a-z]*")
_HEX: Final = re.compile(r"0x[0-9a-f]{2,16}")
_VERSION: Final = re.compile(r"\d{1,3}\.\d+\.\d+")
_PREFIX: Final = re.compile(r"[a-z]{1,12}(?:-[a-z]{1,12})*")
_MODEL_NUMBER: Final = re.compile(r"\d{1,5}(?:ti|xt|s|x)?")
_MODEL_LETTER: Final = re.compile(r"[a-uw-z]\d{1,4}[a-z]?")
_UNIT_NEXT: Final = re.compile(
    rf" ?(?:[个天年月日周秒元块次台张件条份笔期倍折位名项层点分号%]|小时|美元|[,.]\d|(?:{_LATIN_UNITS})\b)"
)
_BEFORE_NUMBER: Final = re.compile("app|pc|tv|no|top|in|on|at|to|of|the|and|or|for|is|are|by|vip")
_BEFORE_LETTER: Final = re.compile("wifi|wi-fi|ios|android|api|web|error|err|code|sim|esim|pos|gps")
"""Words that stand before a code without belonging to it: APP E101, WiFi X100."""


def find_codes(text: str) -> list[Code]:
    """All codes, left to right, never overlapping. Spoken forms must have been written first (`canonical`)."""
    folded = normalize(text)
    chunks = [match.span() for match in _CHUNK.finditer(folded.text)]
    codes: list[Code] = []
    i = 0
    while i < len(chunks):
        start, end = chunks[i]
        if i + 1 < len(chunks) and _belongs(folded.text, chunks[i], chunks[i + 1]):
            i, end = i + 1, chunks[i + 1][1]
        code = _code(folded, start, end, text)
        if code:
            codes.append(code)
        i += 1
    return codes


@lru_cache(maxsize=4096)
def code_keys(text: str) -> frozenset[str]:
    """Every key a text can answer for: its codes and the codes they hold."""
    return frozenset(key for code in find_codes(text) for key in (code.key, *code.inner))


def _belongs(text: str, left: tuple[int, int], right: tuple[int, int]) -> bool:
    """Are two neighbouring chunks one name written with a blank (RTX 4090, Galaxy S3)?"""
    word, number = text[slice(*left)], text[slice(*right)]
    if text[left[1] : right[0]] != " " or not _PREFIX.fullmatch(word) or _BEFORE_NUMBER.fullmatch(word):
        return False
    if _MODEL_NUMBER.fullmatch(number):
        return not _UNIT_NEXT.match(text, right[1])
    if len(word) == 1 or _BEFORE_LETTER.fullmatch(word):
        return False
    return bool(_MODEL_LETTER.fullmatch(number))


def _code(folded: Normalized, start: int, end: int, original: str) -> Code | None:
    chunk = folded.text[start:end]
    key = _key(chunk)
    if key is None:
        return None
    first, last = folded.span(start, end)
    tails, parts = _apart(chunk)
    inner = tuple(tail for tail in tails if "_" not in key and _key(tail))
    return Code(original[first:last], key, first, last, inner, tuple(dict.fromkeys(parts)))


def _apart(chunk: str) -> tuple[list[str], list[str]]:
    """What may be said for the whole (everything behind a sign or blank, behind 0x), and the smallest parts."""
    if _HEX.fullmatch(chunk):
        return [chunk[2:]], [chunk[2:]]
    pieces = re.split(r"[-_ ]", chunk)
    return ["".join(pieces[i:]) for i in range(1, len(pieces))], re.findall(r"[a-z]+|\d+(?:\.\d+)*", chunk)


def _key(chunk: str) -> str | None:
    """The compared form of a chunk of letters, digits, - _ . and blanks; None if it is no code."""
    letters, figures = re.search("[a-z]", chunk), re.search(r"\d", chunk)
    if not figures:
        return chunk if "_" in chunk else None
    if not letters:
        return f"v{chunk}" if _VERSION.fullmatch(chunk) else None
    if _HEX.fullmatch(chunk):
        return chunk
    return None if _AMOUNT.fullmatch(chunk) else re.sub(r"[-_ ]", "", chunk)
