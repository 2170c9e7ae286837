"""Pure measures of search and of refusal. A rate over nothing is None: never 0, never NaN."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from retrieval.types import Outcome


def recall_at(k: int, found: Sequence[str], expected: Collection[str]) -> float:
    """Share of the expected ids among the first k found. Raises ValueError when nothing is expected."""
    wanted = _wanted(expected)
    return len(wanted & set(found[:k])) / len(wanted)


def hit_at(k: int, found: Sequence[str], expected: Collection[str]) -> float:
    """1.0 when any expected id is among the first k found: where each of several passages would do."""
    return 1.0 if _wanted(expected) & set(found[:k]) else 0.0


def reciprocal_rank(found: Sequence[str], expected: Collection[str]) -> float:
    """1 / rank of the first expected id, 0.0 when none was found."""
    wanted = _wanted(expected)
    return next((1.0 / rank for rank, one in enumerate(found, start=1) if one in wanted), 0.0)


def ndcg_at(k: int, found: Sequence[str], expected: Collection[str]) -> float:
    """Normalised discounted cumulative gain of the first k, every expected id worth 1, repeats worth nothing."""
    wanted = _wanted(expected)
    first = dict.fromkeys(found)
    gain = sum(
        1.0 / math.log2(rank + 1) for rank, one in enumerate(first, start=1) if rank <= k and one in wanted
    )
    ideal = sum(1.0 / math.log2(rank + 1) for rank in range(1, min(k, len(wanted)) + 1))
    return gain / ideal if ideal > 0.0 else 0.0


def average_precision(shown: Sequence[str], expected: Collection[str]) -> float:
    """Mean, over the places of the right ones, of the share of right ones up to there; 0.0 when none is shown.

    What an answer may draw on is pure (1.0) when everything right stands before everything else.
    """
    wanted = _wanted(expected)
    listed = list(dict.fromkeys(shown))
    places = [rank for rank, one in enumerate(listed, start=1) if one in wanted]
    return math.fsum(n / rank for n, rank in enumerate(places, start=1)) / len(places) if places else 0.0


def mean(values: Iterable[float]) -> float | None:
    """The mean, or None of nothing."""
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else None


def percentile(values: Iterable[float], share: float) -> float | None:
    """The value that `share` (0 to 1) of the values do not exceed, by nearest rank; None of nothing."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(math.ceil(share * len(ordered)) - 1, 0))] if ordered else None


def _wanted(expected: Collection[str]) -> set[str]:
    if not expected:
        raise ValueError("a question without an expected passage has no recall; leave it out of the mean")
    return set(expected)


@dataclass(frozen=True, slots=True)
class Rate:
    """`count` of `total` with its exact two-sided bounds; `share` is None when total is 0 (bounds 0 and 1)."""

    count: int
    total: int
    low: float
    high: float

    @property
    def share(self) -> float | None:
        return self.count / self.total if self.total else None


def rate(count: int, total: int, confidence: float = 0.95) -> Rate:
    """A share with its Clopper–Pearson interval."""
    return Rate(count, total, *clopper_pearson(count, total, confidence))


@dataclass(frozen=True, slots=True)
class Judged:
    """One decision held against its label. `right` says whether the first evidence was an expected passage."""

    outcome: Outcome
    must_refuse: bool
    right: bool = False


def false_accept(judged: Iterable[Judged]) -> Rate:
    """Answered, of those that must be refused. Asking back is not answering."""
    labels = [j for j in judged if j.must_refuse]
    return rate(sum(j.outcome is Outcome.ANSWER for j in labels), len(labels))


def false_reject(judged: Iterable[Judged]) -> Rate:
    """Neither answered nor asked back, of those that have an answer."""
    labels = [j for j in judged if not j.must_refuse]
    return rate(sum(j.outcome is Outcome.REFUSE for j in labels), len(labels))


def wrong_answer(judged: Iterable[Judged]) -> Rate:
    """Answered from a passage that is not an expected one, of those that have an answer."""
    labels = [j for j in judged if not j.must_refuse]
    return rate(sum(j.outcome is Outcome.ANSWER and not j.right for j in labels), len(labels))


def clarify_rate(judged: Iterable[Judged]) -> Rate:
    """Asked back, of all."""
    labels = list(judged)
    return rate(sum(j.outcome is Outcome.CLARIFY for j in labels), len(labels))


def clopper_pearson(count: int, total: int, confidence: float = 0.95) -> tuple[float, float]:
    """Exact two-sided binomial interval (low, high), by bisection of the binomial distribution itself.

    With total 0 nothing is known: (0, 1). Raises ValueError for impossible counts or confidence.
    """
    if not 0 <= count <= total or not 0.0 < confidence < 1.0:
        raise ValueError(f"no interval for {count} of {total} at confidence {confidence}")
    if total == 0:
        return 0.0, 1.0
    tail = (1.0 - confidence) / 2.0
    low = 0.0 if count == 0 else _root(lambda p: tail - (1.0 - binomial_cdf(count - 1, total, p)))
    high = 1.0 if count == total else _root(lambda p: binomial_cdf(count, total, p) - tail)
    return low, high


def upper_bound(count: int, total: int, confidence: float = 0.95) -> float:
    """One-sided upper Clopper–Pearson bound: with this confidence the true rate is not above it."""
    return clopper_pearson(count, total, 2.0 * confidence - 1.0)[1]


def binomial_cdf(count: int, total: int, p: float) -> float:
    """P(X <= count) for X ~ Binomial(total, p); terms by logarithm, so thousands of trials do not underflow."""
    if count >= total or p <= 0.0:
        return 1.0
    if count < 0 or p >= 1.0:
        return 0.0
    log_p, log_q = math.log(p), math.log1p(-p)
    whole = math.lgamma(total + 1)
    terms = (
        math.exp(whole - math.lgamma(i + 1) - math.lgamma(total - i + 1) + i * log_p + (total - i) * log_q)
        for i in range(count + 1)
    )
    return min(math.fsum(terms), 1.0)


def _root(falling: Callable[[float], float]) -> float:
    """Where a falling function of p in (0, 1) crosses 0; 100 halvings exceed the precision of a float."""
    low, high = 0.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2.0
        if falling(middle) > 0.0:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0
