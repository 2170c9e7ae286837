"""Pure fusions of rankings. Every function is deterministic: equal scores are ordered by id.

A fused score is an artefact of ranks and is never compared with a threshold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.types import PassageId, Ranking

RRF_K = 60
"""Large enough that rank 3 in two lists (2/63) beats rank 1 in one (1/61); with a tiny k it would not."""


def best_first(scores: Mapping[PassageId, float], limit: int | None = None) -> Ranking:
    """Pairs ordered by falling score, then by id, cut to `limit`."""
    ordered = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    return ordered if limit is None else ordered[: max(limit, 0)]


def top_rows(
    ids: Sequence[PassageId], scores: NDArray[np.floating], open_rows: NDArray[np.bool_], limit: int
) -> Ranking:
    """The best `limit` of the open rows as a ranking, exact also where equal scores meet the cut.

    `scores` and `open_rows` have shape (len(ids),). Only the rows that can be in the answer are sorted.
    """
    rows = np.flatnonzero(open_rows)
    if limit <= 0 or not len(rows):
        return []
    if len(rows) > limit:
        kept = scores[rows]
        cut = np.partition(kept, len(kept) - limit)[len(kept) - limit]
        rows = rows[kept >= cut]
    return best_first({ids[row]: float(scores[row]) for row in rows.tolist()}, limit)


def weighted_rrf(rankings: Iterable[tuple[Ranking, float]], k: float = RRF_K) -> Ranking:
    """Reciprocal rank fusion: the sum over rankings of weight / (k + rank), ranks from 1.

    An id that stands twice in one ranking counts once, at its better rank. A weight of 0 leaves a ranking out.

    >>> weighted_rrf([([("a", 9.0), ("b", 1.0)], 1.0), ([("b", 3.0)], 1.0)])[0][0]
    'b'
    """
    fused: dict[PassageId, float] = {}
    for ranking, weight in rankings:
        if weight <= 0.0:
            continue
        for rank, passage_id in enumerate(dict.fromkeys(pid for pid, _ in ranking), start=1):
            fused[passage_id] = fused.get(passage_id, 0.0) + weight / (k + rank)
    return best_first(fused)


def rrf(rankings: Iterable[Ranking], k: float = RRF_K) -> Ranking:
    """Reciprocal rank fusion with equal weights."""
    return weighted_rrf(((ranking, 1.0) for ranking in rankings), k)


def min_max(ranking: Ranking) -> Ranking:
    """The same order with scores scaled to [0, 1]; a ranking without spread (one id, equal scores) becomes all 1."""
    best: dict[PassageId, float] = {}
    for passage_id, score in ranking:
        best[passage_id] = max(score, best.get(passage_id, score))
    if not best:
        return []
    low, high = min(best.values()), max(best.values())
    spread = high - low
    return best_first({pid: (score - low) / spread if spread > 0.0 else 1.0 for pid, score in best.items()})


def weighted_min_max(rankings: Iterable[tuple[Ranking, float]]) -> Ranking:
    """The weighted sum of min-max scaled scores; an id absent from a ranking earns nothing there."""
    fused: dict[PassageId, float] = {}
    for ranking, weight in rankings:
        for passage_id, score in min_max(ranking):
            fused[passage_id] = fused.get(passage_id, 0.0) + weight * score
    return best_first(fused)


SPREAD = 3.0
"""Standard deviations on either side of the mean that the unit interval spans: all but a few outliers lie inside."""


def relative(ranking: Ranking) -> Ranking:
    """The same order, each score placed by its distance from the ranking's own mean in standard deviations.

    0.5 is the mean, 0 and 1 are SPREAD deviations away; beyond, a score stays at the end. One far-off score moves the
    others less than it does in min-max. A ranking without spread (one id, equal scores) becomes all 1.
    """
    best: dict[PassageId, float] = {}
    for passage_id, score in ranking:
        best[passage_id] = max(score, best.get(passage_id, score))
    if not best:
        return []
    scores = np.fromiter(best.values(), dtype=np.float64)
    mean, deviation = float(scores.mean()), float(scores.std())
    if deviation <= 1e-12 * max(1.0, abs(mean)):  # what rounding leaves of equal scores
        return best_first(dict.fromkeys(best, 1.0))
    placed = {pid: 0.5 + (score - mean) / (2.0 * SPREAD * deviation) for pid, score in best.items()}
    return best_first({pid: min(max(place, 0.0), 1.0) for pid, place in placed.items()})


def weighted_relative(rankings: Iterable[tuple[Ranking, float]]) -> Ranking:
    """Relative-score fusion: the weighted sum of `relative` scores; an id absent from a ranking earns nothing there."""
    fused: dict[PassageId, float] = {}
    for ranking, weight in rankings:
        if weight <= 0.0:
            continue
        for passage_id, score in relative(ranking):
            fused[passage_id] = fused.get(passage_id, 0.0) + weight * score
    return best_first(fused)
