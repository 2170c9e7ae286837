"""Every measure of the walked questions, layer by layer and kind by kind, as plain JSON values. Pure.

A measure over nothing is None. Expected passages are alternatives: recall@k asks whether any of them is among the
first k, the hit rate whether any is in the whole list that a stage hands on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from retrieval import metrics
from retrieval.types import Outcome
from voice_agent.evaluation.gates import curve, histograms, reliability
from voice_agent.evaluation.walk import Result

Numbers = dict[str, float | int | None]

KS = (1, 3, 10)


def summary(results: Sequence[Result]) -> dict[str, Any]:
    """Search and gate over all questions and per kind; what a threshold would change; the time of each stage."""
    kinds = sorted({result.question.kind for result in results})
    times = stage_times(results)
    look = times.get("look", {})
    return {
        "questions": len(results),
        "all": measures(results),
        "kinds": {kind: measures([r for r in results if r.question.kind == kind]) for kind in kinds},
        "sureness": histograms(results),
        "reliability": reliability(results),
        "curve": curve(results),
        "stages_ms": times,
        "look_ms": {"p50": look.get("p50"), "p95": look.get("p95")},
    }


def measures(results: Sequence[Result]) -> dict[str, Any]:
    """Search measures of each channel and stage over the answerable questions, gate measures over all."""
    answerable = [result for result in results if not result.question.must_refuse]
    systems = sorted({name for result in answerable for name in result.rankings})
    search = {name: _search_measures(answerable, name) for name in systems}
    return {
        "count": len(results),
        "answerable": len(answerable),
        "search": search,
        "gate": _gate_measures(results),
        "outcomes": _outcomes(results),
    }


def _search_measures(results: Sequence[Result], system: str) -> Numbers:
    pairs = [(result.rankings.get(system, ()), result.question.expect) for result in results]
    numbers: Numbers = {
        f"recall@{k}": rounded_mean(metrics.hit_at(k, ids, wanted) for ids, wanted in pairs) for k in KS
    }
    numbers["mrr"] = rounded_mean(metrics.reciprocal_rank(ids, wanted) for ids, wanted in pairs)
    numbers["ndcg@10"] = rounded_mean(metrics.ndcg_at(10, ids, wanted) for ids, wanted in pairs)
    numbers["hit_rate"] = rounded_mean(metrics.hit_at(len(ids), ids, wanted) for ids, wanted in pairs)
    return numbers


def _gate_measures(results: Sequence[Result]) -> dict[str, Numbers]:
    judged = [metrics.Judged(r.gate.outcome, r.question.must_refuse, r.is_right) for r in results]
    right = sum((j.outcome is Outcome.ANSWER) is not j.must_refuse for j in judged)
    return {
        "refusal_accuracy": rate_of(right, len(judged)),
        "false_accept": rated(metrics.false_accept(judged)),
        "false_reject": rated(metrics.false_reject(judged)),
        "wrong_answer": rated(metrics.wrong_answer(judged)),
        "clarify": rated(metrics.clarify_rate(judged)),
    }


def _outcomes(results: Sequence[Result]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {"answerable": Counter(), "must_refuse": Counter()}
    for result in results:
        counts["must_refuse" if result.question.must_refuse else "answerable"][result.gate.outcome] += 1
    return {label: {str(o): count.get(o, 0) for o in Outcome} for label, count in counts.items()}


def stage_times(results: Sequence[Result]) -> dict[str, Numbers]:
    """P50 and P95 of each stage over the questions that reached it, milliseconds."""
    names = dict.fromkeys(name for result in results for name in result.timings_ms)
    times = {name: [r.timings_ms[name] for r in results if name in r.timings_ms] for name in names}
    return {
        name: {
            "count": len(spent),
            "p50": rounded(metrics.percentile(spent, 0.5), 2),
            "p95": rounded(metrics.percentile(spent, 0.95), 2),
        }
        for name, spent in times.items()
    }


def rate_of(count: int, total: int) -> Numbers:
    """A share with its exact 95 % interval."""
    return rated(metrics.rate(count, total))


def rated(rate: metrics.Rate) -> Numbers:
    """The same, from a rate."""
    return {
        "share": rounded(rate.share),
        "count": rate.count,
        "of": rate.total,
        "low": round(rate.low, 4),
        "high": round(rate.high, 4),
    }


def rounded_mean(values: Iterable[float]) -> float | None:
    """To four digits; None of nothing."""
    return rounded(metrics.mean(values))


def rounded(value: float | None, digits: int = 4) -> float | None:
    """None stays None."""
    return None if value is None else round(value, digits)
