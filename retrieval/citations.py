"""May this sentence be spoken? The citation check: pure, cheap first, and closed: whatever goes wrong is a block."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final

from retrieval.alignment import Claim, claim_of
from retrieval.codes import code_keys, find_codes
from retrieval.courtesy import agrees, is_bare, is_courtesy
from retrieval.figures import unsupported
from retrieval.marks import Mark, find_marks, strip_marks
from retrieval.modality import changed
from retrieval.names import unknown
from retrieval.normalize import canonical
from retrieval.polarity import denies, flipped
from retrieval.readings import Reading, read_passage, read_sentence
from retrieval.roles import exchanged, of_another
from retrieval.scope import dropped
from retrieval.support import unfounded
from retrieval.types import Passage, Verdict, VerdictReason

Relevance = Callable[[str, str], float] | float | None
"""How well the sentence fits its passage: measured, to be measured from (sentence, passage text), or not at all."""


@dataclass(frozen=True, slots=True)
class CheckRules:
    """`min_relevance` is on the scale of whoever measures it; None switches that check off, and only that one.

    `before` and `after` are the other sentences of the same answer, in order, marks and all: a condition may stand in
    one of them. `after` is None while what follows is not known; a sentence that stands word for word in its passage
    then passes without its condition, for whoever chose it takes the condition along (`sentences.with_condition`).
    """

    max_chars: int = 160
    min_relevance: float | None = None
    before: tuple[str, ...] = ()
    after: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class _Case:
    """One sentence on trial. `text` is what would be heard; `cited` only the passages that its marks name and exist;
    `best` is the turn's first passage, which the gate judged."""

    text: str
    canonical: str
    question: str
    marks: tuple[Mark, ...]
    raw: str
    cited: Mapping[str, Passage]
    others: tuple[Passage, ...]
    best: str
    as_of: date
    relevance: Relevance
    rules: CheckRules
    claim: Claim

    @property
    def evidence(self) -> list[str]:
        return [canonical(f"{passage.title}\n{passage.text}") for passage in self.cited.values()]


Fault = tuple[VerdictReason, str]


def check(
    sentence: str,
    question: str,
    evidence: Mapping[str, Passage],
    as_of: date,
    relevance: Relevance = None,
    rules: CheckRules | None = None,
) -> Verdict:
    """Judges one whole sentence with its marks against the passages they name (`evidence`: S1 -> passage).

    The first fault found decides. Greetings and the like need no mark, see `courtesy`. Never raises: an exception
    inside is the verdict CHECK_ERROR.
    """
    try:
        return _judge(sentence, question, evidence, as_of, relevance, rules or CheckRules())
    except Exception as e:  # noqa: BLE001 - the sentence check is a boundary: a fault in it blocks the sentence
        return Verdict(False, VerdictReason.CHECK_ERROR, detail=f"{type(e).__name__}: {e}"[:200])


def _judge(
    sentence: str,
    question: str,
    evidence: Mapping[str, Passage],
    as_of: date,
    relevance: Relevance,
    rules: CheckRules,
) -> Verdict:
    taken = _named_like_marks(evidence)
    marks = tuple(find_marks(sentence, taken))
    text = strip_marks(sentence, taken).strip()
    if not marks and is_courtesy(text):
        return Verdict(True)
    named = [ident for mark in marks for ident in mark.ids]
    cited = {ident: evidence[ident] for ident in dict.fromkeys(named) if ident in evidence}
    ids = tuple(passage.id for passage in cited.values())
    if len(text) > rules.max_chars:
        return Verdict(False, VerdictReason.UNCHECKABLE, ids, f"{len(text)} characters without an end")
    others = tuple(passage for ident, passage in evidence.items() if ident not in cited)
    claim = _claim(text, question, cited, rules, taken)
    best = next((canonical(f"{p.title}\n{p.text}") for p in evidence.values()), "")
    case = _Case(
        text, canonical(text), question, marks, sentence, cited, others, best, as_of, relevance, rules, claim
    )
    for examine in _CHECKS:
        fault = examine(case)
        if fault:
            return Verdict(False, fault[0], ids, fault[1])
    return Verdict(True, cited=ids)


def _claim(
    text: str, question: str, cited: Mapping[str, Passage], rules: CheckRules, taken: frozenset[str]
) -> Claim:
    before = [strip_marks(other, taken) for other in rules.before]
    after = None if rules.after is None else [strip_marks(other, taken) for other in rules.after]
    return claim_of(text, question, tuple(map(_reading, cited.values())), before, after)


def _reading(passage: Passage) -> Reading:
    return read_passage(passage.title, passage.text)


def _named_like_marks(evidence: Mapping[str, Passage]) -> frozenset[str]:
    keys = (code_keys(canonical(f"{p.title}\n{p.text}")) for p in evidence.values())
    return frozenset(key for known in keys for key in known if re.fullmatch(r"s\d{1,4}", key))


def _has_words(case: _Case) -> Fault | None:
    return None if re.search(r"\w", case.text) else (VerdictReason.UNCHECKABLE, "nothing is said")


