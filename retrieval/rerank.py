"""The reranker's contract, the embedded one (late interaction), and the order its scores make."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.encoder import Encoder
from retrieval.errors import ModelError
from retrieval.token_store import Tokens, TokenStore, centred, lengths_from
from retrieval.types import PassageId

Scale = Literal["logit", "unit"]
"""What a score means: an unbounded logit, or a number in [0, 1]. Thresholds are bound to it."""

MAX_CANDIDATES = 50
"""Recall@50 of the channels is 0.99 on the demo questions; more costs time and finds nothing."""

BLOCK = 16
"""Texts between two looks at the clock: about 3 ms of late interaction, half a second of a base cross-encoder."""


class Reranker(Protocol):
    """Reads question and texts together. Higher is better; `scale` says what the numbers mean."""

    @property
    def id(self) -> str:
        """Names the model and everything that moves its scores; thresholds are stored under it."""
        ...

    @property
    def scale(self) -> Scale: ...

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score a text, in order; may hold NaN. Raises ModelError."""
        ...


def as_unit(score: float, scale: Scale) -> float:
    """The score as a number in [0, 1]: the sigmoid of a logit, taken here and nowhere else. NaN stays NaN."""
    if scale == "unit" or math.isnan(score):
        return score
    small = math.exp(-abs(score))
    return 1.0 / (1.0 + small) if score >= 0.0 else small / (1.0 + small)


def scores_within(
    reranker: Reranker,
    query: str,
    texts: Sequence[str],
    budget_ms: float,
    clock: Callable[[], float] = time.monotonic,
) -> list[float | None]:
    """Scores in blocks until the time is up: None for what was not reached. The first block is always scored, and
    one that has begun is finished. Raises ModelError.
    """
    began = clock()
    scored: list[float | None] = []
    while len(scored) < len(texts) and (not scored or (clock() - began) * 1000.0 < budget_ms):
        block = texts[len(scored) : len(scored) + BLOCK]
        scores = reranker.scores(query, block)
        if len(scores) != len(block):
            raise ModelError(f"reranker {reranker.id}: {len(scores)} scores for {len(block)} texts")
        scored.extend(scores)
    return scored + [None] * (len(texts) - len(scored))


class LateInteraction:
    """Max-sim over the encoder's token vectors, each query token weighted by its rarity in the corpus.

    score = Σ idf(q) · max over passage tokens p of cos(q, p) / Σ idf(q), clipped to [0, 1]. Tokens are centred first
    (token_store.py), which spreads the scores of the demo questions over 0.2 to 0.8. Texts of the index cost only
    arithmetic; a text the store does not hold is encoded on the spot.
    """

    def __init__(self, encoder: Encoder, store: TokenStore) -> None:
        self._encoder = encoder
        self._store = store
        self._last: tuple[str, _Weighed] | None = None

    @property
    def id(self) -> str:
        return f"late-interaction/1 {self._encoder.id}"

    @property
    def scale(self) -> Scale:
        return "unit"

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """As Reranker says. A query without a token of any weight scores 0 everywhere."""
        if not texts:
            return []
        weighed = self._weigh(query)
        if weighed.total <= 0.0:
            return [0.0] * len(texts)
        return weighed.against(self._passages(texts), self._store.passage_centre)

    def _weigh(self, query: str) -> _Weighed:
        """The query's tokens; the last ones are kept, for one search asks block by block."""
        last = self._last
        if last is not None and last[0] == query:
            return last[1]
        tokens = self._encoder.token_vectors([query], "query")[0]
        weights = self._store.idf(tokens.ids)
        weighed = _Weighed(centred(tokens.vectors, self._store.query_centre), weights, float(weights.sum()))
        self._last = (query, weighed)
        return weighed

    def _passages(self, texts: Sequence[str]) -> list[Tokens]:
        held = [self._store.passage(text) for text in texts]
        unknown = [text for text, tokens in zip(texts, held, strict=True) if tokens is None]
        fresh = iter(self._encoder.token_vectors(unknown, "passage") if unknown else ())
        centre = self._store.passage_centre
        return [
            Tokens(vectors := next(fresh).vectors, lengths_from(vectors, centre))
            if tokens is None
            else tokens
            for tokens in held
        ]


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A query's centred token vectors (n, dim) and their weights (n,)."""

    vectors: NDArray[np.float32]
    weights: NDArray[np.float32]
    total: float

    def against(self, passages: Sequence[Tokens], centre: NDArray[np.float32]) -> list[float]:
        """A score for each passage; one product for all, for many small ones cost ten times as much."""
        filled = [tokens for tokens in passages if len(tokens.vectors)]
        if not filled:
            return [0.0] * len(passages)
        starts = np.cumsum([0, *(len(tokens.vectors) for tokens in filled[:-1])])
        vectors = np.concatenate([tokens.vectors for tokens in filled]).astype(np.float32)
        lengths = np.concatenate([tokens.lengths for tokens in filled])
        cosines = self.vectors @ vectors.T - (self.vectors @ centre)[:, np.newaxis]
        cosines /= np.where(lengths == 0.0, np.inf, lengths)
        nearest = np.maximum.reduceat(cosines, starts, axis=1)
        scores = iter((self.weights @ nearest / self.total).tolist())
        return [_clipped(next(scores)) if len(tokens.vectors) else 0.0 for tokens in passages]


def _clipped(score: float) -> float:
    return score if math.isnan(score) else min(max(score, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class Reranked:
    """The order after reranking. `fault` is set, and `order` empty, when a score that decides is not a number."""

    order: tuple[tuple[PassageId, float | None], ...]
    fault: str | None = None


def reorder(candidates: Sequence[PassageId], scores: Sequence[float | None]) -> Reranked:
    """Candidates (best fused first) by falling score; those not reached keep their order behind them; NaN goes last.

    When the candidate that was first before has no number, the best passage may be the one that could not be judged:
    nothing is returned, and the fault says why. Raises ValueError when the lengths differ.
    """
    pairs = list(zip(candidates, scores, strict=True))
    if pairs and _broken(pairs[0][1]):
        return Reranked((), f"the reranker gave {pairs[0][1]} for the first candidate {pairs[0][0]}")
    judged = [(pid, score) for pid, score in pairs if score is not None and not _broken(score)]
    judged.sort(key=lambda pair: -pair[1])
    unreached = [(pid, None) for pid, score in pairs if score is None]
    broken = [(pid, None) for pid, score in pairs if _broken(score)]
    return Reranked((*judged, *unreached, *broken))


def _broken(score: float | None) -> bool:
    return score is not None and not math.isfinite(score)
