"""Conditions, limits and exceptions of a passage that a sentence must not leave out, also those of the next sentence.

Pure. 七天内可退 is wrong where the passage goes on 但定制除外. What is said beside it in the same answer counts; what
the caller said himself counts for a condition (未拆封的能退吗), never for an exception.
"""

from __future__ import annotations

import re
from typing import Final

from retrieval.alignment import Claim, Match
from retrieval.codes import code_keys
from retrieval.readings import Clause, Reading, Sentence, grams
from retrieval.sentences import with_condition

_ONLY: Final = re.compile(
    "(?<!不)仅|(?<!不)只(?!要|不|好|见|读)|限于|限(?=自营|本人|同|新|市|企业)|唯一|才能?|专供|专属"
)
_EXCEPTION: Final = re.compile("除外|例外|以外|不包括|不包含|不含|不适用|不享受|不参加")
_EXCEPT: Final = re.compile(
    f"{_EXCEPTION.pattern}|除了|除[^，。；法]{{1,16}}外|不算|不能用|不行|不可以|不支持|不能|不[收退享计]|另外"
)
_THEN: Final = re.compile("方可|才能|才可|方能|才(?=[\u4e00-\u9fff])|前提")
_IF: Final = re.compile(
    "如果|若(?!干)|假如|如(?=[有需未不无因遇您]|[^，。；何同下图上此今果]{2,})|一旦|只要|除非|但凡|凡(?=[\u4e00-\u9fff])|(?<![小及同])时$"
    "|时(?=[，。])|的$|的情况下|情形|期间$|满|须|必须|(?<!不)仅|(?<!不)只(?!要)|未[^，。；]{1,8}的"
)
_IF_WORD: Final = re.compile("如果|若(?!干)|假如|如(?=[有需未不无因遇])|一旦|只要|除非")

_NEXT: Final = {
    "次日": re.compile("次日|第二天|隔天|隔日|明天|后一天"),
    "次月": re.compile("次月|下个?月|第二个月"),
    "次年": re.compile("次年|下一?年|第二年|明年"),
}
"""A day or month that is not this one, and how it may be said: 次日再付 is no 再付."""

_COVERED: Final = 0.42
_EXCEPTED: Final = 0.34
"""Share of the content of a condition, and of an exception, that must be said for it to count as said. An exception
has its own word besides (除外, 不能用), so less of it will do."""


def dropped(claim: Claim) -> str:
    """The condition that is left out; empty if none is."""
    if claim.verbatim:
        return _left_behind(claim) if claim.whole else ""
    if excepted := _says_the_exception(claim):
        return excepted
    for _, near in claim.heard:
        faults = [_within(match, claim) or _behind(match, claim) for match in near]
        if all(faults):
            return faults[0]
    return ""


def _says_the_exception(claim: Claim) -> str:
    """An exception said as if the rule held for it: 秒杀价可以保价, where the passage has 秒杀价除外.

    Its own words are those that stand nowhere else in what is cited. That another sentence of the answer takes it back
    does not make this one true.
    """
    if _EXCEPT.search(claim.sentence.text):
        return ""
    for reading in claim.readings:
        for at, sentence in enumerate(reading.sentences):
            if not _EXCEPTION.search(sentence.text):
                continue
            own = grams(_EXCEPTION.sub(" ", sentence.text)) & claim.sentence.grams
            if any(len(gram) > 1 and not _elsewhere(gram, at, reading) for gram in own):
                return f"exception: {sentence.text}"
    return ""


def _elsewhere(gram: str, at: int, reading: Reading) -> bool:
    """Does a gram stand in the title or another sentence of the passage?"""
    return gram in reading.subject or any(reading.clauses[n][0] != at for n in reading.where.get(gram, ()))


def _spoken(claim: Claim) -> tuple[Sentence, ...]:
    return (claim.sentence, *claim.beside)


def _said(part: frozenset[str], told: frozenset[str], match: Match, least: float) -> bool:
    return not part or match.reading.scale(part).share(told) >= least


def _beside(claim: Claim) -> frozenset[str]:
    return frozenset[str]().union(*(sentence.grams for sentence in claim.beside))


def _told(match: Match, claim: Claim) -> frozenset[str]:
    """What the sentence says of this sentence of the passage, and all in it that speaks of no other."""
    elsewhere = {
        clause for clause, near in claim.heard if all(m.sentence is not match.sentence for m in near)
    }
    if not elsewhere or claim.verbatim:
        return claim.sentence.grams
    return frozenset[str]().union(*(c.grams for c in claim.sentence.clauses if c not in elsewhere))


def _has(pattern: re.Pattern[str], claim: Claim) -> bool:
    return any(pattern.search(s.text) for s in _spoken(claim))


