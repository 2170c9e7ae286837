"""May this be answered at all? `decide` is pure, features and thresholds in, so that an audit can repeat it.

A sureness between 0 and 1 is made of eight features that only ever speak for the passage when they grow (weights are
never negative), each relative where it can be: how far the best passage stands above the next and above the others.
Absolute cosines alone do not separate, for unrelated texts are near, too. Before it stand checks that no score
overrules: a code no passage holds, a figure asked for that the passage does not state, a topic for a person.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy

from retrieval.errors import ModelError
from retrieval.gauge import AnswersQuestion, Features, Gauge, Known
from retrieval.rerank import Reranker, as_unit
from retrieval.types import Found, Gate, GateReason, Outcome

Thresholds = Mapping[str, float]

UNFIT: Mapping[str, GateReason] = {
    "slot_stated": GateReason.SLOT_MISSING,
    "conditions_met": GateReason.CONDITION_UNMET,
    "consistent": GateReason.CONFLICT,
}
"""Features that must be 1 for an answer: the asked figure is stated, the asked period or edition is the passage's, and
no other of the best passages gives another value.
"""

MEASURED = (
    "rerank_margin",
    "rerank_lead",
    "dense_top",
    "bm25_lead",
    "agreement",
    "answers",
    "tellable",
    "named",
)
"""Without any one of these nothing is answered: a channel is down, and its thresholds are not ours to guess."""

BY_EXAMPLE = ("example_top", "example_lead")
"""Measured as well where callers' questions are told, and then no less needed."""

UP, WITHOUT = "_up", "without_"
"""`phonetic_up` is a feature: did the channel answer? `without_phonetic` is a threshold: may it be missing?"""

LATE_INTERACTION: Thresholds = {
    "answer": 0.75,
    "clarify": 0.05,
    "near": 0.02,
    "risk": 0.4,
    "min_transcript": 0.35,
    "background": 0.45,
    "bias": -25.89,
    "weight_rerank_margin": 8.2,
    "weight_rerank_lead": 1.27,
    "weight_dense_top": 24.1,
    "weight_bm25_lead": 1.57,
    "weight_agreement": 0.96,
    "weight_answers": 0.42,
    "weight_tellable": 1.73,
    "weight_named": 0.85,
}
"""For late interaction over multilingual-e5-small, with the answerability model.

Fitted by `scripts/fit_gate` on the 504 questions of `data/eval/test.jsonl` (the model has learned from those of dev)
and, as further questions without an answer, its 300 answerable ones with their own passage closed to the search: ridge
logistic regression (5.0 on standardised features), weights held at 0 or above, AUC 0.899 in ten folds. On these
questions, at these thresholds: of 300 answerable ones 135 answered, 1 of them from a wrong passage, 148 asked back, 17
refused; of 204 that must be refused 8 answered: true sentences about the right thing that lack the asked fact. At 0.9
it is 70 and 4, at 0.96 38 and 1. On questions nothing was tuned on (`data/eval/fresh.jsonl`, harder ones) 31 % are
answered, and 18 of 258 that must be refused: `voice-agent calibrate` chooses for a stated rate.
"""

WITH_EXAMPLES: Thresholds = {
    **LATE_INTERACTION,
    "answer": 0.85,
    "clarify": 0.045,
    "bias": -49.24,
    "weight_rerank_margin": 5.91,
    "weight_rerank_lead": 1.28,
    "weight_dense_top": 14.99,
    "weight_bm25_lead": 0.0,
    "weight_agreement": 0.46,
    "weight_answers": 0.4,
    "weight_tellable": 4.24,
    "weight_named": 0.52,
    "weight_example_top": 31.57,
    "weight_example_lead": 54.66,
}
"""The same where the knowledge base tells callers' questions (*.examples.jsonl).

Fitted by `scripts/fit_gate` on the 1,606 questions of dev, test and fresh, none of which is among the examples, and on
the 940 answerable ones with their own passage closed. In ten folds: AUC 0.912, without these two features 0.883. At
these thresholds, in folds: of 666 questions that must be refused 10 answered (9 of the 420 that are near it);
of 940 with an answer 39 % answered, 6 of them from a wrong passage, and 5.4 % refused. At 0.75 it would be 19 and 50 %,
at 0.5 43 and 69 %, at 0.88 7 and 35 %.
"""


CROSS_ENCODER: Thresholds = {
    "answer": 0.5,
    "clarify": 0.2,
    "near": 0.02,
    "risk": 0.4,
    "min_transcript": 0.35,
    "background": -0.5,
    "bias": -2.0,
    "weight_rerank_margin": 0.0,
    "weight_rerank_lead": 4.0,
    "weight_dense_top": 0.0,
    "weight_bm25_lead": 1.0,
    "weight_agreement": 0.5,
    "weight_answers": 0.0,
    "weight_tellable": 1.0,
    "weight_named": 1.0,
    "without_answers": 1.0,
}
"""For a cross-encoder of the hub profile, set by hand: the sigmoid of a good reranker is near 0 for what does not
answer, and its lead must carry the decision. Not fitted to any one model; calibrate before relying on it.
"""


