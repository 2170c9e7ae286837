"""What a verdict rests on, in memory and as a journal's fields, so that an audit can judge the sentence again. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from retrieval.citations import CheckRules, check
from retrieval.types import Passage, PassageId, Verdict

Measure = Callable[[str, Passage], float]
"""How near a sentence is to a passage, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Basis:
    """All that decided beside the sentence itself. `passages` are those the answer could cite, by mark.

    `before` and `after` are the answer's other sentences as they stood then. `relevance` holds, by mark, what was
    measured; a sentence that fell to a rule before was never measured. None as `min_relevance`: it is not asked for.
    """

    question: str
    as_of: date
    passages: Mapping[str, Passage]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    min_relevance: float | None = None
    relevance: Mapping[str, float] = field(default_factory=dict)


def judge(sentence: str, basis: Basis, measure: Measure) -> tuple[Verdict, Basis]:
    """The verdict, and the basis with what was measured on the way."""
    marks = {passage.text: mark for mark, passage in basis.passages.items()}
    measured: dict[str, float] = {}

    def relevance(text: str, passage: str) -> float:
        mark = marks[passage]
        measured[mark] = measure(text, basis.passages[mark])
        return measured[mark]

    rules = CheckRules(min_relevance=basis.min_relevance, before=basis.before, after=basis.after)
    verdict = check(sentence, basis.question, basis.passages, basis.as_of, relevance, rules)
    return verdict, replace(basis, relevance=measured)


def judge_again(sentence: str, basis: Basis) -> Verdict:
    """By the relevance that was measured then; where none was, a sentence that gets so far is a CHECK_ERROR."""
    by_text = {passage.text: basis.relevance.get(mark, math.nan) for mark, passage in basis.passages.items()}
    return judge(sentence, basis, lambda _, passage: by_text[passage.text])[0]


def facts_of(basis: Basis, verdict: Verdict) -> dict[str, object]:
    """The fields of a `sentence` event: `evidence` are the cited passages, `others` those that were not."""
    cited = [mark for mark, passage in basis.passages.items() if passage.id in verdict.cited]
    return {
        "evidence": [shown(mark, basis.passages[mark]) for mark in cited],
        "others": [shown(mark, passage) for mark, passage in basis.passages.items() if mark not in cited],
        "question": basis.question,
        "as_of": basis.as_of,
        "before": basis.before,
        "after": basis.after,
        "min_relevance": basis.min_relevance,
        "relevance": basis.relevance,
    }


def shown(mark: str, passage: Passage) -> dict[str, object]:
    """A passage as the journal keeps it."""
    return {
        "citation_id": mark,
        "id": passage.id,
        "source": passage.source,
        "title": passage.title,
        "text": passage.text,
        "valid_from": passage.valid_from,
        "valid_to": passage.valid_to,
    }


def basis_of(event: Mapping[str, Any]) -> Basis | None:
    """Read back from a `sentence` event; None if it does not hold all of it, as those of older journals do not."""
    try:
        rows = sorted([*event["evidence"], *event["others"]], key=lambda row: _place(row["citation_id"]))
        relevance = {mark: math.nan if score is None else score for mark, score in event["relevance"].items()}
        return Basis(
            question=event["question"],
            as_of=date.fromisoformat(event["as_of"]),
            passages={row["citation_id"]: _passage(row) for row in rows},
            before=tuple(event["before"]),
            after=tuple(event["after"]),
            min_relevance=event["min_relevance"],
            relevance=relevance,
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _place(mark: str) -> tuple[int, str]:
    """S2 before S10."""
    return len(mark), mark


def _passage(row: Mapping[str, Any]) -> Passage:
    days = {
        name: None if row[name] is None else date.fromisoformat(row[name])
        for name in ("valid_from", "valid_to")
    }
    return Passage(
        PassageId(row["id"]),
        row["text"],
        row["title"],
        source=row["source"],
        valid_from=days["valid_from"],
        valid_to=days["valid_to"],
    )
