"""Thresholds for a stated rate of false accepts. Pure: judged examples in, thresholds and what they are worth out.

Chosen on one half of the questions, measured on the other. The halves are by a hash of the question's id, so that a
question added later moves no other one.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from retrieval.calibration import Bound
from retrieval.gate import Thresholds, decide, sureness
from retrieval.gauge import Features
from retrieval.metrics import upper_bound
from retrieval.types import Outcome


@dataclass(frozen=True, slots=True)
class Example:
    """One question as the gate saw it. `right` says whether its best passage is an expected one."""

    id: str
    features: Features
    must_refuse: bool
    right: bool


@dataclass(frozen=True, slots=True)
class Wanted:
    """Shares: of must-refuse questions answered, and of answerable ones refused, at most."""

    max_false_accept: float = 0.02
    max_false_reject: float = 0.08


def halves(examples: Iterable[Example]) -> tuple[list[Example], list[Example]]:
    """The half that chooses, the half that measures."""
    chosen: list[Example] = []
    measured: list[Example] = []
    for example in examples:
        odd = hashlib.sha256(example.id.encode()).digest()[0] & 1
        (measured if odd else chosen).append(example)
    return chosen, measured


def choose(examples: Sequence[Example], base: Thresholds, wanted: Wanted) -> tuple[dict[str, float], Bound]:
    """`answer` and `clarify` for the wanted rates, and what the other half says of them.

    `answer` is the lowest that keeps false accepts of the choosing half within the rate; `clarify` the highest, not
    above `answer`, that keeps false rejects within theirs. Raises ValueError when a half holds no question of a kind.
    """
    chosen, measured = halves(examples)
    if not all(
        any(e.must_refuse is kind for e in half) for half in (chosen, measured) for kind in (True, False)
    ):
        raise ValueError("each half needs questions with an answer and questions to refuse")
    answer = _answer_threshold(chosen, base, wanted.max_false_accept)
    clarify = _clarify_threshold(chosen, {**base, "answer": answer}, wanted.max_false_reject)
    thresholds = {"answer": answer, "clarify": clarify}
    decided = {**base, **thresholds}
    first, other = accepted(chosen, decided), accepted(measured, decided)
    bound = Bound(
        wanted=wanted.max_false_accept,
        chosen_on=first,
        seen_on=other,
        upper=upper_bound(*other),
        needed=clean_sample(wanted.max_false_accept),
    )
    return thresholds, bound


def accepted(examples: Iterable[Example], thresholds: Thresholds) -> tuple[int, int]:
    """(answered, all) of the questions that must be refused."""
    outcomes = [decide(e.features, thresholds).outcome for e in examples if e.must_refuse]
    return sum(outcome is Outcome.ANSWER for outcome in outcomes), len(outcomes)


def rejected(examples: Iterable[Example], thresholds: Thresholds) -> tuple[int, int]:
    """(refused, all) of the questions that have an answer; asking back is not refusing."""
    outcomes = [decide(e.features, thresholds).outcome for e in examples if not e.must_refuse]
    return sum(outcome is Outcome.REFUSE for outcome in outcomes), len(outcomes)


def asked_back(examples: Iterable[Example], thresholds: Thresholds) -> tuple[int, int]:
    """(asked back, all) of the questions that have an answer."""
    outcomes = [decide(e.features, thresholds).outcome for e in examples if not e.must_refuse]
    return sum(outcome is Outcome.CLARIFY for outcome in outcomes), len(outcomes)


def clean_sample(rate: float, confidence: float = 0.95) -> int:
    """How many questions without one error show, with this confidence, that the true rate is not above `rate`."""
    return math.ceil(math.log(1.0 - confidence) / math.log1p(-rate)) if 0.0 < rate < 1.0 else 0


def _answer_threshold(examples: Sequence[Example], base: Thresholds, most: float) -> float:
    """The lowest sureness at which no more than this share of must-refuse questions is answered."""
    for threshold in _candidates(examples, base):
        if _share(accepted(examples, {**base, "answer": threshold})) <= most:
            return threshold
    return 1.0


def _clarify_threshold(examples: Sequence[Example], base: Thresholds, most: float) -> float:
    """The highest sureness under which to refuse outright without refusing more than this share of answerable ones."""
    for threshold in reversed(_candidates(examples, base)):
        if threshold <= base["answer"] and _share(rejected(examples, {**base, "clarify": threshold})) <= most:
            return threshold
    return 0.0


def _candidates(examples: Iterable[Example], base: Thresholds) -> list[float]:
    """Places between the surenesses seen, ascending: a threshold on one of them would hang by its last digit."""
    seen = sorted({s for e in examples if not math.isnan(s := sureness(e.features, base))})
    between = [(low + high) / 2.0 for low, high in zip(seen, seen[1:], strict=False)]
    return [0.0, *between, 1.0]


def _share(counted: tuple[int, int]) -> float:
    count, total = counted
    return count / total if total else 0.0


def survives(examples: Sequence[Example], thresholds: Thresholds, accept: float, wrong: float) -> bool:
    """Whether false accepts and answers from a wrong passage stay within these shares: asked of searches that ran
    without one of their channels.
    """
    answerable = [e for e in examples if not e.must_refuse]
    misled = sum(not e.right and decide(e.features, thresholds).outcome is Outcome.ANSWER for e in answerable)
    return _share(accepted(examples, thresholds)) <= accept and _share((misled, len(answerable))) <= wrong
