"""Rows of a retrieval bench: recall with its paired interval against one row, and the time it took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from retrieval.metrics import hit_at, percentile, reciprocal_rank
from retrieval.significance import paired_bootstrap


@dataclass
class Row:
    """One system over a set: for each question its hits and its milliseconds."""

    hits: dict[int, list[float]] = field(default_factory=lambda: {1: [], 3: [], 10: []})
    reciprocal: list[float] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)

    def add(self, ids: Sequence[str], expect: Sequence[str], ms: float) -> None:
        for k, values in self.hits.items():
            values.append(hit_at(k, ids, expect))
        self.reciprocal.append(reciprocal_rank(ids, expect))
        self.ms.append(ms)


def measured(rows: Mapping[str, Row], against: str) -> dict[str, dict[str, object]]:
    """Recall@1/3/10, MRR, P50, and the difference in Recall@3 to the row `against` with its 95 % interval.

    A row over fewer questions (a seeded part) has no interval: its questions are not those of the other row.
    """
    base = rows[against].hits[3]
    table: dict[str, dict[str, object]] = {}
    for name, row in rows.items():
        pair = paired_bootstrap(row.hits[3], base) if len(row.hits[3]) == len(base) else None
        table[name] = {
            "questions": len(row.ms),
            **{f"recall@{k}": round(fmean(values), 4) for k, values in row.hits.items()},
            "mrr": round(fmean(row.reciprocal), 4),
            "p50_ms": round(percentile(row.ms, 0.5) or 0.0, 1),
            "against": [round(pair.mean, 4), round(pair.low, 4), round(pair.high, 4)] if pair else None,
        }
    return table
