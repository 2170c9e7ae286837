"""Search by sound: BM25 over the syllables of a text, so that 机分 still finds what is written about 积分.

Two kinds of keys. Pairs of neighbouring syllables, each named by its sound class, carry the search; single syllables
as they are, without the particles, weigh half and part what the classes throw together. Codes, figures and Latin
words have no key here: word search and the code book answer for them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from retrieval.bm25 import lucene_idf
from retrieval.filters import OpenRows
from retrieval.fusion import top_rows
from retrieval.normalize import canonical
from retrieval.pinyin import HAN_RUN, readings, sound_class
from retrieval.query import voices
from retrieval.surfaces import document_text
from retrieval.terms import STOP_WORDS
from retrieval.types import Passage, PassageId, Query, Ranking

K1: Final = 1.5
B: Final = 0.75
"""rank-bm25's own, so that a key behaves here as a word does there."""

SINGLE: Final = 0.5
"""Weight of a single syllable beside a pair: there are only four hundred of them."""


def pair_keys(text: str) -> list[str]:
    """Neighbouring syllables by sound class, repeats kept; nothing is joined over a mark, a figure or a letter.

    >>> pair_keys("退宽") == pair_keys("退款") == ["tui kuan"]
    True
    """
    keys: list[str] = []
    for run in _runs(text):
        sounds = [sound_class(syllable) for syllable in readings(run)]
        keys += [f"{one} {two}" for one, two in zip(sounds, sounds[1:], strict=False) if one and two]
    return keys


def single_keys(text: str) -> list[str]:
    """Each syllable as it is, repeats kept, without those of particles and pronouns."""
    return [
        syllable
        for run in _runs(text)
        for char, syllable in zip(run, readings(run), strict=True)
        if syllable and char not in STOP_WORDS
    ]


def _runs(text: str) -> Iterable[str]:
    return (match[0].replace(" ", "") for match in HAN_RUN.finditer(canonical(text)))


@dataclass(frozen=True, slots=True)
class _Posting:
    """The rows that hold a key, and what it adds to the score of each."""

    rows: NDArray[np.intp]
    gains: NDArray[np.float64]


class Phonetic:
    """The sound channel over one list of passages. Every score a key can give is computed here, none at search."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._ids: tuple[PassageId, ...] = tuple(p.id for p in passages)
        texts = [document_text(p) for p in passages]
        self._pairs = _postings([pair_keys(text) for text in texts], 1.0)
        self._singles = _postings([single_keys(text) for text in texts], SINGLE)

    def __len__(self) -> int:
        return len(self._ids)

    def scores(self, text: str) -> NDArray[np.float64]:
        """Shape (passages,): 0 where nothing sounds alike."""
        total = np.zeros(len(self._ids))
        for postings, keys in ((self._pairs, pair_keys(text)), (self._singles, single_keys(text))):
            for key, times in Counter(keys).items():
                if posting := postings.get(key):
                    total[posting.rows] += times * posting.gains
        return total

    def rank(self, query: Query, limit: int, allowed: OpenRows) -> Ranking:
        """The best `limit` allowed passages that share a sound with the query, best first, ties by id."""
        scores = np.zeros(len(self._ids))
        for text, share in voices(query):
            scores += share * self.scores(text)
        return top_rows(self._ids, scores, allowed & (scores > 0.0), limit)


def _postings(documents: Sequence[Sequence[str]], weight: float) -> Mapping[str, _Posting]:
    """BM25 turned round: per key its rows and their gains, lengths measured in keys of this kind."""
    lengths = np.array([len(keys) for keys in documents], dtype=np.float64)
    mean = float(lengths.mean()) if lengths.any() else 1.0
    slowed = K1 * (1.0 - B + B * lengths / mean)
    held: dict[str, tuple[list[int], list[int]]] = {}
    for row, keys in enumerate(documents):
        for key, times in Counter(keys).items():
            rows, counts = held.setdefault(key, ([], []))
            rows.append(row)
            counts.append(times)
    postings = {}
    for key, (rows, counts) in held.items():
        at, seen = np.array(rows, dtype=np.intp), np.array(counts, dtype=np.float64)
        gain = weight * lucene_idf(len(rows), len(documents))
        postings[key] = _Posting(at, gain * seen * (K1 + 1.0) / (seen + slowed[at]))
    return postings