def _is_cited(case: _Case) -> Fault | None:
    """Every mark can be read and names evidence of this turn, and there is one."""
    for mark in case.marks:
        written = case.raw[mark.start : mark.end]
        if mark.bad and not any(written in passage.text for passage in case.cited.values()):
            return VerdictReason.BAD_ID, f"{written} is no mark we give"
        unknown_ids = [ident for ident in mark.ids if ident not in case.cited]
        if unknown_ids:
            return VerdictReason.BAD_ID, f"{unknown_ids[0]} is not among the evidence of this turn"
    return None if case.cited else (VerdictReason.NO_CITE, "no citation mark")


def _is_current(case: _Case) -> Fault | None:
    for passage in case.cited.values():
        if not passage.valid_on(case.as_of):
            return VerdictReason.STALE, f"{passage.id} is not valid on {case.as_of}"
    return None


def _figures_agree(case: _Case) -> Fault | None:
    return unsupported(case.claim)


def _codes_agree(case: _Case) -> Fault | None:
    """Codes said must stand in the passages; a sentence without any inherits those of the question.

    Where the turn's first passage is about a code that was asked for, one without it is about something else.
    """
    held = frozenset[str]().union(*(code_keys(text) for text in case.evidence))
    said = find_codes(case.canonical)
    for code in said:
        if code.key not in held:
            return VerdictReason.ENTITY_MISMATCH, f"{code.text} is not in the cited passage"
    asked = code_keys(canonical(case.question))
    if asked and held and not said and not asked & held:
        return VerdictReason.ENTITY_MISMATCH, f"asked about {min(asked)}, cited is about {min(held)}"
    missed = (asked & code_keys(case.best)) - held
    if missed and not said:
        return VerdictReason.ENTITY_MISMATCH, f"asked about {min(missed)}, which only the first passage knows"
    return None


def _names_agree(case: _Case) -> Fault | None:
    name = unknown(case.claim)
    return (VerdictReason.ENTITY_MISMATCH, f"{name} is not in the cited passage") if name else None


def _subject_is_meant(case: _Case) -> Fault | None:
    fault = of_another(case.claim)
    return (VerdictReason.ENTITY_MISMATCH, fault) if fault else None


def _roles_agree(case: _Case) -> Fault | None:
    found = exchanged(case.claim)
    if found is None:
        return None
    group, detail = found
    entity = group is not None and group.entity
    return VerdictReason.ENTITY_MISMATCH if entity else VerdictReason.ROLE_OR_ANTONYM, detail


def _polarity_agrees(case: _Case) -> Fault | None:
    word = flipped(case.claim)
    return (VerdictReason.POLARITY, f"{word} is denied on one side only") if word else None


def _modality_agrees(case: _Case) -> Fault | None:
    fault = changed(case.claim)
    return (VerdictReason.MODALITY, fault) if fault else None


def _scope_is_kept(case: _Case) -> Fault | None:
    fault = dropped(case.claim)
    return (VerdictReason.SCOPE_DROPPED, fault) if fault else None


def _is_supported(case: _Case) -> Fault | None:
    found = unfounded(case.claim, [_reading(passage) for passage in case.others])
    return (VerdictReason.IRRELEVANT, found) if found else None


def _is_relevant(case: _Case) -> Fault | None:
    """The best of the cited passages must reach the threshold; a score that is no number is an error, not a zero."""
    measured, least = case.relevance, case.rules.min_relevance
    if measured is None:
        missing = VerdictReason.CHECK_ERROR, "relevance was not measured"
        return None if least is None else missing
    if callable(measured):
        scores = [measured(case.text, passage.text) for passage in case.cited.values()]
    else:
        scores = [measured]
    if not all(math.isfinite(score) for score in scores):
        return VerdictReason.CHECK_ERROR, "relevance is not a number"
    if least is not None and max(scores) < least:
        return VerdictReason.IRRELEVANT, f"relevance {max(scores):.3f} is under {least:.3f}"
    return None


_SPEAKER: Final = re.compile("我(?![们国司方店家的])")
"""Who says 我 is the caller or the agent itself; 我的订单 is the name of a page."""


def _is_checkable(case: _Case) -> Fault | None:
    """A bare yes or no, the caller's own words, a promise of the agent's, a title alone, and a yes that the rest of its
    sentence takes back are judged by no passage.
    """
    if is_bare(case.canonical):
        return VerdictReason.UNCHECKABLE, "a bare yes or no"
    if _SPEAKER.search(case.canonical) and not any(_SPEAKER.search(text) for text in case.evidence):
        return VerdictReason.UNCHECKABLE, "no passage speaks of me"
    bare = case.claim.sentence.bare
    titles = (read_sentence(passage.title).bare for passage in case.cited.values())
    if bare and not case.claim.verbatim and any(bare in title for title in titles):
        return VerdictReason.UNCHECKABLE, "a title says nothing"
    if agrees(case.canonical) and denies(case.claim.question.text) is not denies(case.claim.sentence.text):
        return VerdictReason.UNCHECKABLE, "a yes to a no"
    return None


_CHECKS: Final[tuple[Callable[[_Case], Fault | None], ...]] = (
    _has_words,
    _is_cited,
    _is_current,
    _figures_agree,
    _codes_agree,
    _names_agree,
    _subject_is_meant,
    _roles_agree,
    _polarity_agrees,
    _modality_agrees,
    _scope_is_kept,
    _is_checkable,
    _is_supported,
    _is_relevant,
)
"""In this order; the first fault is the verdict."""
