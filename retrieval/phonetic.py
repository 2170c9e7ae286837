"""Search by sound: BM25 over the syllables of a text, so that 机分 still finds what is written about 积分.

Two kinds of keys. Pairs of neighbouring syllables, each named by its sound class, carry the search; single syllables
as they are, without the particles, weigh half and part what the classes throw together. Codes, figures and Latin
words have no key here: word search and the code book answer for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from retrieval.bm25 import word_postings
from retrieval.filters import OpenRows
from retrieval.fusion import top_rows
from retrieval.normalize import canonical
from retrieval.pinyin import HAN_RUN, readings, sound_class
from retrieval.query import voices
from retrieval.surfaces import document_text
from retrieval.terms import STOP_WORDS
from retrieval.types import Passage, PassageId, Query, Ranking

SINGLE: Final = 0.5
"""Weight of a single syllable beside a pair: there are only four hundred of them."""


def pair_keys(text: str) -> list[str]:
    """Neighbouring syllables by sound class, repeats kept; nothing is joined over a mark, a figure or a letter.

    >>> pair_keys("退宽") == pair_keys("退款") == ["tui kuan"]
    True
    """
    return _pairs(_heard(text))


def single_keys(text: str) -> list[str]:
    """Each syllable as it is, repeats kept, without those of particles and pronouns."""
    return _singles(_heard(text))


_Heard = list[tuple[str, tuple[str, ...]]]
"""The Chinese runs of a text, each with the syllable of every character, "" where there is none."""


def _heard(text: str) -> _Heard:
    runs = (match[0].replace(" ", "") for match in HAN_RUN.finditer(canonical(text)))
    return [(run, tuple(readings(run))) for run in runs]


def _pairs(heard: _Heard) -> list[str]:
    keys: list[str] = []
    for _, syllables in heard:
        sounds = [sound_class(syllable) for syllable in syllables]
        keys += [f"{one} {two}" for one, two in zip(sounds, sounds[1:], strict=False) if one and two]
    return keys


def _singles(heard: _Heard) -> list[str]:
    return [
        syllable
        for run, syllables in heard
        for char, syllable in zip(run, syllables, strict=True)
        if syllable and char not in STOP_WORDS
    ]


class Phonetic:
    """The sound channel over one list of passages: BM25 over pairs, and over single syllables at half the weight."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._ids: tuple[PassageId, ...] = tuple(p.id for p in passages)
        singles: list[tuple[str, ...]] = []

        def pairs() -> Iterator[list[str]]:
            for passage in passages:
                heard = _heard(document_text(passage))
                singles.append(tuple(_singles(heard)))
                yield _pairs(heard)

        self.pairs = word_postings(pairs())
        self.singles = word_postings(singles)  # read second: reading a text aloud is what takes the time

    def __len__(self) -> int:
        return len(self._ids)

    def scores(self, text: str) -> NDArray[np.float64]:
        """Shape (passages,): 0 where nothing sounds alike."""
        total = np.zeros(len(self._ids))
        self._add(total, text, 1.0)
        return total

    def rank(self, query: Query, limit: int, allowed: OpenRows) -> Ranking:
        """The best `limit` allowed passages that share a sound with the query, best first, ties by id."""
        scores = np.zeros(len(self._ids))
        for text, share in voices(query):
            self._add(scores, text, share)
        return top_rows(self._ids, scores, allowed & (scores > 0.0), limit)

    def weighed(self, text: str) -> tuple[dict[int, float], dict[int, float]]:
        """A question as sparse vectors over the columns of `pairs` and of `singles`."""
        heard = _heard(text)
        pairs = {} if self.pairs is None else self.pairs.weighed(_pairs(heard))
        singles = {} if self.singles is None else self.singles.weighed(_singles(heard))
        return pairs, {column: SINGLE * weight for column, weight in singles.items()}

    def _add(self, total: NDArray[np.float64], text: str, share: float) -> None:
        for postings, asked in zip((self.pairs, self.singles), self.weighed(text), strict=True):
            if postings is not None:
                postings.add(total, asked, share)
