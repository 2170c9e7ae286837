"""The words a knowledge base is about, found by their sound: 退款, 副卡, 收货地址. Pure.

A term is a word of the dictionary that general text seldom uses, or neighbouring words that this corpus keeps
together. It holds no figure and no numeral: those are never guessed by sound.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from retrieval.normalize import canonical
from retrieval.pinyin import HAN, faint_class, readings
from retrieval.terms import STOP_WORDS, rarity, terms
from retrieval.types import Cut, Passage

LONGEST: Final = 6
"""Characters of a term. What is longer is a phrase, and is known by its parts."""

RARE: Final = 9.5
"""-ln of a word's share of general text; 多少, 时间 and 手机 are commoner, and no recogniser mishears them."""

COMMON: Final = 7.5
"""A word of one character commoner than this (后 为 由 会) ends no long term: it belongs to the sentence."""

TOGETHER: Final = 0.4
"""Share of the rarer part's texts that hold the pair: 猫 stands behind 光 in all of them, 款 behind 此 in few."""

SEEN: Final = 2
"""Texts that must hold a word which no title names, or words side by side, before it is a term."""

SEEN_PAIR: Final = 3
"""The same for two characters that the dictionary does not know as a word: 光猫 and 到账, but also 为金."""

NUMERALS: Final = "零〇一二两三四五六七八九十百千万亿幺半几第"
NEGATIONS: Final = "不无没未非别勿免"
"""The characters that decide what a sentence says: no repair takes one away or brings one in."""

_RUN: Final = re.compile(rf"[{HAN}]+")
_WORDS: Final = re.compile(rf"[{NUMERALS}]|[^{NUMERALS}]+")


@dataclass(frozen=True, slots=True)
class Term:
    """A term, its toneless syllables, and whether the dictionary has it as one word.

    `seen` is how many texts hold it: a passage is one, its title, each question and tag are others.
    """

    text: str
    syllables: tuple[str, ...]
    seen: int
    is_word: bool


def words_of(run: str, cut: Cut = terms) -> list[str]:
    """A run of Chinese characters in words with nothing left out: what `cut` drops is a word a character.

    >>> words_of("退款的三笔")
    ['退款', '的', '三', '笔']
    """
    words: list[str] = []
    for piece in _WORDS.findall(run):
        done = 0
        for word in cut(piece):
            at = piece.find(word, done)
            if at >= 0:
                words += [*piece[done:at], word]
                done = at + len(word)
        words += piece[done:]
    return words


@dataclass(slots=True)
class _Counts:
    """In how many texts each word and each pair or triple of neighbours stands; what titles and questions name."""

    words: Counter[str] = field(default_factory=Counter)
    phrases: Counter[tuple[str, ...]] = field(default_factory=Counter)
    named: set[str] = field(default_factory=set)

    def add(self, passage: Passage, cut: Cut) -> None:
        for text in (passage.title.rpartition(" > ")[2], *passage.tags, *passage.questions):
            self.named |= self._add(text, cut)
        self._add(passage.text, cut)

    def _add(self, text: str, cut: Cut) -> set[str]:
        runs = [words_of(run, cut) for run in _RUN.findall(canonical(text))]
        words = {word for run in runs for word in run}
        self.words.update(words)
        self.phrases.update({phrase for run in runs for phrase in _phrases(run)})
        return words


def _phrases(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for size in (2, 3):
        for start in range(len(words) - size + 1):
            phrase = tuple(words[start : start + size])
            if sum(map(len, phrase)) <= LONGEST:
                yield phrase


class DomainTerms:
    """The terms of a corpus by their sound, and all that the corpus writes side by side."""

    def __init__(
        self, passages: Iterable[Passage], cut: Cut = terms, rarity: Callable[[str], float] = rarity
    ) -> None:
        """`cut` and `rarity` are those of one tokenizer, so that the user's own words count as words."""
        counts = _Counts()
        for passage in passages:
            counts.add(passage, cut)
        self._known = frozenset(counts.words) | {"".join(phrase) for phrase in counts.phrases}
        self._by_sound: dict[str, list[Term]] = {}
        for term in sorted(_terms(counts, rarity), key=lambda term: term.text):
            if all(term.syllables):
                self._by_sound.setdefault(sound_key(term.syllables), []).append(term)

    def __len__(self) -> int:
        return sum(map(len, self._by_sound.values()))

    def __contains__(self, text: str) -> bool:
        """Does the corpus write this, as a word or as up to three neighbouring ones?"""
        return text in self._known

    def sounding(self, key: str) -> Sequence[Term]:
        """The terms whose syllables have this `sound_key`, in the order of their text."""
        return self._by_sound.get(key, ())


def sound_key(syllables: Iterable[str]) -> str:
    """The coarsest name of a stretch of sound; equal keys must still be compared syllable by syllable."""
    return " ".join(map(faint_class, syllables))


def _terms(counts: _Counts, rarity: Callable[[str], float]) -> Iterator[Term]:
    for word, seen in counts.words.items():
        asked = seen >= SEEN or word in counts.named
        if 2 <= len(word) <= LONGEST and asked and rarity(word) > RARE:
            yield Term(word, tuple(readings(word)), seen, is_word=True)
    joined: dict[str, int] = {}
    for phrase, seen in counts.phrases.items():
        text = "".join(phrase)
        if _kept_together(phrase, counts) and _well_formed(phrase, rarity) and text not in counts.words:
            joined[text] = max(seen, joined.get(text, 0))
    for text, seen in joined.items():
        yield Term(text, tuple(readings(text)), seen, is_word=False)


def _kept_together(phrase: tuple[str, ...], counts: _Counts) -> bool:
    """Is it written often enough, and the rarest part of it seldom without the rest?"""
    seen = counts.phrases[phrase]
    if seen < (SEEN_PAIR if sum(map(len, phrase)) == 2 else SEEN):
        return False
    rarest = min(counts.words[word] for word in phrase)
    if len(phrase) > 2:
        rarest = min(rarest, counts.phrases[phrase[:2]], counts.phrases[phrase[1:]])
    return seen >= TOGETHER * rarest


def _well_formed(phrase: tuple[str, ...], rarity: Callable[[str], float]) -> bool:
    if any(word in STOP_WORDS or word in NUMERALS for word in phrase):
        return False
    ends = [word for word in (phrase[0], phrase[-1]) if len(word) == 1 and word not in NEGATIONS]
    return sum(map(len, phrase)) == 2 or all(rarity(word) > COMMON for word in ends)
