"""A stretch of a transcript against a term it may have been: how near they sound, what may not be exchanged. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from retrieval.domain_terms import NEGATIONS, NUMERALS, Term
from retrieval.pinyin import sound_class
from retrieval.terms import STOP_WORDS

_QUESTION_WORDS: Final = "谁哪什怎"

KEPT: Final = frozenset(NEGATIONS + NUMERALS + _QUESTION_WORDS) | {
    word for word in STOP_WORDS if len(word) == 1
}
"""Characters that no repair takes away or brings in: negations, numerals, question words, particles."""

OPPOSED: Final = ("买卖", "授受", "收售")
"""One sound, opposite roles: guessing between them would turn the question round."""

SURE, UNSURE = 0.9, 0.7
"""Mean token probability of whisper-base. Of 46 questions heard without hot words, the 3 above the first had no
domain word wrong, 9 of the 10 below the second had one.
"""

Sounds = tuple[str, ...]
"""The readings of one character, the one in context first."""


@dataclass(frozen=True, slots=True)
class Care:
    """What is allowed: differences of sound in a pair of characters and in a longer stretch.

    `seen` is how many texts must hold the term of a pair that does not sound the same.
    """

    pair: int
    longer: int
    seen: int


def care_for(confidence: float | None) -> Care:
    """The less sure the recogniser was of its words, the more may be corrected. None is neither sure nor unsure."""
    if confidence is None or UNSURE <= confidence < SURE:
        return Care(pair=1, longer=2, seen=3)
    return Care(pair=0, longer=0, seen=3) if confidence >= SURE else Care(pair=1, longer=3, seen=1)


def difference(sounds: Sounds, syllable: str) -> int:
    """0 for the same syllable, 1 for its class or another reading of the character, 2 for a nasal lost or gained."""
    if syllable == sounds[0]:
        return 0
    return 1 if syllable in sounds or sound_class(syllable) == sound_class(sounds[0]) else 2


@dataclass(frozen=True, slots=True)
class Mishearing:
    """The characters `heard` from `start` on in a line, and a term of as many that sounds like them."""

    start: int
    heard: str
    term: Term
    sounds: Sequence[Sounds]

    @property
    def end(self) -> int:
        return self.start + len(self.heard)

    @property
    def cost(self) -> int:
        """The differences of its syllables added up."""
        return sum(map(difference, self.sounds, self.term.syllables))

    @property
    def changed(self) -> tuple[int, ...]:
        """Places in the line whose character would become another."""
        pairs = zip(self.heard, self.term.text, strict=True)
        return tuple(self.start + i for i, (one, other) in enumerate(pairs) if one != other)

    @property
    def rank(self) -> tuple[int, int, int, int, int, str]:
        """Longest first, then nearest in sound and in script, then the best attested term."""
        term = self.term
        return (-len(self.heard), self.cost, len(self.changed), -term.seen, self.start, term.text)

    def is_near(self, care: Care) -> bool:
        """A pair must sound the same or be a well attested term; a lost nasal needs a second changed character."""
        if len(self.heard) == 2:
            return self.cost <= care.pair and (self.cost == 0 or self.term.seen >= care.seen)
        return self.cost <= care.longer and (self.cost < 2 or len(self.changed) > 1)

    def is_exchangeable(self) -> bool:
        """Does every character that would come or go carry neither number nor negation nor role?"""
        pairs = zip(self.heard, self.term.text, strict=True)
        changes = [{one, other} for one, other in pairs if one != other]
        return not any(change & KEPT or any(change <= set(pair) for pair in OPPOSED) for change in changes)
