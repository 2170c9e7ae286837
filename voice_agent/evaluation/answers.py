"""The answer layer over the questions that the gate let through: what was said, and what carries it. Pure.

A courtesy states nothing and counts nowhere. Faithfulness is over all generated sentences; what is spoken has passed
its check by construction, and `withheld` counts the answers that a blocked sentence took back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from retrieval import metrics
from retrieval.courtesy import is_courtesy
from retrieval.marks import find_marks, strip_marks
from retrieval.types import Outcome
from voice_agent.evaluation.measures import rate_of, rounded, rounded_mean
from voice_agent.evaluation.walk import Result
from voice_agent.reply.answer import Checked

Relevance = Callable[[str, str], float]
"""How near an answer is to its question, 0 to 1."""


def spoken_text(result: Result) -> str:
    """What the caller would hear; empty when it was not answered or an answer was taken back."""
    return "".join(strip_marks(c.text).strip() for c in result.sentences) if result.is_spoken else ""


def answer_measures(results: Sequence[Result], relevance: Relevance, measured_by: str) -> dict[str, Any]:
    """All measures of the answer layer. `measured_by` names the model behind `relevance`."""
    answered = [r for r in results if r.gate.outcome is Outcome.ANSWER and r.sentences]
    spoken = [r for r in answered if r.is_spoken]
    stating = [(r, c) for r in answered for c in r.sentences if not is_courtesy(strip_marks(c.text))]
    labelled = [r for r in answered if not r.question.must_refuse]
    reasons = Counter(str(c.verdict.reason) for _, c in stating if c.verdict.reason)
    return {
        "answered": len(answered),
        "spoken": len(spoken),
        "withheld": len(answered) - len(spoken),
        "sentences": len(stating),
        "faithfulness": rate_of(sum(c.verdict.passed for _, c in stating), len(stating)),
        "relevance": rounded_mean(relevance(r.question.asked.question, spoken_text(r)) for r in spoken),
        "relevance_by": measured_by,
        **_context(labelled),
        **_citations(spoken, stating),
        "blocked_for": dict(reasons.most_common()),
    }


def _context(results: Sequence[Result]) -> dict[str, float | None]:
    """Of the passages an answer may cite: do the right ones stand first, and are all of them there?"""
    pairs = [(r.shown, r.question.expect) for r in results]
    return {
        "context_precision": rounded_mean(metrics.average_precision(ids, wanted) for ids, wanted in pairs),
        "context_recall": rounded_mean(metrics.recall_at(len(ids), ids, wanted) for ids, wanted in pairs),
    }


def _citations(spoken: Sequence[Result], stating: Sequence[tuple[Result, Checked]]) -> dict[str, Any]:
    """How many sentences cite, how many of the marks name nothing, and how many answers rest on a right passage."""
    named = [(len(r.shown), mark) for r, c in stating for mark in find_marks(c.text)]
    marks = [(shown, ident) for shown, mark in named for ident in mark.ids or ("",)]
    invalid = sum(ident not in {f"S{i}" for i in range(1, shown + 1)} for shown, ident in marks)
    labelled = [r for r in spoken if not r.question.must_refuse]
    right = sum(any(set(c.verdict.cited) & set(r.question.expect) for c in r.sentences) for r in labelled)
    return {
        "citation_coverage": rate_of(sum(bool(c.verdict.cited) for _, c in stating), len(stating)),
        "invalid_citation": rate_of(invalid, len(marks)),
        "right_citation": rate_of(right, len(labelled)),
    }


def answer_row(result: Result, relevance: Relevance) -> dict[str, Any] | None:
    """One answer for the record; None when nothing was generated."""
    if not result.sentences:
        return None
    said = spoken_text(result)
    return {
        "spoken": said,
        "relevance": rounded(relevance(result.question.asked.question, said)) if said else None,
        "sentences": [
            {
                "text": c.text,
                "passed": c.verdict.passed,
                "reason": c.verdict.reason,
                "detail": c.verdict.detail,
            }
            for c in result.sentences
        ],
    }
