"""An answer under way: marks, conditions that follow, the fallback, the refusal, and what is told of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from retrieval.types import Evidence, Passage, PassageId, VerdictReason
from tests.voice_agent.answering import (
    AMPLE,
    DAY,
    FREIGHT,
    QUESTION,
    REFUND,
    SAMPLING,
    Heard,
    ScriptedLlm,
    answerer,
    by_llm,
    extractive,
    hear,
)
from voice_agent.call.clock import WallClock
from voice_agent.reply.answer import Asked
from voice_agent.reply.asked import Answered, answered
from voice_agent.reply.breaker import BreakerRules
from voice_agent.reply.draft import Writers
from voice_agent.reply.generation import LlmGenerator
from voice_agent.reply.llm import LlmError, LlmFault
from voice_agent.reply.prompt import NOT_FOUND

RETURN = Passage(PassageId("return"), "签收后15天内可以无理由退货。定制商品除外。", "无理由退货")
BROKEN = LlmError(LlmFault.SERVER, "out of memory")


def said(*pieces: Any, passages: Sequence[Passage] = (REFUND, FREIGHT), attribute: bool = False) -> Heard:
    return hear(answerer(by_llm(ScriptedLlm(*pieces)), passages, attribute=attribute))


def test_a_missing_mark_halts() -> None:
    """By default a sentence that names no passage is not spoken."""
    assert said("退款在审核通过后3天内到账。").reasons == [VerdictReason.NO_CITE]


def test_a_missing_mark_is_attributed() -> None:
    """In attribute mode the passage that carries it is found, and named in the record."""
    heard = said("退货运费由买家承担。", attribute=True)
    assert heard.passed == ["退货运费由买家承担。[S2]"]
    assert heard.sentences[0].evidence == (("S2", FREIGHT),)


@pytest.mark.parametrize(
    "sentence", ["退款在审核通过后5天内到账。", "退货运费由卖家承担。", "您可以找人工。", NOT_FOUND]
)
def test_attribution_passes_nothing_by_itself(sentence: str) -> None:
    """No passage passes the full check with it: blocked as unmarked, each passage's reason kept."""
    heard = said("退款原路退回。[S1]", sentence, attribute=True)
    assert heard.reasons == [None, VerdictReason.NO_CITE]
    if sentence != NOT_FOUND:
        assert "S1 " in heard.sentences[-1].verdict.detail and "S2 " in heard.sentences[-1].verdict.detail


@pytest.mark.parametrize("sentence", ["退货运费由买家承担。[S9]", "退货运费由买家承担。[1]"])
def test_a_wrong_mark_is_not_a_missing_one(sentence: str) -> None:
    """An id of another turn or of another form is blocked in both modes (B8 36, 37)."""
    assert said(sentence, attribute=True).reasons == [VerdictReason.BAD_ID]


def test_a_condition_that_follows_is_waited_for() -> None:
    """可以退 alone misleads; with the exception behind it both are given out, in order, as one decision."""
    both = "签收后15天内可以无理由退货。[S1]", "定制商品除外。[S1]"
    assert said(*both, passages=(RETURN,)).passed == list(both)
    assert said(both[0], passages=(RETURN,)).reasons == [VerdictReason.SCOPE_DROPPED]


def test_a_condition_without_marks_is_waited_for_too() -> None:
    """A weak model marks only its last sentence, or none: rule and exception are found their passage together."""
    both = "签收后15天内可以无理由退货。", "定制商品除外。"
    heard = said(*both, passages=(FREIGHT, RETURN), attribute=True)
    assert heard.passed == [f"{sentence}[S2]" for sentence in both]
    assert said(*both, passages=(RETURN,)).reasons == [VerdictReason.NO_CITE]


def test_a_forgotten_condition_is_said_in_its_passages_words() -> None:
    """In attribute mode the exception that a model left out is spoken behind its rule, checked like any sentence; what
    the model goes on with is judged after the two, and what it says of the exception is not said twice.
    """
    rule, exception = "签收后15天内可以无理由退货。", "定制商品除外。"
    assert said(rule, passages=(FREIGHT, RETURN), attribute=True).passed == [
        f"{rule}[S2]",
        f"{exception}[S2]",
    ]
    assert said(f"{rule}[S1]", passages=(RETURN,)).reasons == [VerdictReason.SCOPE_DROPPED]
    further = said(f"{rule}[S1]", "签收后16天内可以无理由退货。[S1]", passages=(RETURN,), attribute=True)
    assert further.passed == [f"{rule}[S1]", f"{exception}[S1]"]
    assert further.reasons == [None, None, VerdictReason.NUM_UNSUPPORTED]


