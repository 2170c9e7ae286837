"""Two runs over the same questions: what changed, by how much, and whether it can be chance. Pure.

Runs are what `eval --json` writes. Questions are paired by id and must ask the same; a run without rows is compared
by its totals alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from retrieval.significance import paired_bootstrap, sign_test
from voice_agent.evaluation.measures import KS

Row = Mapping[str, Any]
Value = Callable[[Row], float | None]
"""What a row is worth for a measure; None where the measure does not apply."""


@dataclass(frozen=True, slots=True)
class Change:
    """A measure before and after, over `paired` questions (0: totals only).

    For shares `better` and `worse` count the questions that changed and `p` is the exact two-sided sign test; for
    means `low` and `high` bound the difference (95 %, paired bootstrap). `good` is +1 where more is better, else -1.
    """

    measure: str
    before: float
    after: float
    good: int
    paired: int = 0
    better: int | None = None
    worse: int | None = None
    p: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def difference(self) -> float:
        return self.after - self.before

    @property
    def is_clear(self) -> bool:
        """Not chance at the 5 % level."""
        if self.p is not None:
            return self.p < 0.05
        return self.low is not None and self.high is not None and (self.low > 0.0 or self.high < 0.0)

    def as_row(self) -> dict[str, Any]:
        """For JSON."""
        values = asdict(self) | {"difference": self.difference, "clear": self.is_clear}
        return {key: round(v, 4) if isinstance(v, float) else v for key, v in values.items()}


def compare(now: Mapping[str, Any], before: Mapping[str, Any]) -> list[Change]:
    """Search, gate and answer measures of two runs; times last, for they are the machine's as well."""
    pairs = _pairs(now.get("rows", ()), before.get("rows", ()))
    changes = [*_search(now, before, pairs), *_gate(now, before, pairs), *_answers(now, before)]
    stages = now.get("stages_ms", {}).items()
    changes += [
        Change(f"P50 {name} ms", old["p50"], stage["p50"], -1)
        for name, stage in stages
        if (old := before.get("stages_ms", {}).get(name)) and None not in (old["p50"], stage["p50"])
    ]
    return changes


def _pairs(now: Sequence[Row], before: Sequence[Row]) -> list[tuple[Row, Row]]:
    """The rows of now with those of before that have the same id and label."""
    known = {row["id"]: row for row in before}
    pairs = [(row, known[row["id"]]) for row in now if row["id"] in known]
    return [(one, other) for one, other in pairs if one["must_refuse"] == other["must_refuse"]]


def _search(now: Row, before: Row, pairs: Sequence[tuple[Row, Row]]) -> Iterator[Change]:
    old, new = before["all"]["search"], now["all"]["search"]
    for system in (name for name in new if name in old):
        for k in KS:
            name = f"recall@{k}"
            totals = (old[system].get(name), new[system].get(name))
            yield from _share(f"{system} {name}", totals, pairs, _within(system, k), 1)
        totals = (old[system].get("mrr"), new[system].get("mrr"))
        yield from _mean(f"{system} MRR", totals, pairs, _reciprocal(system))


def _gate(now: Row, before: Row, pairs: Sequence[tuple[Row, Row]]) -> Iterator[Change]:
    old, new = before["all"]["gate"], now["all"]["gate"]
    values: dict[str, tuple[Value, int]] = {
        "refusal_accuracy": (lambda row: float((row["outcome"] == "ANSWER") is not row["must_refuse"]), 1),
        "false_accept": (lambda row: float(row["outcome"] == "ANSWER") if row["must_refuse"] else None, -1),
        "false_reject": (
            lambda row: None if row["must_refuse"] else float(row["outcome"] == "REFUSE"),
            -1,
        ),
        "wrong_answer": (
            lambda row: None if row["must_refuse"] else float(row["erred"] == "wrong_answer"),
            -1,
        ),
        "clarify": (lambda row: float(row["outcome"] == "CLARIFY"), -1),
    }
    for name, (value, good) in values.items():
        if name in old and name in new:
            yield from _share(name, (old[name]["share"], new[name]["share"]), pairs, value, good)


def _answers(now: Row, before: Row) -> Iterator[Change]:
    """Totals only: the answered questions of two runs are not the same ones."""
    old, new = before.get("answers") or {}, now.get("answers") or {}
    for name, good in (("faithfulness", 1), ("citation_coverage", 1), ("invalid_citation", -1)):
        if name in old and name in new:
            totals = old[name]["share"], new[name]["share"]
            yield from _share(name, totals, (), lambda row: None, good)
    for name in ("relevance", "context_precision", "context_recall"):
        yield from _share(name, (old.get(name), new.get(name)), (), lambda row: None, 1)


def _within(system: str, k: int) -> Value:
    def value(row: Row) -> float | None:
        if row["must_refuse"] or system not in row["ranks"]:
            return None
        rank = row["ranks"][system]
        return float(rank is not None and rank <= k)

    return value


def _reciprocal(system: str) -> Value:
    def value(row: Row) -> float | None:
        if row["must_refuse"] or system not in row["ranks"]:
            return None
        return 1.0 / row["ranks"][system] if row["ranks"][system] else 0.0

    return value


Totals = tuple[float | None, float | None]


def _values(pairs: Sequence[tuple[Row, Row]], value: Value) -> list[tuple[float, float]]:
    """(before, after) of the questions that the measure applies to in both runs."""
    both = [(value(other), value(one)) for one, other in pairs]
    return [(before, after) for before, after in both if before is not None and after is not None]


def _share(
    name: str, totals: Totals, pairs: Sequence[tuple[Row, Row]], value: Value, good: int
) -> Iterator[Change]:
    before, after = totals
    if before is None or after is None:
        return
    both = _values(pairs, value)
    if not both:
        yield Change(name, before, after, good)
        return
    up, down = sum(b < a for b, a in both), sum(a < b for b, a in both)
    better, worse = (up, down) if good > 0 else (down, up)
    yield Change(name, before, after, good, len(both), better, worse, sign_test(better, worse))


def _mean(name: str, totals: Totals, pairs: Sequence[tuple[Row, Row]], value: Value) -> Iterator[Change]:
    before, after = totals
    if before is None or after is None:
        return
    both = _values(pairs, value)
    found = paired_bootstrap([a for _, a in both], [b for b, _ in both])
    bounds = (found.low, found.high) if found else (None, None)
    yield Change(name, before, after, 1, len(both), low=bounds[0], high=bounds[1])
