"""What the benches measured, as times to draw from."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Times:
    """A distribution known by its percentiles, in seconds: straight between them, and from `least` below the median."""

    least: float
    p50: float
    p95: float
    p99: float

    def draw(self, chance: random.Random) -> float:
        """One time."""
        share = chance.random()
        knots = ((0.0, self.least), (0.5, self.p50), (0.95, self.p95), (0.99, self.p99), (1.0, self.p99))
        for (low, a), (high, b) in zip(knots[:-1], knots[1:], strict=True):
            if share <= high:
                return a + (b - a) * (share - low) / (high - low)
        return self.p99


def of_questions(report: Mapping[str, Any]) -> Times:
    """From what `bench_serve` prints, of its lowest rate, at which hardly any waited for another. The least is as far
    below the median as the 95th percentile is above it.

    Raises KeyError, TypeError, ValueError for another report.
    """
    told = min(report["rates"], key=lambda row: row["per_s"])
    p50, p95, p99 = (told[f"p{p}_ms"] / 1000 for p in (50, 95, 99))
    return Times(max(2 * p50 - p95, 0.0), p50, p95, p99)


@dataclass(frozen=True)
class Turn:
    """One turn of a call when nobody else is there: seconds of work by stage, and the silence that ends it."""

    asr_s: float
    search_s: float
    check_s: float
    speech_s: float
    pause_s: float
    p95_over_p50: float


def of_calls(report: Mapping[str, Any], variant: str = "shipped") -> Turn:
    """From what `bench_call` prints. Raises KeyError, TypeError for another report."""
    told = report["variants"][variant]["all"]
    work, first = told["work_p50_ms"], told["first_audio_s"]
    return Turn(
        work["asr"] / 1000,
        work["look"] / 1000,
        work["check"] / 1000,
        work["speech"] / 1000,
        told["parts_p50_s"]["end_of_turn"],
        first["p95"] / first["p50"],
    )
