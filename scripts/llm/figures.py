"""The figures of many rows: what was answered, halted, refused, and how fast the model was. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from random import Random
from statistics import median
from typing import Any

from voice_agent.evaluation.questions import Question

SEED = 20261130

LET_THROUGH = ("answered", "halted", "not_found", "fault")
"""What a question can come to behind the gate."""


def chosen(questions: Sequence[Question], count: int) -> list[Question]:
    """A seeded choice that takes the kinds in turn, so that each is there; a larger one begins with the smaller."""
    rng = Random(SEED)
    piles: dict[str, list[Question]] = {}
    for question in questions:
        piles.setdefault(question.kind, []).append(question)
    for kind in sorted(piles):
        rng.shuffle(piles[kind])
    dealt = [(depth, kind, question) for kind in sorted(piles) for depth, question in enumerate(piles[kind])]
    return [question for _, _, question in sorted(dealt, key=lambda row: row[:2])][:count]


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Shares are None of nothing."""
    answerable = [row for row in rows if not row["must_refuse"]]
    through = [row for row in answerable if row["outcome"] in LET_THROUGH]
    sentences = [sentence for row in rows for sentence in row["sentences"]]
    return {
        "questions": len(rows),
        "outcomes": _counted(row["outcome"] for row in rows),
        "halted_by": _counted(s["reason"] for s in sentences if not s["passed"]),
        "faults": _counted(row["fault"] for row in rows if row["fault"]),
        "answerable": {
            "asked": len(answerable),
            "outcomes": _counted(row["outcome"] for row in answerable),
            "answered": _share(answerable),
            "let_through": len(through),
            "answered_of_let_through": _share(through),
            "by_kind": {
                kind: _counted(row["outcome"] for row in answerable if row["kind"] == kind)
                for kind in sorted({row["kind"] for row in answerable})
            },
        },
        "must_refuse": {
            "asked": len(rows) - len(answerable),
            "outcomes": _counted(row["outcome"] for row in rows if row["must_refuse"]),
        },
        "sentences": {"generated": len(sentences), "spoken": sum(len(row["spoken"]) for row in rows)},
        "speed": _speed(rows),
    }


def _counted(values: Iterable[Any]) -> dict[str, int]:
    return dict(Counter(map(str, values)).most_common())


def _share(rows: Sequence[dict[str, Any]]) -> float | None:
    return round(sum(row["outcome"] == "answered" for row in rows) / len(rows), 3) if rows else None


def _speed(rows: Sequence[dict[str, Any]]) -> dict[str, float | None]:
    """A piece of these streams is a token, near enough."""
    spans = [row["speed"] for row in rows if row["speed"]["pieces"] > 1]
    if not spans:
        return {"tokens_per_s": None, "first_token_s_p50": None}
    wrote = sum(span["last_s"] - span["first_s"] for span in spans)
    tokens = sum(span["pieces"] - 1 for span in spans)
    return {
        "tokens_per_s": round(tokens / wrote, 1) if wrote else None,
        "first_token_s_p50": round(median(span["first_s"] for span in spans), 2),
    }
