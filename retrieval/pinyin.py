"""How Chinese text sounds: toneless pinyin by character, and which syllables are taken for one another. Pure.

pypinyin's tables are read; its own walk over a text gives the same readings (9 of 77,000 characters differ) in
twenty times the time, which a large knowledge base would feel at every start.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff〇"
HAN_RUN: Final = re.compile(rf"[{HAN}](?: ?[{HAN}])*")
"""Chinese characters with at most one blank between two: recognisers put blanks where the speaker breathed."""

_LONGEST_PHRASE: Final = 4
"""Longer phrases with an unusual reading are proverbs, and hold a shorter one."""


@dataclass(frozen=True, slots=True)
class _Table:
    """The reading of a character alone; of characters inside phrases that read otherwise; who has such phrases."""

    alone: dict[str, str]
    phrases: dict[str, tuple[str, ...]]
    odd: frozenset[str]
    others: dict[str, tuple[str, ...]]


def readings(run: str) -> list[str]:
    """One toneless syllable a character, ü written v; "" for a character that is not Chinese.

    >>> readings("银行卡里行")
    ['yin', 'hang', 'ka', 'li', 'xing']
    """
    table = _table()
    found = [table.alone.get(char, "") for char in run]
    for i, char in enumerate(run):
        if char in table.odd:
            found[i] = _inside(run, i, table) or found[i]
    return found


def other_readings(char: str) -> tuple[str, ...]:
    """What else a character sounds like in some word, in a stable order: 行 hang and xing, 还 hai and huan."""
    return _table().others.get(char, ())


@lru_cache(maxsize=1024)
def sound_class(syllable: str) -> str:
    """One name for syllables that callers and recognisers mix up: zh/z ch/c sh/s, n/l, f/hu, -ng/-n.

    >>> [sound_class(s) for s in ("zhang", "zan", "neng", "hua", "fa")]
    ['zan', 'zan', 'len', 'fa', 'fa']
    """
    head, tail = syllable[:1], syllable[1:]
    if head in ("z", "c", "s"):
        tail = tail.removeprefix("h")
    elif head == "n":
        head = "l"
    elif head == "h" and tail in _BREATHED:
        head, tail = "f", _BREATHED[tail]
    return head + _FRONT.sub("n", tail)


_FRONT: Final = re.compile("(?<=[aei])ng$")
"""-ong has no -on beside it."""

_BREATHED: Final = {"u": "u", "ua": "a", "uan": "an", "uang": "an", "ui": "ei", "un": "en"}
"""hu- as southern callers say f-: 花 fa, 黄 fang, 灰 fei. huo has no partner but 佛."""


@lru_cache(maxsize=1024)
def faint_class(syllable: str) -> str:
    """The class without its nasal end, which a telephone swallows: 银 yin is heard as yi, 兑换 as dui hua."""
    return _NASAL.sub("", sound_class(syllable))


_NASAL: Final = re.compile("(?<=[aeiuv])n$")


def _inside(run: str, i: int, table: _Table) -> str | None:
    """The reading of run[i] by the longest phrase around it, if one gives it an unusual one."""
    for length in range(_LONGEST_PHRASE, 1, -1):
        for start in range(max(0, i - length + 1), min(i, len(run) - length) + 1):
            phrase = table.phrases.get(run[start : start + length])
            if phrase is not None:
                return phrase[i - start]
    return None


@lru_cache(maxsize=1)
def _table() -> _Table:
    """Reads pypinyin's tables once, about half a second with its import."""
    from pypinyin.constants import PHRASES_DICT, PINYIN_DICT

    alone = {chr(code): _toneless(sounds.partition(",")[0]) for code, sounds in PINYIN_DICT.items()}
    phrases: dict[str, tuple[str, ...]] = {}
    others: dict[str, set[str]] = {}
    for phrase, sounds in PHRASES_DICT.items():
        if len(phrase) > _LONGEST_PHRASE or len(phrase) != len(sounds):
            continue
        spelled = tuple(_toneless(sound[0]) for sound in sounds)
        odd = {char: sound for char, sound in zip(phrase, spelled, strict=True) if alone.get(char) != sound}
        if odd:
            phrases[phrase] = spelled
            for char, sound in odd.items():
                others.setdefault(char, set()).add(sound)
    listed = {char: tuple(sorted({*sounds, alone.get(char, "")} - {""})) for char, sounds in others.items()}
    return _Table(alone, phrases, frozenset(others), listed)


@lru_cache(maxsize=4096)
def _toneless(sound: str) -> str:
    """nǚ -> nv: the marks of the tones off, the dots of ü into a letter of its own."""
    parts = unicodedata.normalize("NFD", sound)
    return "".join(c for c in _UMLAUT.sub("v", parts) if c.isascii())


_UMLAUT: Final = re.compile("u[\u0300-\u0304\u030c]*\u0308")


def spelled(syllables: Sequence[str]) -> str:
    """Syllables as one key: "tui kuan"."""
    return " ".join(syllables)
