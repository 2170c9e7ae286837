"""Which part of a passage each clause of a spoken sentence speaks of: the case that the checks examine. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from retrieval.readings import Clause, Reading, Sentence, read_sentence


@dataclass(frozen=True, slots=True)
class Match:
    """A clause of the passage that a clause of the sentence may be speaking of. `share`: 0 to 1.45, see `_Around`."""

    reading: Reading
    at: int
    clause: Clause
    share: float

    @property
    def sentence(self) -> Sentence:
        return self.reading.sentences[self.at]


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence on trial: what it says, what it may lean on, and the passages it cites.

    `prior` is the sentence before; `hint` the content of it and of the question. `beside` are the answer's other
    sentences, all of them if `whole`. `verbatim`: it stands word for word in a passage, as one or several whole
    sentences. `heard` are its clauses, each with the clauses of the passages that it may be speaking of.
    """

    sentence: Sentence
    question: Sentence
    readings: tuple[Reading, ...]
    prior: Sentence | None
    beside: tuple[Sentence, ...]
    whole: bool
    hint: frozenset[str]
    verbatim: bool
    heard: tuple[tuple[Clause, tuple[Match, ...]], ...]

    def speaking_of(self, match: Match) -> str:
        """The clauses of the sentence that speak of this clause of the passage before all others."""
        return "，".join(clause.text for clause, near in self.heard if near[0].clause is match.clause)


def claim_of(
    text: str,
    question: str,
    readings: tuple[Reading, ...],
    before: Sequence[str],
    after: Sequence[str] | None,
) -> Claim:
    """Reads a sentence without its marks. `before` and `after` are the answer's other sentences; None: not known."""
    said, asked = read_sentence(text), read_sentence(question)
    earlier = [read_sentence(sentence) for sentence in before]
    prior = earlier[-1] if earlier else None
    hint = asked.grams | (prior.grams if prior else frozenset())
    beside = (*earlier, *map(read_sentence, after or ()))
    verbatim = any(_stands(said.bare, [s.bare for s in reading.sentences]) for reading in readings)
    heard = () if verbatim else tuple(_heard(said, readings, hint))
    return Claim(said, asked, readings, prior, beside, after is not None, hint, verbatim, heard)


def _stands(said: str, sentences: Sequence[str]) -> bool:
    for i, first in enumerate(sentences):
        rest, n = said, i
        while first and n < len(sentences) and sentences[n] and rest.startswith(sentences[n]):
            rest = rest[len(sentences[n]) :]
            n += 1
            if not rest:
                return True
    return False


_NEARLY: Final = 0.9
"""Clauses of the passage that fit this nearly as well as the best one are heard too."""

_LEAST: Final = 0.25
"""A clause that shares less content with every clause of the passage speaks of none of them."""


_SAID, _ASKED = 0.3, 0.15
_MOST_AROUND: Final = _SAID + _ASKED
"""What the whole sentence, and the question, may add to the likeness of two clauses."""


class _Around:
    """What the sentences around the clauses of one passage add to their likeness.

    The whole sentence counts a little, and so does the question, so that 收取吗 finds the clause of its own subject.
    """

    def __init__(self, reading: Reading, said: Sentence, hint: frozenset[str]) -> None:
        self.reading = reading
        self._said, self._asked = reading.scale(said.grams), reading.scale(hint)
        self._known: dict[int, float] = {}

    def of(self, at: int) -> float:
        if at not in self._known:
            there = self.reading.sentences[at].grams
            self._known[at] = _SAID * self._said.share(there) + _ASKED * self._asked.share(there)
        return self._known[at]


def _heard(
    said: Sentence, readings: Sequence[Reading], hint: frozenset[str]
) -> Iterator[tuple[Clause, tuple[Match, ...]]]:
    """Each clause with those of the passages that fit it best, nearest first."""
    around = [_Around(reading, said, hint) for reading in readings]
    for clause in said.clauses:
        near = [
            (share, place, n) for place in around for n, share in place.reading.near(clause.grams).items()
        ]
        least = _NEARLY * max((share for share, _, _ in near), default=0.0) - _MOST_AROUND
        found = [
            (share + place.of(place.reading.clauses[n][0]), place.reading, n)
            for share, place, n in near
            if share >= least
        ]
        best = max((share for share, _, _ in found), default=0.0)
        if best >= _LEAST:
            kept = [
                Match(reading, *reading.clauses[n], share)
                for share, reading, n in found
                if share >= _NEARLY * best
            ]
            yield clause, tuple(sorted(kept, key=lambda match: -match.share))
