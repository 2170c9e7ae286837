"""Fusion weights from labelled questions. Pure: what each channel and the reranker said, in; the best weights, out.

A grid, coarse on purpose: neighbouring settings differ by less than a few hundred questions can tell, and of equals
the first, which asks least of the weaker channels, is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean
from typing import Final

from retrieval.fusion import RRF_K, best_first, weighted_min_max, weighted_rrf
from retrieval.metrics import hit_at, reciprocal_rank
from retrieval.types import Channel, PassageId, Ranking

WEIGHTS: Final[Mapping[Channel, Sequence[float]]] = {
    "bm25": (1.0,),
    "dense": (0.5, 1.0, 2.0),
    "phonetic": (0.0, 0.5, 1.0),
    "examples": (1.0, 2.0, 4.0),
}
"""Of RRF, relative to the words' 1."""

BLENDS: Final[Mapping[Channel, Sequence[float]]] = {
    "bm25": (0.0, 0.2, 0.4),
    "dense": (0.0, 0.2, 0.4),
    "phonetic": (0.0, 0.1, 0.2, 0.4),
    "examples": (0.5, 1.0, 2.0, 3.0),
}
"""Shares of a channel's own scaled score beside the reranker's 1."""

WORTH: Final = 0.002
"""A gain in the mean below this is noise, and the earlier, plainer setting stays."""


@dataclass(frozen=True, slots=True)
class Case:
    """One answerable question: every channel's ranking, the reranker's score of each candidate, what is expected.

    `arrange` is the order that codes impose on candidates.
    """

    rankings: Mapping[Channel, Ranking]
    judged: Mapping[PassageId, float]
    expected: frozenset[PassageId]
    arrange: Callable[[Sequence[PassageId]], Sequence[PassageId]]


@dataclass(frozen=True, slots=True)
class Tuned:
    """The weights of fusion and of the final blend, with the share of questions each keeps or puts first."""

    weights: Mapping[Channel, float]
    blend: Mapping[Channel, float]
    fused: Mapping[str, float]
    ranked: Mapping[str, float]


def tune(cases: Sequence[Case], k: float = RRF_K) -> Tuned:
    """Raises ValueError when there is no case."""
    if not cases:
        raise ValueError("tuning needs at least one question with an expected passage")
    present = {name for case in cases for name in case.rankings}
    weights = _best(_grid(WEIGHTS, present), lambda setting: _kept(cases, setting, k))
    blend = _best(_grid(BLENDS, present), lambda setting: _placed(cases, setting))
    return Tuned(weights, blend, _fused_figures(cases, weights, k), _ranked_figures(cases, blend))


def _grid(values: Mapping[Channel, Sequence[float]], present: set[Channel]) -> Iterator[dict[Channel, float]]:
    """Settings from the plainest on: the sum of weights grows."""
    names = [name for name in values if name in present]
    settings = [
        dict(zip(names, choice, strict=True)) for choice in product(*(values[name] for name in names))
    ]
    yield from sorted(settings, key=lambda setting: sum(setting.values()))


def _best(
    settings: Iterator[dict[Channel, float]], worth: Callable[[dict[Channel, float]], float]
) -> dict[Channel, float]:
    best, reached = next(settings), -1.0
    reached = worth(best)
    for setting in settings:
        if (value := worth(setting)) > reached + WORTH:
            best, reached = setting, value
    return best


def fuse(case: Case, weights: Mapping[Channel, float], k: float) -> list[PassageId]:
    """Ids by weighted RRF, those with the asked codes first."""
    fused = weighted_rrf(((ranking, weights.get(name, 1.0)) for name, ranking in case.rankings.items()), k)
    return list(case.arrange([pid for pid, _ in fused]))


def order(case: Case, blend: Mapping[Channel, float]) -> list[PassageId]:
    """Ids as the search orders them after reranking."""
    parts: list[tuple[Ranking, float]] = [(best_first(case.judged), 1.0)]
    for name, ranking in case.rankings.items():
        among = [(pid, score) for pid, score in ranking if pid in case.judged]
        parts.append((among, blend.get(name, 0.0)))
    return list(case.arrange([pid for pid, _ in weighted_min_max(parts)]))


def _kept(cases: Sequence[Case], weights: Mapping[Channel, float], k: float) -> float:
    """What fusion is for: that the right passage is among the candidates, and near their top."""
    lists = [(fuse(case, weights, k), case.expected) for case in cases]
    return fmean((hit_at(10, ids, wanted) + hit_at(3, ids, wanted)) / 2.0 for ids, wanted in lists)


def _placed(cases: Sequence[Case], blend: Mapping[Channel, float]) -> float:
    lists = [(order(case, blend), case.expected) for case in cases]
    return fmean((hit_at(3, ids, wanted) + reciprocal_rank(ids, wanted)) / 2.0 for ids, wanted in lists)


def _fused_figures(cases: Sequence[Case], weights: Mapping[Channel, float], k: float) -> dict[str, float]:
    figures = {"fused@3": fmean(hit_at(3, fuse(case, weights, k), case.expected) for case in cases)}
    for name in sorted({name for case in cases for name in case.rankings}):
        alone = [
            hit_at(3, case.arrange([pid for pid, _ in case.rankings.get(name, [])]), case.expected)
            for case in cases
        ]
        figures[f"{name}@3"] = fmean(alone)
    return {name: round(value, 4) for name, value in figures.items()}


def _ranked_figures(cases: Sequence[Case], blend: Mapping[Channel, float]) -> dict[str, float]:
    ranked = [order(case, blend) for case in cases]
    pairs = list(zip(ranked, (case.expected for case in cases), strict=True))
    figures = {f"ranked@{k}": fmean(hit_at(k, ids, wanted) for ids, wanted in pairs) for k in (1, 3)}
    return {name: round(value, 4) for name, value in figures.items()}