def test_the_bound_cuts_off_no_condition() -> None:
    """The third sentence would have held the condition of the second: it is said with it all the same."""
    text = "退货须在15天内申请。签收后可以无理由退货。定制商品除外。"
    passage = Passage(PassageId("return"), text, "无理由退货")
    three = [f"{sentence}。[S1]" for sentence in text.split("。")[:-1]]
    assert said(*three, passages=(passage,), attribute=True).passed == three
    assert said(*three, passages=(passage,)).reasons == [None, VerdictReason.SCOPE_DROPPED]


@pytest.mark.parametrize("sentence", ["定制商品可以无理由退货。[S1]", "定制商品签收后15天内可以退货。"])
def test_an_exception_said_as_the_rule_is_not_mended(sentence: str) -> None:
    """What its passage takes out cannot be said and then taken back."""
    assert said(sentence, passages=(RETURN,), attribute=True).passed == []
    assert said(sentence, "定制商品除外。[S1]", passages=(RETURN,), attribute=True).passed == []


def test_a_sentence_copied_from_another_passage_than_it_names() -> None:
    """Word for word in one passage only: the mark was a slip, in attribute mode; by default it halts."""
    copied = "退货运费由买家承担。[S1]"
    assert said(copied, attribute=True).passed == ["退货运费由买家承担。[S2]"]
    assert len(said(copied).passed) == 0


@pytest.mark.parametrize(
    "sentence", ["退货的运费由买家承担。[S1]", "退货运费由卖家承担。[S1]", "退货运费由买家承担。[S9]"]
)
def test_a_wrong_mark_is_put_right_only_for_a_copy(sentence: str) -> None:
    """In other words, with another word, or with a mark of nothing it stays blocked."""
    assert said(sentence, attribute=True).passed == []


def test_a_copy_that_two_passages_hold_is_not_assigned() -> None:
    """Which of them is meant is not for us to guess."""
    twins = (REFUND, FREIGHT, Passage(PassageId("twin"), FREIGHT.text, "换货运费"))
    assert said("退货运费由买家承担。[S1]", passages=twins, attribute=True).passed == []


def test_a_condition_that_fails_takes_its_rule_along() -> None:
    """Where the sentence that should hold the condition is itself blocked, nothing of the two is spoken."""
    heard = said("签收后15天内可以无理由退货。[S1]", "定制商品9天除外。[S1]", passages=(RETURN,))
    assert heard.passed == [] and heard.reasons == [VerdictReason.SCOPE_DROPPED]


def test_the_number_of_a_list_is_no_figure() -> None:
    """1. in front of a sentence is neither judged nor spoken; a figure in front is both."""
    assert said("1. 退款原路退回。[S1]\n2、退款原路退回。[S1]").passed == ["退款原路退回。[S1]"] * 2
    assert said("9天退款原路退回。[S1]").reasons == [VerdictReason.NUM_UNSUPPORTED]


def test_extracts_are_checked_as_the_whole_they_are() -> None:
    """Without a model the same law holds: rule and exception pass together, a rule without its exception does not."""
    assert hear(answerer(extractive(), (RETURN,))).passed == [
        "签收后15天内可以无理由退货。[S1]",
        "定制商品除外。[S1]",
    ]
    assert hear(answerer(extractive(max_sentences=1), (RETURN,))).reasons == [VerdictReason.SCOPE_DROPPED]


def test_not_in_the_documents_is_a_refusal() -> None:
    """The fixed phrase is not spoken and not even checked; nothing falls back, for the model did answer."""
    heard = said(NOT_FOUND)
    assert heard.sentences == [] and [kind for kind, _ in heard.told] == ["prompt"]


def test_at_most_so_many_sentences() -> None:
    """A model that goes on is stopped after answer.max_sentences, and its stream is closed."""
    llm = ScriptedLlm(*["退款原路退回。[S1]"] * 9)
    assert len(hear(answerer(by_llm(llm))).passed) == 2 and llm.closed == 1


