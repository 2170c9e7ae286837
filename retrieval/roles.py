"""Has a sentence exchanged who pays whom, which way it goes or which kind it is? Pure.

买家承担 and 卖家承担 hold the same words and no negation: what stands around a member of a group in the sentence is
compared with what stands around each member of that group in the passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from retrieval.alignment import Claim
from retrieval.antonyms import Group, Role, roles
from retrieval.readings import Reading, Sentence, read_sentence
from retrieval.surroundings import Likeness, surroundings

_MARGIN: Final = 0.1
"""How much better another member must fit before the one that was said counts as exchanged (documents 0 to 53)."""

_LEAST: Final = 0.3
"""Likeness of surroundings under which two places speak of different things."""

_TIE: Final = 0.02
_ASKED: Final = 0.12
"""Where another member fits as well, the question decides, if it says this much more of the other one's sentence."""

_EDGE: Final = re.compile(r"(?P<event>[\u4e00-\u9fff]{2})(?P<side>[前后内外])(?![台往提续备存容部地])")
"""签收前 and 签收后, 保修期内 and 保修期外."""

_OTHER: Final = {"前": "后", "后": "前", "内": "外", "外": "内"}


def exchanged(claim: Claim) -> tuple[Group | None, str] | None:
    """The group and what was said for what; the group is None for 前/后 and 内/外. None if nothing was exchanged."""
    if claim.verbatim:
        return None
    for role in roles(claim.sentence.text):
        other = _rival(role, claim)
        if other:
            return role.group, f"{role.word}, there {other}"
    edge = _wrong_edge(claim)
    return (None, edge) if edge else None


def _rival(role: Role, claim: Claim) -> str:
    """The member of the group that the passage has in this place; empty if it is the one that was said."""
    places = [
        (reading, sentence, held)
        for reading in claim.readings
        for sentence in _stated(reading)
        for held in roles(sentence.text)
        if held.group is role.group
    ]
    if all(held.member == role.member for _, _, held in places):
        return ""
    fits = _Fits(role, claim)
    mine = max((fits.of(*place) for place in places if place[2].member == role.member), default=(0.0, 0.0))
    others = sorted(
        ((*fits.of(*place), place[2].word) for place in places if place[2].member != role.member),
        reverse=True,
    )
    return next((word for fit, hint, word in others if _beats((fit, hint), mine)), "")


class _Fits:
    """How well places of a passage fit one role of the sentence: by their surroundings, and by the question."""

    def __init__(self, role: Role, claim: Claim) -> None:
        here = surroundings(claim.sentence.text, role.start, role.end)
        clause = next((c.grams for c in claim.sentence.clauses if c.start <= role.start < c.end), frozenset())
        self._by = {
            id(r): (Likeness(here, r), r.scale(clause), r.scale(claim.hint & r.seldom.keys()))
            for r in claim.readings
        }

    def of(self, reading: Reading, sentence: Sentence, held: Role) -> tuple[float, float]:
        near, said, asked = self._by[id(reading)]
        there = surroundings(sentence.text, held.start, held.end)
        return near.to(there) + 0.5 * said.share(sentence.grams), asked.share(sentence.grams)


def _beats(other: tuple[float, float], mine: tuple[float, float]) -> bool:
    """Does another member fit this place better, or as well and the question better?"""
    if other[0] < _LEAST:
        return False
    return other[0] > mine[0] + _MARGIN or (other[0] > mine[0] - _TIE and other[1] > mine[1] + _ASKED)


def _stated(reading: Reading) -> tuple[Sentence, ...]:
    return (*reading.sentences, read_sentence(reading.title)) if reading.title else reading.sentences


def _wrong_edge(claim: Claim) -> str:
    """签收前 where the passage, in what the sentence speaks of, only knows 签收后."""
    near = {match.sentence.text for _, matches in claim.heard for match in matches}
    held = {m[0] for text in near for m in _EDGE.finditer(text)}
    for match in _EDGE.finditer(claim.sentence.text):
        opposite = match["event"] + _OTHER[match["side"]]
        if opposite in held and match[0] not in held:
            return f"{match[0]}, there {opposite}"
    return ""


def of_another(claim: Claim) -> str:
    """Asked about one kind, a sentence that names none must not come from a passage that only knows another.

    退款要几天 of a 信用卡, answered 3到5个工作日 from the passage on 储蓄卡: true words about the wrong thing.
    """
    said = {role.group for role in roles(claim.sentence.text)}
    asked = {role.group: role for role in roles(claim.question.text)}
    asked |= {role.group: role for role in roles(claim.prior.text)} if claim.prior else {}
    wanted = [role for group, role in asked.items() if group.inherited and group not in said]
    if wanted:
        anywhere = _members(s.text for reading in claim.readings for s in _stated(reading))
        near = [m.sentence.text for _, found in claim.heard for m in found]
        meant = _members([reading.title for reading in claim.readings] + near)
        for role in wanted:
            if meant.get(role.group) and role.member not in anywhere[role.group]:
                return f"asked about {role.word}, which the cited passage does not mention"
    return _other_title(claim)


def _members(texts: Iterable[str]) -> dict[Group, set[int]]:
    held: dict[Group, set[int]] = {}
    for text in texts:
        for role in roles(text):
            held.setdefault(role.group, set()).add(role.member)
    return held


def _other_title(claim: Claim) -> str:
    """Asked about 129元套餐, answered from a passage whose very title says 99元套餐."""
    asked = {(fact.shown, fact.unit) for fact in claim.question.facts}
    said = {fact.shown for fact in claim.sentence.facts}
    for reading in claim.readings:
        titled = {(fact.shown, fact.unit) for fact in read_sentence(reading.title).facts}
        units = {unit for _, unit in titled & asked}
        for shown, unit in asked - titled:
            rivals = {other for other, its in titled if its == unit}
            if rivals and unit and unit not in units and not rivals & said:
                return f"asked about {shown}, cited is about {min(rivals)}"
    return ""