def _within(match: Match, claim: Claim) -> str:
    """A condition in the same sentence of the passage: in the very clause, or in the one beside it."""
    if lacking := _lacking(match, claim):
        return lacking
    for other in match.sentence.clauses:
        if other is match.clause or not _governs(other, match):
            continue
        exception = bool(_EXCEPTION.search(other.text))
        begins = _IF_WORD.search(other.text)
        part = grams(other.text[begins.start() :]) if begins else other.grams
        told = _told(match, claim) | _beside(claim)
        if not exception:
            told |= claim.question.grams | {gram for gram in match.reading.subject if gram.isascii()}
        if not _said(part, told, match, _EXCEPTED if exception else _COVERED):
            return f"condition: {other.text}"
    return ""


def _lacking(match: Match, claim: Claim) -> str:
    """A word of the very clause that limits it, and that is said neither of it nor beside it."""
    text = match.clause.text
    said = "，".join([claim.speaking_of(match) or claim.sentence.text, *(s.text for s in claim.beside)])
    if _ONLY.search(text) and not _ONLY.search(said):
        return f"only: {text}"
    if _THEN.search(text) and not (_THEN.search(said) or _DUTY.search(said)):
        return f"then: {text}"
    later = any(word in text and not alike.search(said) for word, alike in _NEXT.items())
    return f"when: {text}" if later else ""


_DUTY: Final = re.compile("须|需|必须|要|应|先|后")


def _governs(other: Clause, match: Match) -> bool:
    """Does a clause set the condition of the matched one: if-clauses before it, limits and exceptions behind it?"""
    if other.start < match.clause.start:
        return bool(_IF.search(other.text.strip()))
    return bool(_ONLY.search(other.text) or _THEN.search(other.text) or _AFTERWARDS.search(other.text))


_AFTERWARDS: Final = re.compile("除外|例外|前提|除非|满[^，。；]{1,12}(?:可用|使用)")


_LIMITS: Final = re.compile(
    "除外|例外|以外|(?<!不)仅|(?<!不)只|限于|不包括|不包含|不含|不适用|不享受|不参加|方可|才能|才可|否则|^其中"
    "|^(?!然而).*(?:须|必须|需|应当|凭|不支持|不能|不可|不得|不予)"
)
"""A neighbour is a condition only if it limits something: 然而 alone goes on telling."""


def _behind(match: Match, claim: Claim) -> str:
    """A condition in a neighbouring sentence, as `with_condition` finds it."""
    reading = match.reading
    for i in with_condition(reading.raw, match.at):
        if i <= match.at:
            continue
        other = reading.sentences[i]
        if not _LIMITS.search(other.text) or _of_another_case(other, match, claim):
            continue
        if _EXCEPTION.search(other.text) and not _has(_EXCEPT, claim):
            return f"exception: {other.text}"
        if not _said(other.grams, claim.sentence.grams | _beside(claim), match, _EXCEPTED):
            return f"next sentence: {other.text}"
    return ""


_CASE: Final = re.compile(r"^(?P<case>[^，。；]{2,16})时，?(?:请|您)?(?:必?须|需要?|应当?)")
_TAKES_AWAY: Final = re.compile("[不无免未]|(?<!不)仅|(?<!不)只|除|例外|否则|才|方可|[付缴交扣收补]|费")
"""What is no mere duty: a duty to pay takes back a part of what was promised."""


def _of_another_case(other: Sentence, match: Match, claim: Claim) -> bool:
    """Does a neighbour speak of a case of its own, that neither the sentence nor what it stands beside touches?

    不清楚的，可以先选自动获取。选择宽带账号时，须填写账号 lays a duty on who chose the other way; and what
    AX3000 lacks limits nothing that is said of AX6000.
    """
    told = claim.sentence.grams | _beside(claim) | claim.question.grams
    here, there = code_keys(match.sentence.text), code_keys(other.text)
    if (
        here
        and there
        and not there & (here | code_keys(claim.sentence.text) | code_keys(claim.question.text))
    ):
        return True
    found = _CASE.search(other.text)
    if found is None or _TAKES_AWAY.search(other.text):
        return False
    own = grams(found["case"]) - match.sentence.grams - match.reading.subject
    return any(len(gram) > 1 for gram in own) and not any(len(gram) > 1 for gram in own & told)


def _left_behind(claim: Claim) -> str:
    """A sentence word for word, the rest of the answer known: is its condition among what is said?"""
    for reading in claim.readings:
        for at, sentence in enumerate(reading.sentences):
            if sentence.bare and sentence.bare in claim.sentence.bare:
                fault = _behind(Match(reading, at, sentence.clauses[0], 1.0), claim)
                if fault:
                    return fault
    return ""
