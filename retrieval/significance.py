"""Are two systems asked the same questions different, or is it chance? Pure: paired tests, seeded where they draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from retrieval.metrics import binomial_cdf

ROUNDS = 2000
"""Draws of a bootstrap: the ends of a 95 % interval then move by about a tenth of its width between seeds."""


@dataclass(frozen=True, slots=True)
class Difference:
    """`mean` of (one - other) over the same questions, between `low` and `high` in 95 of 100 worlds."""

    mean: float
    low: float
    high: float

    @property
    def is_clear(self) -> bool:
        """The interval leaves zero out."""
        return self.low > 0.0 or self.high < 0.0


def paired_bootstrap(
    one: Sequence[float], other: Sequence[float], seed: int = 0, rounds: int = ROUNDS
) -> Difference | None:
    """The difference of two systems' values, question by question, with its 95 % percentile interval.

    None over nothing. Questions are drawn with their pair, so what makes a question hard for both cancels out. Raises
    ValueError when the lengths differ.
    """
    if len(one) != len(other):
        raise ValueError(f"{len(one)} values cannot be paired with {len(other)}")
    if not one:
        return None
    differences = np.asarray(one, dtype=np.float64) - np.asarray(other, dtype=np.float64)
    draws = np.random.default_rng(seed).integers(0, len(differences), size=(rounds, len(differences)))
    low, high = np.quantile(differences[draws].mean(axis=1), (0.025, 0.975))
    return Difference(float(differences.mean()), float(low), float(high))


def sign_test(better: int, worse: int) -> float:
    """Two-sided exact p of `better` against `worse` changes, ties left out (McNemar); 1.0 of no change."""
    total = better + worse
    if total == 0:
        return 1.0
    return min(1.0, 2.0 * binomial_cdf(min(better, worse), total, 0.5))