def thresholds_for(reranker: Reranker, encoder_id: str, examples: bool = False) -> Thresholds:
    """The shipped thresholds of a reranker, with or without examples in the knowledge base.

    Raises ModelError for late interaction over an encoder not measured, and for pooled vectors, which no threshold was
    fitted to.
    """
    if reranker.scale == "logit":
        return CROSS_ENCODER
    measured = encoder_id.startswith("e5-") or "multilingual-e5-small" in encoder_id
    if measured and not reranker.id.startswith("pooled-vectors/"):
        return WITH_EXAMPLES if examples else LATE_INTERACTION
    raise ModelError(f"gate: no thresholds for {reranker.id}; choose a cross-encoder as retrieval.reranker")


def decide(features: Features, thresholds: Thresholds) -> Gate:
    """The decision. Every comparison is "at least": a value on its threshold passes it."""
    outcome, reason = _outcome(features, thresholds)
    return Gate(outcome, reason, dict(features), dict(thresholds))


def _outcome(features: Features, thresholds: Thresholds) -> tuple[Outcome, GateReason | None]:
    early = _unheard(features, thresholds) or _unsearched(features, thresholds)
    if early is not None:
        return early
    sure = sureness(features, thresholds)
    if _value(features, "must_handoff") >= 1.0:
        return Outcome.REFUSE, GateReason.MUST_HANDOFF
    if not sure >= thresholds["clarify"]:
        return Outcome.REFUSE, GateReason.LOW_SCORE
    unfit = _unfit(features)
    if unfit is not None:
        return Outcome.REFUSE, unfit
    if sure >= needed(features, thresholds):
        return Outcome.ANSWER, None
    near = abs(_value(features, "rerank_margin")) < thresholds["near"]
    return Outcome.CLARIFY, GateReason.AMBIGUOUS if near else GateReason.LOW_SCORE


def _unheard(features: Features, thresholds: Thresholds) -> tuple[Outcome, GateReason] | None:
    """Nothing was asked, or it was not heard well enough: ask again."""
    if _value(features, "asked") < 1.0:
        return Outcome.CLARIFY, GateReason.EMPTY_QUERY
    heard = features.get("transcript")
    if heard is not None and not heard >= thresholds["min_transcript"]:
        return Outcome.CLARIFY, GateReason.ASR_LOW
    return None


def _unsearched(features: Features, thresholds: Thresholds) -> tuple[Outcome, GateReason] | None:
    """There is nothing to judge by."""
    if _value(features, "searched") < 1.0:
        return Outcome.REFUSE, GateReason.NO_INDEX
    if (_unmeasured(features, thresholds) | _down(features)) - safe_without(thresholds):
        return Outcome.REFUSE, GateReason.CHANNEL_DOWN
    if _value(features, "codes_covered") < 1.0:
        return Outcome.REFUSE, GateReason.CODE_UNCOVERED
    return None


def _unfit(features: Features) -> GateReason | None:
    """What is found is near, but its passage does not do, however near: first what it lacks, then what it says."""
    for name, reason in UNFIT.items():
        if _value(features, name) < 1.0:
            return reason
    return None


def needed(features: Features, thresholds: Thresholds) -> float:
    """The sureness that an answer takes: more where a wrong one does harm, up to the share `risk` of what is left."""
    answer = thresholds["answer"]
    return answer + (1.0 - answer) * thresholds["risk"] * _value(features, "risk")


def weighed(thresholds: Thresholds) -> tuple[str, ...]:
    """The features that these thresholds weigh: what examples tell only where they were fitted with it."""
    return (*MEASURED, *(name for name in BY_EXAMPLE if f"weight_{name}" in thresholds))


def _unmeasured(features: Features, thresholds: Thresholds) -> set[str]:
    return {name for name in weighed(thresholds) if features.get(name) is None}


def _down(features: Features) -> set[str]:
    """The channels of the search that gave nothing, by name."""
    return {name.removesuffix(UP) for name, value in features.items() if name.endswith(UP) and value is None}


def safe_without(thresholds: Thresholds) -> set[str]:
    """The channels without which these thresholds were found to hold as well."""
    return {
        name.removeprefix(WITHOUT) for name, value in thresholds.items() if name.startswith(WITHOUT) and value
    }


def _value(features: Features, name: str) -> float:
    value = features.get(name)
    return 0.0 if value is None else value


def sureness(features: Features, thresholds: Thresholds) -> float:
    """The logistic of the weighted features; NaN, which passes no threshold, when a feature is missing or NaN."""
    total = thresholds["bias"]
    missing = _unmeasured(features, thresholds) & safe_without(thresholds)
    for name in weighed(thresholds):
        if name in missing:
            continue
        value = features.get(name)
        total += thresholds[f"weight_{name}"] * (math.nan if value is None else value)
    return as_unit(total, "logit")


class GateModel:
    """Measures what was found and decides."""

    def __init__(
        self, known: Known, reranker: Reranker, thresholds: Thresholds, reader: AnswersQuestion | None = None
    ) -> None:
        """`known` is of the searcher whose results are judged. `reader` tells how far a passage answers; it may be
        missing where the thresholds allow that.
        """
        self._gauge = Gauge(known, reranker.scale, thresholds["background"], thresholds["near"], reader)
        self._thresholds = thresholds

    def with_thresholds(self, thresholds: Thresholds) -> GateModel:
        """A gate that measures the same and decides by these."""
        other = copy(self)
        other._thresholds = thresholds
        return other

    def judge(self, found: Found, transcript_confidence: float | None = None) -> Gate:
        """The decision on a search. Confidence is the recogniser's, None for a typed question."""
        return decide(self._gauge.measure(found, transcript_confidence), self._thresholds)
