"""Does what a sentence says stand in what it cites at all? By its content alone, before any model is asked. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from retrieval.alignment import Claim
from retrieval.readings import Reading, Sentence

_LEAST_SHARED: Final = 0.35
"""Share of its pairs of characters that a sentence must find in what it cites."""

_LEAST_OF_CLAUSE: Final = 0.3
"""Share of its content that a clause must find in one clause of what it cites. Of faithful sentences in other words
(documents 0 to 53, first half of the hand-written) none has under 0.42; of sentences about something else 1 in 50."""

_FULL: Final = 4
"""Pairs of characters that make a clause full enough to be looked for: 具体来说 need not be found."""

_BETTER: Final = 0.2
"""How much more of the sentence another passage of the turn must hold for the mark to be the wrong one."""


def unfounded(claim: Claim, others: Sequence[Reading]) -> str:
    """What is not in the cited passages, or which of the turn's other passages says it; empty if all is well.

    What the caller asked and what stands beside the sentence may be taken up freely.
    """
    said = _pairs(claim.sentence.grams)
    if claim.verbatim or not said:
        return ""
    share = _share(said, claim.readings)
    if share < _LEAST_SHARED:
        return f"shares {share:.2f} of its content with the cited passage"
    for other in others:
        elsewhere = _share(said, [other])
        if elsewhere > share + _BETTER:
            return f"shares {elsewhere:.2f} with another passage, {share:.2f} with what it cites"
    return _stray(claim) or _borrowed(claim, others)


def _pairs(grams: frozenset[str]) -> frozenset[str]:
    return frozenset(gram for gram in grams if len(gram) > 1)


def _share(said: frozenset[str], readings: Sequence[Reading]) -> float:
    return sum(any(gram in reading.seldom for reading in readings) for gram in said) / len(said)


def _stray(claim: Claim) -> str:
    """A clause that no clause of the passages resembles."""
    known = _known([claim.question, *claim.beside])
    for clause in claim.sentence.clauses:
        new = clause.grams - known
        if len(_pairs(new)) < _FULL:
            continue
        near = max((reading.nearest(new) for reading in claim.readings), default=0.0)
        if near < _LEAST_OF_CLAUSE:
            return f"{clause.text} shares {near:.2f} with any clause of the cited passage"
    return ""


def _borrowed(claim: Claim, others: Sequence[Reading]) -> str:
    """A word that only another passage of the turn knows: 弱电箱须留出34厘米, where the cited one speaks of 机箱."""
    known = _known([claim.question, *claim.beside]).union(*(reading.seldom for reading in claim.readings))
    for word in _WORD.findall(claim.sentence.text):
        for i in range(len(word) - 2):
            part = word[i : i + 3]
            pairs = {part[:2], part[1:]}
            if pairs <= claim.sentence.grams and not pairs & known and any(part in r.text for r in others):
                return f"{part} is of another passage"
    return ""


_WORD: Final = re.compile("[\u3400-\u9fff]{3,}")


def _known(sentences: Sequence[Sentence]) -> frozenset[str]:
    return frozenset[str]().union(*(sentence.grams for sentence in sentences))
