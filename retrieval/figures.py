"""Does a cited passage carry every figure of a sentence: value, unit, bound, rate, and about the same thing? Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from retrieval.alignment import Claim
from retrieval.facts import Fact
from retrieval.numbers import UNITS
from retrieval.qualifiers import is_period
from retrieval.readings import Reading, Sentence, read_sentence
from retrieval.surroundings import Likeness, surroundings
from retrieval.types import VerdictReason

Fault = tuple[VerdictReason, str]

_MARGIN: Final = 0.12
"""How much better another figure must fit before the one that was said counts as exchanged (documents 0 to 53)."""

_TIE: Final = 0.02
_ASKED: Final = 0.12
"""Where another figure fits as well, the question decides, if it says this much more of the other one's sentence."""

_LOOSE: Final = re.compile(
    rf"(?<![哪那这另同每上下头统唯专逐第])(?!一[个位](?!半))[一二两三四五六七八九十百千万亿零半几]+[多来余]?个?(?:{'|'.join(UNITS)})(?!(?<=部)分)"
    "|[一二三四五六七八九十百千万]+分之[一二三四五六七八九十百千万]+|一半|翻[一两二三四五六七八九十几]*[番倍]"
)
"""Amounts in words that have no one value to compare (十几天, 半个月): they must stand in the passage as said."""

_SPAN: Final = re.compile("期限|有效|保修|质保|包换|合约期|时限|限额|额度|上限|期为|期是|期到")
"""Nouns that hold a bound of their own: a term of 15天 is 15天内."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a passage states a figure."""

    reading: Reading
    sentence: Sentence
    fact: Fact

    @property
    def around(self) -> Mapping[str, float]:
        return surroundings(self.sentence.text, self.fact.start, self.fact.end)


@lru_cache(maxsize=512)
def _places(reading_title: str, readings: tuple[str, ...]) -> tuple[tuple[Sentence, Fact], ...]:
    stated = [read_sentence(text) for text in (*readings, reading_title)]
    return tuple((sentence, fact) for sentence in stated for fact in sentence.facts)


def unsupported(claim: Claim) -> Fault | None:
    """The first figure that no cited passage carries, or that it says of something else."""
    places = [
        _Place(reading, sentence, fact)
        for reading in claim.readings
        for sentence, fact in _places(reading.title, reading.raw)
    ]
    for fact in claim.sentence.facts:
        fault = _examine(fact, claim, places)
        if fault:
            return fault
    for match in _LOOSE.finditer(claim.sentence.text):
        if not any(match[0] in s.text for reading in claim.readings for s in reading.sentences):
            return VerdictReason.NUM_UNSUPPORTED, f"{match[0]} is not in the cited passage"
    return None


def _examine(fact: Fact, claim: Claim, places: list[_Place]) -> Fault | None:
    same = [place for place in places if _equal(fact, place.fact)]
    if not same and _is_article(fact, claim):
        return None
    if not same:
        other = any(place.fact.kind == fact.kind and _same_value(fact, place.fact) for place in places)
        reason = VerdictReason.UNIT_MISMATCH if other else VerdictReason.NUM_UNSUPPORTED
        return reason, f"{fact.shown} is not in the cited passage"
    if claim.verbatim:
        return None
    rivals = [place for place in places if _is_rival(fact, place.fact)]
    if not rivals and len(same) == 1:
        differs = _differs(fact, same[0], claim)
        return (VerdictReason.COMPARATOR, f"{fact.shown}: {differs}") if differs else None
    return _compare(fact, claim, same, rivals)


def _compare(fact: Fact, claim: Claim, same: list[_Place], rivals: list[_Place]) -> Fault | None:
    """Of several places with this figure or another: the one that fits best decides."""
    fits = _Fits(fact, claim)
    scored = sorted(((*fits.of(place), place) for place in same), key=lambda row: -row[0])
    best, asked = scored[0][0], max(row[1] for row in scored)
    for place in rivals:
        fit, hint = fits.of(place)
        if fit > best + _MARGIN or (fit > best - _TIE and hint > asked + _ASKED):
            unit = _same_value(fact, place.fact)
            reason = VerdictReason.UNIT_MISMATCH if unit else VerdictReason.NUM_UNSUPPORTED
            return reason, f"there it is {place.fact.shown}, not {fact.shown}"
    near = [place for fit, _, place in scored if fit >= 0.85 * best]
    faults = [_differs(fact, place, claim) for place in near]
    return None if not all(faults) else (VerdictReason.COMPARATOR, f"{fact.shown}: {faults[0]}")


