"""The gate's decisions as a table, and what the features of a search are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from retrieval.code_book import CodeBook
from retrieval.errors import ModelError
from retrieval.gate import (
    CROSS_ENCODER,
    LATE_INTERACTION,
    MEASURED,
    GateModel,
    Thresholds,
    decide,
    sureness,
    thresholds_for,
)
from retrieval.gauge import Features, Known
from retrieval.query import make_query
from retrieval.rerank import Scale
from retrieval.siblings import Siblings
from retrieval.surfaces import document_text
from retrieval.types import Channel, Evidence, Found, GateReason, Hit, Outcome, Passage, Query, Ranking
from tests.retrieval.letters import Reads, passage
from tests.retrieval.test_rerank import Ruler

PLAIN: Thresholds = {
    "answer": 0.5,
    "clarify": 0.25,
    "near": 0.02,
    "risk": 0.4,
    "min_transcript": 0.35,
    "background": 0.4,
    "bias": 0.0,
    **{f"weight_{name}": 0.0 for name in MEASURED},
    "weight_rerank_margin": 1.0,
}
"""The sureness is the sigmoid of the margin alone."""

GOOD: dict[str, float | None] = {
    "asked": 1.0,
    "searched": 9.0,
    "transcript": None,
    "codes_covered": 1.0,
    "slot_stated": 1.0,
    "conditions_met": 1.0,
    "consistent": 1.0,
    "must_handoff": 0.0,
    **dict.fromkeys(MEASURED, 1.0),
}


@pytest.mark.parametrize(
    ("changed", "outcome", "reason"),
    [
        ({}, Outcome.ANSWER, None),
        ({"asked": 0.0}, Outcome.CLARIFY, GateReason.EMPTY_QUERY),
        ({"searched": 0.0}, Outcome.REFUSE, GateReason.NO_INDEX),
        ({"transcript": 0.34}, Outcome.CLARIFY, GateReason.ASR_LOW),
        ({"transcript": 0.0}, Outcome.CLARIFY, GateReason.ASR_LOW),
        ({"transcript": 0.35}, Outcome.ANSWER, None),
        ({"transcript": math.nan}, Outcome.CLARIFY, GateReason.ASR_LOW),
        ({"codes_covered": 0.5}, Outcome.REFUSE, GateReason.CODE_UNCOVERED),
        ({"codes_covered": 0.0, "transcript": 0.9}, Outcome.REFUSE, GateReason.CODE_UNCOVERED),
        ({"must_handoff": 1.0}, Outcome.REFUSE, GateReason.MUST_HANDOFF),
        ({"must_handoff": 1.0, "rerank_margin": -9.0}, Outcome.REFUSE, GateReason.MUST_HANDOFF),
        ({"slot_stated": 0.0}, Outcome.REFUSE, GateReason.SLOT_MISSING),
        ({"conditions_met": 0.0}, Outcome.REFUSE, GateReason.CONDITION_UNMET),
        ({"consistent": 0.0}, Outcome.REFUSE, GateReason.CONFLICT),
        ({"consistent": None}, Outcome.REFUSE, GateReason.CONFLICT),
        ({"conditions_met": None}, Outcome.REFUSE, GateReason.CONDITION_UNMET),
        ({"risk": 1.0, "rerank_margin": 0.8}, Outcome.CLARIFY, GateReason.LOW_SCORE),
        ({"risk": 0.0, "rerank_margin": 0.8}, Outcome.ANSWER, None),
        ({"risk": 1.0, "rerank_margin": 0.9}, Outcome.ANSWER, None),
        ({"rerank_margin": -0.5}, Outcome.CLARIFY, GateReason.LOW_SCORE),
        ({"rerank_margin": -0.01}, Outcome.CLARIFY, GateReason.AMBIGUOUS),
        ({"rerank_margin": -3.0}, Outcome.REFUSE, GateReason.LOW_SCORE),
        ({"rerank_margin": math.nan}, Outcome.REFUSE, GateReason.LOW_SCORE),
        ({"bm25_lead": math.nan}, Outcome.REFUSE, GateReason.LOW_SCORE),
    ],
)
def test_decision_table(changed: Features, outcome: Outcome, reason: GateReason | None) -> None:
    """One changed feature, one decision; what is not a number never answers."""
    gate = decide({**GOOD, **changed}, PLAIN)
    assert (gate.outcome, gate.reason) == (outcome, reason)


@pytest.mark.parametrize("name", MEASURED)
def test_a_missing_feature_is_a_channel_down_never_a_zero(name: str) -> None:
    """None in, or left out: refuse with CHANNEL_DOWN, however good the rest; 0 is a value like any other."""
    assert decide({**GOOD, name: None}, PLAIN).reason is GateReason.CHANNEL_DOWN
    left_out = {key: value for key, value in GOOD.items() if key != name}
    assert decide(left_out, PLAIN).reason is GateReason.CHANNEL_DOWN
    assert decide({**GOOD, name: 0.0}, PLAIN).reason is not GateReason.CHANNEL_DOWN


def test_a_channel_that_is_down_refuses_unless_the_thresholds_hold_without_it() -> None:
    """Also a channel that no feature is made of: with it down, other passages come first than those calibrated on."""
    features = {**GOOD, "bm25_up": 1.0, "phonetic_up": None}
    assert decide(features, PLAIN).reason is GateReason.CHANNEL_DOWN
    assert decide(features, {**PLAIN, "without_phonetic": 0.0}).reason is GateReason.CHANNEL_DOWN
    assert decide(features, {**PLAIN, "without_phonetic": 1.0}).outcome is Outcome.ANSWER
    assert (
        decide({**features, "bm25_up": None}, {**PLAIN, "without_phonetic": 1.0}).reason
        is GateReason.CHANNEL_DOWN
    )
    assert decide({**GOOD, "phonetic_up": 1.0}, PLAIN).outcome is Outcome.ANSWER


def test_a_value_on_the_threshold_passes() -> None:
    """One comparator everywhere: at least. A margin of 0 is a sureness of exactly 0.5."""
    features = {**GOOD, "rerank_margin": 0.0}
    assert sureness(features, PLAIN) == 0.5
    assert decide(features, PLAIN).outcome is Outcome.ANSWER
    assert decide({**GOOD, "rerank_margin": -1e-9}, PLAIN).outcome is Outcome.CLARIFY
    on_clarify = {**PLAIN, "answer": 0.9, "clarify": 0.5}
    assert decide(features, on_clarify).outcome is Outcome.CLARIFY


def test_a_threshold_of_zero_is_a_threshold() -> None:
    """0 is not unset: with an answer threshold of 0 everything measured answers, with 1 nothing does."""
    low = {**GOOD, "rerank_margin": -5.0}
    assert decide(low, {**PLAIN, "answer": 0.0, "clarify": 0.0}).outcome is Outcome.ANSWER
    assert decide(GOOD, {**PLAIN, "answer": 1.0}).outcome is Outcome.CLARIFY


def test_the_decision_can_be_repeated_from_what_it_carries() -> None:
    """A gate holds its features and thresholds: deciding again gives the same gate."""
    for margin in (-3.0, -0.5, 0.3):
        gate = decide({**GOOD, "rerank_margin": margin}, PLAIN)
        assert decide(gate.features, gate.thresholds) == gate


@pytest.mark.parametrize("thresholds", [LATE_INTERACTION, CROSS_ENCODER])
@pytest.mark.parametrize("name", MEASURED)
def test_more_evidence_never_makes_it_less_sure(thresholds: Thresholds, name: str) -> None:
    """The shipped weights are never negative, so a better feature cannot turn an answer into a refusal."""
    base = {**GOOD, **dict.fromkeys(MEASURED, 0.3)}
    assert sureness({**base, name: 0.4}, thresholds) >= sureness(base, thresholds)


def test_thresholds_are_bound_to_the_model() -> None:
    """Each scale has its own; late interaction over an encoder that was not measured is refused, not guessed."""
    assert thresholds_for(Ruler(scale="unit"), "e5-0123-r1") is LATE_INTERACTION
    assert thresholds_for(Ruler(scale="logit"), "any encoder") is CROSS_ENCODER
    with pytest.raises(ModelError, match="no thresholds"):
        thresholds_for(Ruler(scale="unit"), "some/other-encoder")


REFUND = passage("refund", "退款在3个工作日内到账。", title="退款")
ERROR = passage("e2048", "ERR_2048表示会话过期，请重新登录。", title="ERR_2048")
PERSON = passage("complaint", "投诉由专员处理。", title="投诉", must_handoff=True)
PASSAGES = (REFUND, ERROR, PERSON)


def found(query: Query, evidence: list[tuple[Passage, float | None]], **channels: Ranking) -> Found:
    rankings: dict[Channel, Ranking] = {
        "bm25": channels.get("bm25", [(p.id, 3.0 - i) for i, (p, _) in enumerate(evidence)]),
        "dense": channels.get("dense", [(p.id, 0.9 - i / 100) for i, (p, _) in enumerate(evidence)]),
    }
    listed = []
    for p, score in evidence:
        hits = {
            name: Hit(rank, value)
            for name, ranking in rankings.items()
            for rank, (pid, value) in enumerate(ranking, start=1)
            if pid == p.id
        }
        listed.append(Evidence(p, hits, 0.1, score))
    return Found(query, rankings, [], tuple(listed), searched=3)


KNOWN = Known(lambda _: 1.0, CodeBook(PASSAGES), Siblings(PASSAGES))


def model(scale: Scale = "unit", thresholds: Thresholds = PLAIN) -> GateModel:
    return GateModel(KNOWN, Ruler(scale=scale), thresholds, reader=Reads())


def test_features_of_a_good_search() -> None:
    """Each feature by hand: margin and lead from the reranker, cosine, word lead of the ideal, agreement, coverage."""
    query = make_query("退款几天到账")
    features = model().judge(found(query, [(REFUND, 0.8), (ERROR, 0.5), (PERSON, 0.4)])).features
    ideal = 2.5 * len(query.terms)
    assert features["rerank_top"] == 0.8
    assert features["rerank_margin"] == pytest.approx(0.3)
    assert features["rerank_lead"] == pytest.approx(0.4)
    assert features["dense_top"] == 0.9
    assert features["bm25_top"] == pytest.approx(3.0 / ideal)
    assert features["bm25_lead"] == pytest.approx((3.0 - 1.0) / ideal)
    assert features["agreement"] == 1.0
    assert features["coverage"] is not None and 0.5 < features["coverage"] <= 1.0
    assert features["transcript"] is None


def test_missing_neighbours_count_as_background() -> None:
    """With a single passage there is nothing to lead: the usual score of unrelated texts stands in, not 0."""
    features = model().judge(found(make_query("退款"), [(REFUND, 0.7)])).features
    assert features["rerank_margin"] == features["rerank_lead"] == pytest.approx(0.3)


def test_logits_are_compared_as_logits() -> None:
    """A sigmoid is 1 for 13 and for 27 (B8 13): the margin must still tell them apart."""
    features = model("logit").judge(found(make_query("退款"), [(REFUND, 27.0), (ERROR, 13.0)])).features
    assert features["rerank_margin"] == pytest.approx(1.4)
    assert features["rerank_top"] == pytest.approx(1.0)


def test_what_answered_and_what_did_not_is_a_feature() -> None:
    """1 for a channel with a ranking, also an empty one; None for one that is down."""
    whole = found(make_query("退款"), [(REFUND, 0.9)])
    features = model().judge(replace(whole, down={"phonetic": "late: nothing after 1500 ms"})).features
    assert (features["bm25_up"], features["dense_up"], features["phonetic_up"]) == (1.0, 1.0, None)


def test_other_thresholds_judge_the_same_features() -> None:
    """A shadow gate measures what the live one measures and only decides otherwise."""
    seen = found(make_query("退款"), [(REFUND, 0.9), (ERROR, 0.2)])
    live = model()
    shadow = live.with_thresholds({**PLAIN, "answer": 1.0})
    assert live.judge(seen).features == shadow.judge(seen).features
    assert (live.judge(seen).outcome, shadow.judge(seen).outcome) == (Outcome.ANSWER, Outcome.CLARIFY)


def test_a_down_channel_and_a_down_reranker_are_none() -> None:
    """No ranking, no score: None in every feature made of it, and a refusal."""
    whole = found(make_query("退款"), [(REFUND, 0.9), (ERROR, 0.2)])
    without_words = replace(whole, rankings={"dense": whole.rankings["dense"]}, down={"bm25": "late"})
    without_dense = replace(whole, rankings={"bm25": whole.rankings["bm25"]}, down={"dense": "late"})
    unranked = replace(whole, evidence=tuple(replace(e, rerank=None) for e in whole.evidence))
    nothing = replace(whole, evidence=(), down={"rerank": "NaN"})
    for broken, name in (
        (without_words, "bm25_lead"),
        (without_dense, "dense_top"),
        (unranked, "rerank_margin"),
        (nothing, "rerank_lead"),
    ):
        gate = model().judge(broken)
        assert gate.features[name] is None
        assert (gate.outcome, gate.reason) == (Outcome.REFUSE, GateReason.CHANNEL_DOWN)


def test_a_passage_outside_a_channels_ranking_is_measured_from_below() -> None:
    """The best passage that word search did not find scores 0 there; its cosine is at most the last one ranked."""
    search = found(make_query("退款"), [(REFUND, 0.9), (ERROR, 0.2)], bm25=[], dense=[(ERROR.id, 0.88)])
    features = model().judge(search).features
    assert features["bm25_top"] == 0.0
    assert features["dense_top"] == 0.88
    assert features["agreement"] == 0.0


@pytest.mark.parametrize(
    ("question", "top", "reason"),
    [
        ("ERR_2048怎么办", ERROR, None),
        ("ERR_2050怎么办", ERROR, GateReason.CODE_UNCOVERED),
        ("ERR_2049怎么办", ERROR, GateReason.CODE_UNCOVERED),
        ("退款到账几次", REFUND, GateReason.SLOT_MISSING),
        ("退款几天到账", REFUND, None),
        ("我要投诉", PERSON, GateReason.MUST_HANDOFF),
    ],
)
def test_what_no_score_overrules(question: str, top: Passage, reason: GateReason | None) -> None:
    """With the best scores there are, a code not held, a figure not stated and a topic for a person are refused."""
    others = [(p, 0.1) for p in PASSAGES if p is not top]
    gate = model().judge(found(make_query(question), [(top, 0.99), *others]))
    assert gate.reason is reason
    assert gate.outcome is (Outcome.ANSWER if reason is None else Outcome.REFUSE)


def test_a_near_second_that_belongs_to_a_person_decides() -> None:
    """Where a topic for a person scores as well as the best passage, a person takes it; far below it does not."""
    near = model().judge(found(make_query("退款投诉"), [(REFUND, 0.6), (PERSON, 0.59)]))
    far = model().judge(found(make_query("退款投诉"), [(REFUND, 0.6), (PERSON, 0.3)]))
    assert near.reason is GateReason.MUST_HANDOFF
    assert far.features["must_handoff"] == 0.0


def test_a_topic_for_a_person_near_in_meaning_makes_the_answer_a_risk() -> None:
    """想转到我名下 has the words of porting a number: what ranks first stays, but takes a surer answer."""
    query, listed = make_query("退款投诉"), [(REFUND, 0.6), (ERROR, 0.4), (PERSON, 0.3)]
    near = model().judge(found(query, listed))
    far = model().judge(
        found(query, listed, dense=[("x", 0.9), ("y", 0.9), ("refund", 0.8), ("complaint", 0.7)])
    )
    assert (near.features["risk"], far.features["risk"]) == (1.0, 0.0)
    assert near.features["must_handoff"] == 0.0


def test_an_empty_search_is_told_apart() -> None:
    """Nothing asked, nothing indexed, and a code in an empty result are three different reasons."""
    nothing = Found(make_query(""), {}, [], ())
    assert model().judge(nothing).reason is GateReason.EMPTY_QUERY
    assert model().judge(Found(make_query("退款"), {}, [], ())).reason is GateReason.NO_INDEX
    bare = Found(make_query("ERR_2048"), {"bm25": [], "dense": []}, [], (), searched=5)
    assert model().judge(bare).reason is GateReason.CHANNEL_DOWN


def test_confidence_comes_with_a_spoken_question_only() -> None:
    """A typed question has none and is not held against it; a badly heard one is asked again whatever was found."""
    search = found(make_query("退款几天到账"), [(REFUND, 0.9), (ERROR, 0.1)])
    assert model().judge(search).outcome is Outcome.ANSWER
    assert model().judge(search, 0.2).reason is GateReason.ASR_LOW
    assert model().judge(search, 0.9).features["transcript"] == 0.9


def test_how_far_the_best_passage_answers_is_asked_of_the_whole_question() -> None:
    """A follow-up is read behind the question it leans on, against the best passage alone."""
    asked: list[tuple[str, list[str]]] = []

    class Listening(Reads):
        def logits(self, question: str, texts: Sequence[str]) -> list[float]:
            asked.append((question, list(texts)))
            return [0.5]

    query = make_query("那几天", ("退款到账吗", "退款在3个工作日内到账。"))
    gate = GateModel(KNOWN, Ruler(scale="unit"), PLAIN, reader=Listening())
    assert gate.judge(found(query, [(REFUND, 0.9), (ERROR, 0.2)])).features["answers"] == 0.5
    assert asked == [("退款到账吗，那几天", [document_text(REFUND)])]


def test_a_reader_that_fails_or_is_missing_refuses_unless_thresholds_do_without() -> None:
    """Its feature is then None: CHANNEL_DOWN, but for thresholds that were set without it."""

    class Broken(Reads):
        def logits(self, question: str, texts: Sequence[str]) -> list[float]:
            raise ModelError("gone")

    seen = found(make_query("退款"), [(REFUND, 0.9), (ERROR, 0.2)])
    for reader in (None, Broken()):
        gate = GateModel(KNOWN, Ruler(scale="unit"), PLAIN, reader=reader)
        assert gate.judge(seen).reason is GateReason.CHANNEL_DOWN
        without = gate.with_thresholds({**PLAIN, "without_answers": 1.0})
        assert without.judge(seen).outcome is Outcome.ANSWER
