"""The knowledge base's own rare terms, for the recogniser to expect. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from retrieval.terms import rarity, terms
from retrieval.types import Passage

_WORD = re.compile(r"[\u4e00-\u9fff]{2,4}")
_HAN = re.compile(r"[\u4e00-\u9fff]+")
_NAME = re.compile(r"[A-Z][A-Za-z]+|[a-z]+[A-Z]+[A-Za-z]*")
_RARE = 10.0
"""-ln of a word's share of general text: 多少, 时间, 手机 and 几天 are commoner, and no recogniser mishears them."""
_NAMES = 10
"""Places kept for Latin names, which come first: a name is heard only if it is expected, and they are few. Codes are
left out: a recogniser told to expect ERR_2048 hears it in ERR_2049."""


def hot_words(passages: Sequence[Passage], count: int) -> list[str]:
    """At most `count` terms, best first: asked about in many passages, rare in the language.

    A recogniser that has never met 光猫 or 副卡 writes their homophones. Words come from titles and questions, where a
    domain names its things as callers do, and must stand in a text as well: 怎么办 is asked but never answered.
    """
    words: Counter[str] = Counter()
    names: Counter[str] = Counter()
    for passage in passages:
        words.update(set(_words(passage)))
        names.update(set(_NAME.findall(f"{passage.title} {' '.join(passage.questions)}")))
    said = " ".join(passage.text for passage in passages)
    worth = {
        w: seen * (rarity(w) - _RARE) for w, seen in words.items() if rarity(w) > _RARE and said.count(w) > 1
    }
    foreign = sorted(names, key=lambda name: (-names[name], name))[: min(_NAMES, count // 5)]
    return foreign + sorted(worth, key=lambda word: (-worth[word], word))[: count - len(foreign)]


def _words(passage: Passage) -> Iterator[str]:
    for text in (passage.title.rpartition(" > ")[2], *passage.questions):
        cut = [term for term in terms(text) if _HAN.fullmatch(term)]
        yield from (term for term in cut if _WORD.fullmatch(term))
        yield from _unknown(cut, text)


def _unknown(cut: Sequence[str], text: str) -> Iterator[str]:
    """Words the dictionary does not hold fall into single characters side by side: 光 猫."""
    for one, other in pairwise(cut):
        if len(one) == len(other) == 1 and one + other in text:
            yield one + other
