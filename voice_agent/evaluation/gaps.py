"""What to write next: questions that were not answered, grouped by what they are about. Pure but for the given encoder.

Agglomerative clustering with average linkage: the two groups whose members are nearest on average become one, until no
two are near enough. Same questions, same groups: ties go to the earlier question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.types import Cut, GateReason, Outcome
from voice_agent.evaluation.walk import Result

NEAR = 0.2
"""Mean cosine of centred question vectors from which two groups are one. Read off the groups of the dev questions: at
0.15 free post joins packing, at 0.3 nearly every question stays alone."""

MOST = 600
"""Questions grouped at once; the work grows with the square and each step with the number of groups."""

LABELS = 3
"""Telling terms of a group."""

NO_PASSAGE_HELPS = frozenset(
    {
        GateReason.MUST_HANDOFF,
        GateReason.EMPTY_QUERY,
        GateReason.ASR_LOW,
        GateReason.CHANNEL_DOWN,
        GateReason.NO_INDEX,
    }
)
"""Refused for what no text could mend: a topic for a person, nothing heard, something down."""


class QuestionEncoder(Protocol):
    """The part of an encoder that is needed."""

    def queries(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """(n, dim), unit length."""
        ...


def gaps(
    results: Sequence[Result], encoder: QuestionEncoder, cut: Cut, ordinary: Sequence[str]
) -> list[dict[str, Any]]:
    """Groups of unanswered questions, largest first: label, questions, why, and the passages that came nearest.

    `answerable` counts those whose passage exists: they need the passage to be found (another question in it), the
    others a passage. `ordinary` are questions of the same domain; with those asked they tell where questions lean,
    which is subtracted, for all of them are near to each other. Raises ModelError.
    """
    open_ones = [r for r in results if _is_gap(r)][:MOST]
    if not open_ones:
        return []
    words = [r.question.asked.question for r in open_ones]
    vectors = encoder.queries([*words, *ordinary])
    vectors = vectors[: len(words)] - vectors.mean(axis=0)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    groups = clusters(vectors @ vectors.T, NEAR)
    held = Counter(term for question in words for term in set(cut(question)))
    return [_gap([open_ones[i] for i in group], cut, held) for group in groups]


def clusters(similarity: NDArray[np.floating], near: float) -> list[list[int]]:
    """Groups of rows, largest first, then by their first row; within a group in order. `similarity` is (n, n)."""
    groups = [[i] for i in range(len(similarity))]
    sums = np.array(similarity, dtype=np.float64)
    sizes = np.ones(len(groups))
    while len(groups) > 1:
        means = sums / np.outer(sizes, sizes)
        means[np.tril_indices(len(groups))] = -np.inf
        one, other = np.unravel_index(int(np.argmax(means)), means.shape)
        if means[one, other] < near:
            break
        groups[one] = sorted(groups[one] + groups.pop(int(other)))
        sums[one] += sums[other]
        sums[:, one] += sums[:, other]
        sizes[one] += sizes[other]
        sums = np.delete(np.delete(sums, other, axis=0), other, axis=1)
        sizes = np.delete(sizes, other)
    return sorted(groups, key=lambda group: (-len(group), group[0]))


def _is_gap(result: Result) -> bool:
    return result.gate.outcome is not Outcome.ANSWER and result.gate.reason not in NO_PASSAGE_HELPS


def _gap(results: Sequence[Result], cut: Cut, held: Counter[str]) -> dict[str, Any]:
    nearest = Counter(r.top for r in results if r.top)
    return {
        "label": _label([r.question.asked.question for r in results], cut, held),
        "count": len(results),
        "answerable": sum(not r.question.must_refuse for r in results),
        "reasons": dict(Counter(str(r.gate.reason) for r in results).most_common()),
        "nearest": [passage for passage, _ in nearest.most_common(3)],
        "questions": [r.question.asked.question for r in results],
        "ids": [r.question.id for r in results],
    }


def _label(questions: Sequence[str], cut: Cut, held: Counter[str]) -> list[str]:
    """The terms that stand here and hardly elsewhere; a single character or a figure tells nothing.

    Each weighs the square of its share of these questions: what three of them say tells more than three things that
    one says. `held` counts the questions of all groups.
    """
    here = Counter(term for question in questions for term in set(cut(question)))
    telling = {term: seen for term, seen in here.items() if len(term) > 1 and not term[0].isdigit()}
    worth = {term: (seen / len(questions)) ** 2 * seen / held[term] for term, seen in telling.items()}
    return sorted(worth, key=lambda term: (-worth[term], term))[:LABELS]
