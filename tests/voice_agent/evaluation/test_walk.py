"""A question walked to its end: what was found, said and spent is kept, and each fault has one name."""

from __future__ import annotations

import asyncio

import pytest

from retrieval.types import Outcome, VerdictReason
from tests.voice_agent.evaluation.results import ScriptedAnswers, checked, question, result
from voice_agent.evaluation.recordings import Heard
from voice_agent.evaluation.walk import walk

SAID = [checked("一。[S1]"), checked("二。[S9]", VerdictReason.BAD_ID), checked("三。[S1]")]


def test_a_walk_keeps_every_stage_and_goes_on_behind_a_blocked_sentence() -> None:
    """Rankings of channels, fusion and reranking; all sentences; the times of the stages; the walk is closed."""
    answers = ScriptedAnswers({"甲": (["b", "a"], ["c", "a"], ["a", "b"], Outcome.ANSWER, SAID)})
    heard = Heard("甲", "甲", 0.9, 700.0)
    found = asyncio.run(walk(question("1"), answers, heard))
    assert found.rankings == {"dense": ("b", "a"), "fused": ("c", "a"), "reranked": ("a", "b", "c")}
    assert [c.text for c in found.sentences] == ["一。[S1]", "二。[S9]", "三。[S1]"]
    assert found.shown == ("a", "b") and found.top == "a"
    assert {"dense", "look", "generate", "asr"} <= found.timings_ms.keys()
    assert found.timings_ms["look"] == 5.0 and found.timings_ms["asr"] == 700.0
    assert answers.closed == 1


@pytest.mark.parametrize(
    ("expect", "outcome", "shown", "sentences", "erred"),
    [
        ([], Outcome.ANSWER, ["a"], [checked("一。[S1]")], "false_accept"),
        ([], Outcome.REFUSE, ["a"], [], None),
        ([], Outcome.CLARIFY, ["a"], [], None),
        (["a"], Outcome.ANSWER, ["b", "a"], [checked("一。[S1]")], "wrong_answer"),
        (["a"], Outcome.ANSWER, ["a"], SAID, "withheld"),
        (["a"], Outcome.ANSWER, ["a"], [], "withheld"),
        (["a"], Outcome.ANSWER, ["a"], SAID[:1], None),
        (["a"], Outcome.REFUSE, ["a"], [], "false_reject"),
        (["a"], Outcome.CLARIFY, ["a"], [], "asked_back"),
    ],
)
def test_every_fault_has_one_name(
    expect: list[str], outcome: Outcome, shown: list[str], sentences: list[object], erred: str | None
) -> None:
    """By label, decision, first passage and verdicts; asking back of what must be refused is no fault."""
    assert result(question("1", expect=expect), outcome, shown, sentences).erred == erred  # type: ignore[arg-type]
