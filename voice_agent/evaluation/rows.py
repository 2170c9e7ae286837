"""One question's outcome as a plain row: what a report lists and what two runs are paired by. Pure."""

from __future__ import annotations

from typing import Any

from voice_agent.evaluation.answers import Relevance, answer_row
from voice_agent.evaluation.gates import sure
from voice_agent.evaluation.measures import rounded
from voice_agent.evaluation.transcripts import heard_row
from voice_agent.evaluation.walk import Result


def row(result: Result, relevance: Relevance) -> dict[str, Any]:
    """`ranks` gives the place of the first expected passage in each channel's and stage's list, or None."""
    question = result.question
    ranks = {name: _rank(ids, question.expect) for name, ids in result.rankings.items()}
    return {
        "id": question.id,
        "kind": question.kind,
        "question": question.asked.question,
        "expect": list(question.expect),
        "must_refuse": question.must_refuse,
        "outcome": str(result.gate.outcome),
        "reason": result.gate.reason and str(result.gate.reason),
        "sure": rounded(sure(result.gate)),
        "top": result.top,
        "erred": result.erred,
        "ranks": {} if question.must_refuse else ranks,
        "answer": answer_row(result, relevance),
        "heard": heard_row(result.heard) if result.heard else None,
        "look_ms": rounded(result.timings_ms.get("look"), 1),
    }


def _rank(ids: tuple[str, ...], expect: tuple[str, ...]) -> int | None:
    return next((place for place, one in enumerate(ids, start=1) if one in expect), None)