def test_a_fault_before_the_first_sentence_falls_back() -> None:
    """What was half written is dropped, the extract follows, and the journal is told once why."""
    heard = said("退款在", BROKEN)
    assert heard.passed == ["退款在审核通过后3天内到账。[S1]", "退款原路退回。[S1]"]
    assert [kind for kind, _ in heard.told] == ["prompt", "fallback"]
    assert heard.told[1][1] == {"to": "extractive", "reason": "LLM_SERVER", "detail": "out of memory"}


def test_a_fault_after_a_sentence_is_raised() -> None:
    """No second voice: the call's reply boundary turns it into a hand-off."""
    heard = said("退款原路退回。[S1]", "退", BROKEN)
    assert heard.passed == ["退款原路退回。[S1]"] and heard.fault is BROKEN


def test_thinking_without_its_opening_tag_is_taken_back() -> None:
    """What turns out to be thinking is not spoken if it was not yet; if it was, that is a fault."""
    assert said("三天吧</think>退款原路退回。[S1]").passed == ["退款原路退回。[S1]"]
    late = said("退款原路退回。[S1]", "退", "</think>退款原路退回。[S1]")
    assert isinstance(late.fault, LlmError) and late.fault.fault is LlmFault.GARBLED


def test_the_breaker_leaves_a_broken_server_alone() -> None:
    """After three faults the model is not asked for a while; then one trial decides."""
    now, llm = [0.0], ScriptedLlm(BROKEN)
    generator = LlmGenerator(llm, SAMPLING, AMPLE, BreakerRules(3, 30.0), lambda: now[0])
    parts = answerer(Writers(generator, extractive(), 2))
    reasons = [hear(parts).told[-1][1]["reason"] for _ in range(5)]
    assert reasons == ["LLM_SERVER"] * 3 + ["LLM_RESTING"] * 2 and len(llm.prompts) == 3
    now[0] = 31.0
    llm.pieces = ("退款原路退回。[S1]",)
    assert [kind for kind, _ in hear(parts).told] == ["prompt"]
    assert hear(parts).passed == ["退款原路退回。[S1]"]


def test_a_caller_who_leaves_closes_the_stream() -> None:
    """Cancelled in the middle, the model is told to stop and the breaker counts nothing."""

    class Silent(ScriptedLlm):
        async def stream(self, *_: Any) -> AsyncGenerator[str, None]:  # type: ignore[override]
            try:
                await asyncio.Event().wait()
                yield ""
            finally:
                self.closed += 1

    llm = Silent()
    parts = answerer(by_llm(llm))

    async def leave() -> None:
        async with aclosing(parts.begin(Asked(QUESTION, DAY), WallClock().job())) as answering:
            await answering.look()
            async with asyncio.timeout(0.05):
                await answering.next_sentence()

    with pytest.raises(TimeoutError):
        asyncio.run(leave())
    assert llm.closed == 1


def ask(*pieces: Any, fallback: bool = True) -> Answered:
    writers = by_llm(ScriptedLlm(*pieces))
    parts = answerer(writers if fallback else Writers(writers.first))

    async def walk() -> Answered:
        async with aclosing(parts.begin(Asked(QUESTION, DAY), WallClock().job())) as answering:
            return await answered(answering, 0.0)

    return asyncio.run(walk())


def test_a_typed_question_meets_a_fault_as_a_refusal() -> None:
    """`ask` never raises for a model: the kind of fault is the reason, and half an answer is taken back."""
    reply = ask("退款原路退回。[S1]", "退", BROKEN)
    assert (reply.status, reply.reason) == ("refused", "LLM_SERVER") and reply.evidence == ()
    assert ask(BROKEN, fallback=False).reason == "LLM_SERVER"
    assert ask("退款原路退回。[S1]").answer == "退款原路退回。"


def test_no_evidence_no_model() -> None:
    """An evidence of nothing is never sent (B8 23)."""
    llm = ScriptedLlm("三天。[S1]")

    async def run() -> None:
        evidence: Mapping[str, Evidence] = {}
        async with aclosing(LlmGenerator(llm, SAMPLING, AMPLE).stream(QUESTION, evidence)) as pieces:
            await anext(pieces)

    with pytest.raises(LlmError):
        asyncio.run(run())
    assert llm.prompts == []
