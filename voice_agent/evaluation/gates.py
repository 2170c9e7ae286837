"""The gate over many questions: how sure it was, whether it was right to be, and what another threshold would do. Pure.

Only what the gate recorded is used: features and thresholds decide again, so every check that no score overrules (a
code not covered, a topic for a person) holds at every point of the curve.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from retrieval.gate import decide, sureness
from retrieval.types import Gate, Outcome
from voice_agent.evaluation.walk import Result

BINS = 20
"""Of the sureness, for the eye."""

BUCKETS = 10
"""Of the sureness, for the reliability: with hundreds of questions each still holds some."""

POINTS = 101
"""Thresholds of the curve, evenly from 0 to 1."""


def sure(gate: Gate) -> float | None:
    """How sure the gate was, 0 to 1; None where something was not measured, so that it could not be."""
    try:
        value = sureness(gate.features, gate.thresholds)
    except KeyError:
        return None
    return value if math.isfinite(value) else None


def histograms(results: Sequence[Result]) -> dict[str, Any]:
    """How many questions of either label fall into each bin of the sureness."""
    counts = {"answerable": [0] * BINS, "must_refuse": [0] * BINS}
    unmeasured = 0
    for result in results:
        value = sure(result.gate)
        if value is None:
            unmeasured += 1
        else:
            label = "must_refuse" if result.question.must_refuse else "answerable"
            counts[label][min(int(value * BINS), BINS - 1)] += 1
    thresholds = results[0].gate.thresholds if results else {}
    marks = {name: thresholds[name] for name in ("answer", "clarify") if name in thresholds}
    return {**counts, "unmeasured": unmeasured, "thresholds": marks}


def reliability(results: Sequence[Result]) -> dict[str, Any]:
    """In each bucket of sureness the mean sureness and the share that an answer would have been right for.

    `ece` is the expected calibration error: the mean distance of the two, by the size of the buckets.
    """
    pairs = [
        (value, result.is_right and not result.question.must_refuse)
        for result in results
        if (value := sure(result.gate)) is not None
    ]
    buckets = []
    for n in range(BUCKETS):
        mine = [(v, right) for v, right in pairs if min(int(v * BUCKETS), BUCKETS - 1) == n]
        if mine:
            mean = sum(v for v, _ in mine) / len(mine)
            share = sum(right for _, right in mine) / len(mine)
            buckets.append({"sure": round(mean, 4), "right": round(share, 4), "count": len(mine)})
    gaps = sum(b["count"] * abs(b["sure"] - b["right"]) for b in buckets)
    return {"buckets": buckets, "ece": round(gaps / len(pairs), 4) if pairs else None}


def curve(results: Sequence[Result]) -> dict[str, Any]:
    """False accepts against answerable questions not answered, at every threshold, with nothing asked back.

    A point is (threshold, share of must-refuse answered, share of answerable not answered). `shipped` are the gate's
    own decisions; asking back counts as not answered there, too. No points where one of the labels is missing.
    """
    bad = [r.gate for r in results if r.question.must_refuse and "answer" in r.gate.thresholds]
    good = [r.gate for r in results if not r.question.must_refuse and "answer" in r.gate.thresholds]
    if not bad or not good:
        return {"points": [], "shipped": None}
    points = []
    for step in range(POINTS):
        threshold = step / (POINTS - 1)
        accepted = sum(_answers(gate, threshold) for gate in bad) / len(bad)
        rejected = sum(not _answers(gate, threshold) for gate in good) / len(good)
        points.append([threshold, round(accepted, 4), round(rejected, 4)])
    accepted = sum(gate.outcome is Outcome.ANSWER for gate in bad) / len(bad)
    rejected = sum(gate.outcome is not Outcome.ANSWER for gate in good) / len(good)
    return {
        "points": points,
        "shipped": [bad[0].thresholds["answer"], round(accepted, 4), round(rejected, 4)],
    }


def _answers(gate: Gate, threshold: float) -> bool:
    thresholds = {**gate.thresholds, "answer": threshold, "clarify": threshold}
    return decide(gate.features, thresholds).outcome is Outcome.ANSWER
