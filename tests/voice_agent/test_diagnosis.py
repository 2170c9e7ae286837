"""Laws of the diagnosis: the first layer that lost the expected passage, and what would have kept it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.voice_agent.answering import FREIGHT, REFUND
from tests.voice_agent.failing_calls import named, record
from voice_agent.record.call_record import RankedRecord, TurnRecord
from voice_agent.record.diagnosis import CITABLE, LAYERS, Diagnosed, Loss, Wanted, diagnose, losses, worst
from voice_agent.record.inspection import read_call
from voice_agent.reply.answer import EVIDENCE_SHOWN

WANTED = Wanted((str(REFUND.id),))


def turn_of(folder: Path, name: str) -> TurnRecord:
    return read_call(record(folder, named(name))).turns[0]


@pytest.mark.parametrize(
    ("name", "layer", "detail", "remedy"),
    [
        ("asr", "asr", "broken ears", "listen"),
        ("recall", "recall", "dense: late", "channels up"),
        ("recall_empty", "recall", "not among the first 0", "in the passage"),
        ("rerank", "rerank", "rank 2, and the gate judged the first, behind freight", "reranker up"),
        ("gate_feature", "gate", "slot_stated: 0, needed 1", "states the asked figure"),
        ("gate_threshold", "gate", "needed 0.75", "thresholds.answer of at most 0.609"),
        ("generate", "generate", "gone", "a sentence from this passage"),
        ("check", "check", "NUM_UNSUPPORTED", "no more than its passage"),
        ("speech", "speech", "no voice today", "played to its end"),
    ],
)
def test_the_layer_that_lost_the_passage_is_named(
    tmp_path: Path, name: str, layer: str, detail: str, remedy: str
) -> None:
    """Over real journals: the layer, the fact that shows it, and what would have kept the passage."""
    loss = diagnose(turn_of(tmp_path, name), WANTED)
    assert loss is not None and loss.layer == layer
    assert detail in loss.detail and remedy in loss.remedy


def test_what_was_kept_has_no_loss(tmp_path: Path) -> None:
    """An answer from the expected passage, any of several."""
    turn = turn_of(tmp_path, "fine")
    assert diagnose(turn, WANTED) is None
    assert diagnose(turn, Wanted(("other", str(REFUND.id)))) is None


def test_another_passage_cited_is_the_generators_loss(tmp_path: Path) -> None:
    """It lay before the generator, which spoke from another."""
    loss = diagnose(turn_of(tmp_path, "fine"), Wanted((str(FREIGHT.id),)))
    assert loss == Loss("generate", "cited refund instead", "a sentence from this passage")


def test_an_answer_to_what_must_be_refused_is_the_gates_loss(tmp_path: Path) -> None:
    """And a refusal, or an answer that nobody heard, is none."""
    loss = diagnose(turn_of(tmp_path, "fine"), Wanted(()))
    assert loss is not None and loss.layer == "gate" and "thresholds.answer above 0.999" in loss.remedy
    assert diagnose(turn_of(tmp_path, "gate_feature"), Wanted(())) is None
    assert diagnose(turn_of(tmp_path, "speech"), Wanted(())) is None


def test_lost_in_fusion_and_heard_wrong(tmp_path: Path) -> None:
    """Found by a channel and not fused; found by none, and other words were said than heard."""
    turn = turn_of(tmp_path, "gate_feature")
    found = (RankedRecord("x", 1, 1.0), RankedRecord("y", 2, 0.5))
    seen = replace(turn, channels={"bm25": found, "dense": ()})
    loss = diagnose(seen, Wanted(("y",)))
    assert loss is not None and (loss.layer, loss.remedy) == ("fusion", "more weight for bm25")
    unseen = diagnose(seen, Wanted(("z",), said="退宽多久到战"))
    assert unseen is not None and unseen.layer == "asr" and "退宽多久到战" in unseen.detail
    same = diagnose(seen, Wanted(("z",), said="退款多久到账？"))
    assert same is not None and same.layer == "recall", "equal but for its marks was heard right"


def test_losses_are_counted_and_the_worst_come_first() -> None:
    """Every layer has a place; the same question with other marks is the same."""
    lost, kept = Loss("gate", "", ""), None
    rows = [
        Diagnosed("a", 1, "退款多久", ("x",), lost),
        Diagnosed("a", 2, "运费谁出", ("x",), kept),
        Diagnosed("b", 1, "退款多久？", ("x",), Loss("asr", "", "")),
        Diagnosed("c", 1, "发票", ("x",), lost),
    ]
    assert losses(rows) == {**dict.fromkeys(LAYERS, 0), "asr": 1, "gate": 2}
    first, second = worst(rows)
    assert (first.question, first.lost, first.asked, first.layers) == ("退款多久", 2, 2, ("asr", "gate"))
    assert (second.question, second.lost) == ("发票", 1)


def test_as_many_are_citable_as_an_answer_may_cite() -> None:
    """The record states the number itself, so that reading a journal loads no model."""
    assert CITABLE == EVIDENCE_SHOWN