class _Fits:
    """How well places fit one figure of the sentence."""

    def __init__(self, fact: Fact, claim: Claim) -> None:
        here = surroundings(claim.sentence.text, fact.start, fact.end)
        clause = next((c.grams for c in claim.sentence.clauses if c.start <= fact.start < c.end), frozenset())
        self._by = {
            id(r): (Likeness(here, r), r.scale(clause), r.scale(claim.hint & r.seldom.keys()))
            for r in claim.readings
        }

    def of(self, place: _Place) -> tuple[float, float]:
        """By the words near both and by its clause; and, apart, by the question."""
        near, clause, hint = self._by[id(place.reading)]
        there = place.sentence.grams
        return near.to(place.around) + 0.5 * clause.share(there), hint.share(there)


def _is_article(fact: Fact, claim: Claim) -> bool:
    """1个 for 一个: an article that somebody wrote as a figure."""
    if fact.low != 1 or fact.high != 1 or fact.kind not in ("piece", "person"):
        return False
    words = [f"{one}{fact.unit}" for one in "一单每首"]
    return any(word in s.text for reading in claim.readings for s in reading.sentences for word in words)


def _same_value(one: Fact, other: Fact) -> bool:
    return one.low is not None and one.low == other.low and one.high == other.high


def _equal(said: Fact, held: Fact) -> bool:
    """The same value, or the end of a range said as its bound: 最长5天 of 3到5天."""
    if said.low is None or held.low is None:
        return said.low is held.low and _date_in(said.word, held.word)
    if said.unit != held.unit and said.unit:
        return False
    if said.low == held.low and said.high == held.high:
        return True
    bound = said.qualifier.bound
    return said.low == said.high and (
        (bound == "<=" and said.low == held.high) or (bound == ">=" and said.low == held.low)
    )


def _date_in(said: str, held: str) -> bool:
    """3月 of 2026年3月1日: a date may be said less exactly, never more."""
    return said == held or bool(re.search(rf"(?<!\d){re.escape(said)}(?![个])", held))


def _is_rival(said: Fact, held: Fact) -> bool:
    if _equal(said, held) or said.kind != held.kind:
        return False
    return said.unit == held.unit or _same_value(said, held)


def _differs(said: Fact, place: _Place, claim: Claim) -> str:
    """What is promised otherwise about the same figure; empty if nothing."""
    held, mine, its = place.fact, said.qualifier, place.fact.qualifier
    ranged = held.low != held.high and mine.bound in ("<=", ">=")
    if mine.bound != its.bound and not ranged and not _same_bound(said, place, claim):
        return f"bound {mine.bound or 'none'}, there {its.bound or 'none'}"
    if mine.about != its.about:
        return "about" if mine.about else "not about"
    if mine.time != its.time and not (mine.bound == its.bound == ">="):
        return f"time {mine.time or 'none'}, there {its.time or 'none'}"
    if mine.change != its.change and {mine.change, its.change} != {"", "to"}:
        return f"change {mine.change or 'none'}, there {its.change or 'none'}"
    return _rate_differs(said, place, claim)


def _same_bound(said: Fact, place: _Place, claim: Claim) -> bool:
    bounds = {said.qualifier.bound, place.fact.qualifier.bound}
    if bounds in ({"", "reach"}, {"reach", ">="}):
        return True
    inside = said.qualifier.inside or place.fact.qualifier.inside
    spoken = _clause_text(said, claim.sentence) + _clause_text(place.fact, place.sentence)
    return bounds == {"", "<="} and inside and bool(_SPAN.search(spoken))


def _clause_text(fact: Fact, sentence: Sentence) -> str:
    return next((c.text for c in sentence.clauses if c.start <= fact.start < c.end), "")


def _rate_differs(said: Fact, place: _Place, claim: Claim) -> str:
    held = place.fact
    all_held = held.rates | read_sentence(place.reading.title).rates
    added = {rate for rate in said.own - all_held if is_period(rate) or rate == "累计" or held.own}
    if added:
        return f"rate {min(added)}, there {min(held.own, default='none')}"
    text = claim.sentence.text
    one = {rate for rate in held.own if f"一{rate[1:]}" in text or f"1{rate[1:]}" in text}
    dropped = held.own - said.rates - claim.question.rates - one
    if dropped:
        return f"rate {min(dropped)} is left out"
    mine, its = (
        set(_PERIOD.findall(_clause_text(f, s))) for f, s in ((said, claim.sentence), (held, place.sentence))
    )
    return f"{min(mine)}, there {min(its)}" if mine and its and not mine & its else ""


_PERIOD: Final = re.compile(r"同比|环比|(?<!\d)年度|季度|月度|全年|上半年|下半年")
"""Words for what a figure is taken over or against. One may be left out, but not exchanged."""
