"""Repair of a transcript from the words of the knowledge base: 机分怎么底扣 was 积分怎么抵扣. Pure.

A stretch is replaced only if it sounds like a term of the corpus and makes no sense as it stands: it is no word, the
corpus does not write it, and it does not cut through words that are sure. Numbers, codes, Latin and negations stay as
they were heard, whatever they sound like; so do words that one sound turns into their opposite (买 and 卖).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Final

from retrieval.codes import find_codes
from retrieval.domain_terms import LONGEST, NUMERALS, DomainTerms, Term, sound_key, words_of
from retrieval.facts import quantities
from retrieval.mishearing import KEPT, Care, Mishearing, Sounds, care_for
from retrieval.normalize import canonical, simplify
from retrieval.pinyin import HAN_RUN, other_readings, readings
from retrieval.terms import rarity, terms
from retrieval.types import Cut, Passage

WORD: Final = 16.0
"""A dictionary word commoner than this (-ln of its share) is taken at its word; rarer entries are names and relics."""

COMMON_CHARACTER: Final = 6.6
"""A one-character word commoner than this (会 说 去) is real speech more often than half of a misheard term."""

STRAY_CHARACTER: Final = 9.5
"""A one-character word rarer than this beside a pair is the rest of a name: 邓寄尘 is not 登记 and 尘."""

MOST_READINGS: Final = 16
"""Ways to read a stretch that are looked up; six characters with two readings each would have 64."""


@dataclass(frozen=True, slots=True)
class Repair:
    """What was heard at [start, end) and the term put in its place; `key` is how the term sounds."""

    start: int
    end: int
    before: str
    after: str
    key: str


@dataclass(frozen=True, slots=True)
class Repaired:
    """The repaired text, the repairs in reading order by their place in `raw`, and what was heard."""

    text: str
    repairs: tuple[Repair, ...]
    raw: str


@dataclass(frozen=True, slots=True)
class _Line:
    """A run of Chinese characters: its words, where each begins, and the places that no repair touches."""

    run: str
    words: tuple[str, ...]
    starts: tuple[int, ...]
    fixed: frozenset[int]

    def words_in(self, start: int, end: int) -> list[str]:
        """The words that reach into [start, end)."""
        each = zip(self.words, self.starts, strict=True)
        return [word for word, at in each if at < end and start < at + len(word)]


class Repairer:
    """Repairs by the terms of one corpus. Same text, same confidence, same result."""

    def __init__(
        self, passages: Sequence[Passage], cut: Cut = terms, rarity: Callable[[str], float] = rarity
    ) -> None:
        """`cut` and `rarity` are those of one tokenizer, so that the user's own words count as words."""
        self._terms = DomainTerms(passages, cut, rarity)
        self._cut = cut
        self._rarity = rarity

    def repair(self, text: str, confidence: float | None = None) -> Repaired:
        """`confidence` is the recogniser's, 0 to 1; None for typed text or where there is none.

        Traditional script is compared as Simplified, and stays where nothing is repaired. A repair that would change
        a code or a figure, or its unit, as search reads them, is left out.
        """
        simple = simplify(text)
        now, moved, kept = text, 0, []
        for repair in self._found(simple, care_for(confidence)) if len(simple) == len(text) else ():
            tried = now[: repair.start + moved] + repair.after + now[repair.end + moved :]
            if _facts(tried) == _facts(now):
                now, moved = tried, moved + len(repair.after) - (repair.end - repair.start)
                kept.append(replace(repair, before=text[repair.start : repair.end]))
        return Repaired(now, tuple(kept), text)

    def _found(self, text: str, care: Care) -> Iterator[Repair]:
        for match in HAN_RUN.finditer(text):
            places = [i for i in range(*match.span()) if text[i] != " "]
            line = _line(match[0].split(" "), text[: match.start()], self._cut)
            for one in self._chosen(line, care):
                start, end = places[one.start], places[one.end - 1] + 1
                yield Repair(start, end, text[start:end], one.term.text, " ".join(one.term.syllables))

    def _chosen(self, line: _Line, care: Care) -> list[Mishearing]:
        """What is repaired, in reading order, none overlapping; no character of a rightly written term changes."""
        ranked = sorted(self._candidates(line), key=lambda one: one.rank)
        right = {place for one in ranked if not one.changed for place in range(one.start, one.end)}
        strays = self._strays(line) - right
        taken = set(line.fixed)
        chosen: list[Mishearing] = []
        for one in ranked:
            places = range(one.start, one.end)
            is_free = taken.isdisjoint(places) and right.isdisjoint(one.changed)
            is_whole = len(one.heard) > 2 or strays.isdisjoint((one.start - 1, one.end))
            if one.changed and is_free and is_whole and self._is_likely(one, line, care):
                taken.update(places)
                chosen.append(one)
        return sorted(chosen, key=lambda one: one.start)

    def _strays(self, line: _Line) -> set[int]:
        """Places of single rare characters, as names are made of."""
        each = zip(line.words, line.starts, strict=True)
        return {at for word, at in each if len(word) == 1 and self._rarity(word) > STRAY_CHARACTER}

    def _candidates(self, line: _Line) -> Iterator[Mishearing]:
        """Every term that a stretch of whole words may sound like."""
        sounds: list[Sounds] = [
            tuple(dict.fromkeys((reading, *other_readings(char))))
            for char, reading in zip(line.run, readings(line.run), strict=True)
        ]
        ends = [*line.starts[1:], len(line.run)]
        for start in line.starts:
            for end in (end for end in ends if 2 <= end - start <= LONGEST):
                for term in self._sounding(sounds[start:end]):
                    yield Mishearing(start, line.run[start:end], term, sounds[start:end])

    def _sounding(self, spoken: Sequence[Sounds]) -> list[Term]:
        keys = {sound_key(one) for one in islice(product(*spoken), MOST_READINGS)}
        return [term for key in sorted(keys) for term in self._terms.sounding(key)]

    def _is_likely(self, one: Mishearing, line: _Line, care: Care) -> bool:
        """Is the term near enough, and the stretch senseless enough, to take one for the other?"""
        return (
            one.is_near(care)
            and one.is_exchangeable()
            and one.heard not in self._terms
            and self._rarity(one.heard) > WORD
            and (self._is_broken_pair(one, line) if len(one.heard) == 2 else self._is_broken(one, line))
        )

    def _is_broken(self, one: Mishearing, line: _Line) -> bool:
        """Two unchanged characters vouch for the rest, and so do three syllables that are one dictionary word.

        Else no word of the stretch may make sense by itself.
        """
        if one.term.is_word or len(one.heard) - len(one.changed) >= 2:
            return True
        words = line.words_in(one.start, one.end)
        return all(len(word) == 1 or self._rarity(word) > WORD for word in words)

    def _is_broken_pair(self, one: Mishearing, line: _Line) -> bool:
        """Two syllables prove little: what changes must be no common word, and no negation may stand inside."""
        words = [word for word in line.words_in(one.start, one.end) if word not in one.term.text]
        return KEPT.isdisjoint(one.heard) and all(self._rarity(word) > COMMON_CHARACTER for word in words)


def _line(pieces: Sequence[str], before: str, cut: Cut) -> _Line:
    """`pieces` are what blanks part; `before` is the text in front: what follows a figure may be its unit."""
    run = "".join(pieces)
    words = tuple(word for piece in pieces for word in words_of(piece, cut))
    starts, at = [], 0
    for word in words:
        starts.append(at)
        at += len(word)
    fixed = {i + 1 for i, char in enumerate(run) if char in NUMERALS}
    if before.rstrip(" ")[-1:].isnumeric():
        fixed.add(0)
    return _Line(run, words, tuple(starts), frozenset(fixed))


def _facts(text: str) -> tuple[list[str], list[str]]:
    """The codes and the figures with their units that search would read in the text."""
    text = canonical(text)
    codes = find_codes(text)
    return [code.key for code in codes], [quantity.key for quantity in quantities(text, codes)]


class NoRepairs:
    """Repair switched off: what was heard is what is searched."""

    def repair(self, text: str, confidence: float | None = None) -> Repaired:
        """The text as it is."""
        return Repaired(text, (), text)
