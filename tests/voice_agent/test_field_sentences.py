"""Faults of other systems' sentence splitters, citations and guards: each is named by what must not happen here."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.types import Passage, PassageId, VerdictReason
from tests.voice_agent.answering import (
    DAY,
    FREIGHT,
    QUESTION,
    REFUND,
    OneScale,
    ScriptedLlm,
    answerer,
    by_llm,
    hear,
)
from voice_agent import phrases
from voice_agent.call.clock import WallClock
from voice_agent.reply.answer import Asked
from voice_agent.reply.asked import Answered, answered
from voice_agent.reply.checker import Checker
from voice_agent.reply.prompt import NOT_FOUND
from voice_agent.reply.sentences import MAX_SENTENCE, SentenceBuffer
from voice_agent.reply.spoken import spoken_form


def cut(*pieces: str) -> list[str]:
    buffer = SentenceBuffer()
    return [sentence for piece in pieces for sentence in buffer.feed(piece)] + buffer.finish()


@pytest.mark.parametrize(
    ("system", "text", "sentences"),
    [
        ("pipecat", "订单已发货。[S1]请留意。", ["订单已发货。[S1]", "请留意。"]),
        ("pipecat", "他说“可以。”请放心。", ["他说“可以。”请放心。"]),
        ("pipecat", "1. 打开设置。", ["1. 打开设置。"]),
        ("livekit", "他说「可以退……」。好。", ["他说「可以退……」。", "好。"]),
        ("livekit", "见V2.3.1和a.cn的说明。好。", ["见V2.3.1和a.cn的说明。", "好。"]),
        ("livekit", "可以；不过要快。", ["可以；", "不过要快。"]),
        ("RealtimeTTS", "可以吗？可以！好的。", ["可以吗？", "可以！", "好的。"]),
        ("xiaozhi", "共1,299元，10：30开门。", ["共1,299元，10：30开门。"]),
        ("Open-LLM-VTuber", "好的，可以退货，请放心。", ["好的，可以退货，请放心。"]),
    ],
)
def test_where_other_splitters_cut_wrongly(system: str, text: str, sentences: list[str]) -> None:
    """A2: what each of them broke is whole here, in one piece and character by character."""
    assert cut(text) == cut(*text) == sentences, system


def test_a_chinese_answer_is_not_held_to_its_end() -> None:
    """A7 8: the first sentence is out as soon as the second begins."""
    buffer = SentenceBuffer()
    assert buffer.feed("退款三天到账。") == []
    assert buffer.feed("原") == ["退款三天到账。"]


@pytest.mark.parametrize("closer", ["”", "’", "」", "』", "）", "】", "》", ")", '"'])
def test_closers_go_with_their_sentence(closer: str) -> None:
    """A7 9: none of them begins the next sentence."""
    assert cut(f"到账了。{closer}好。") == [f"到账了。{closer}", "好。"]


@pytest.mark.parametrize("text", ["一共是3. 好", "一共是3.\n好", "Total is 3. Good"])
def test_a_sentence_may_end_in_a_figure(text: str) -> None:
    """A7 10: a full stop behind a figure ends it before a blank; inside 3.5 it does not."""
    assert len(cut(text)) == 2
    assert len(cut("一共是3.5元")) == 1


def test_a_long_sentence_is_refused_and_never_cut_in_a_figure() -> None:
    """A7 11: there is no cap that could cut 12 from 1234; what has no end is not spoken at all."""
    heard = hear(answerer(by_llm(ScriptedLlm(f"{'退款原路退回，' * 22}一共1234元。[S1]"))))
    assert heard.passed == [] and heard.reasons[0] is not None
    assert len(cut("长" * MAX_SENTENCE + "短。")) == 2


@pytest.mark.parametrize(
    "told", ["ID 1提到退款原路退回。", "Document 0：退款原路退回。", "退款原路退回。[ID:0]"]
)
def test_ids_in_prose_are_never_heard(told: str) -> None:
    """B8 28, 35: a form that is none of ours blocks the sentence, also beside a good mark."""
    assert hear(answerer(by_llm(ScriptedLlm(f"{told}[S1]")))).reasons == [VerdictReason.BAD_ID]


def test_a_right_answer_with_a_wrong_citation() -> None:
    """B8 29: what another passage says is not said by the cited one."""
    heard = hear(answerer(by_llm(ScriptedLlm("退货的运费是由买家承担的。[S1]"))))
    assert heard.passed == [] and heard.reasons[0] is not None


def test_a_citation_stays_with_its_sentence() -> None:
    """B8 26, 27: each sentence carries its own passages, not those of its place in the list."""
    heard = hear(answerer(by_llm(ScriptedLlm("退货运费由买家承担。[S2]退款原路退回。[S1]"))))
    assert [sentence.evidence for sentence in heard.sentences] == [(("S2", FREIGHT),), (("S1", REFUND),)]


@pytest.mark.parametrize("told", [NOT_FOUND, "退款在审核通过后8天内到账。[S1]"])
def test_a_refusal_lists_no_sources(told: str) -> None:
    """B8 31, 56: it rests on nothing and says the one fixed phrase, with its true reason beside it."""

    async def walk() -> Answered:
        parts = answerer(by_llm(ScriptedLlm(told)))
        async with aclosing(parts.begin(Asked(QUESTION, DAY), WallClock().job())) as answering:
            return await answered(answering, 0.0)

    refused = asyncio.run(walk())
    assert (refused.status, refused.evidence, refused.answer) == ("refused", (), phrases.HANDOFF)


def test_answers_do_not_share_their_stream() -> None:
    """B8 42: two answers read in turns keep their sentences apart."""
    one, other = SentenceBuffer(), SentenceBuffer()
    found = [one.feed("退款"), other.feed("运费"), one.feed("原路退回。"), other.feed("由买家承担。")]
    assert found == [[], [], [], []]
    assert (one.finish(), other.finish()) == (["退款原路退回。"], ["运费由买家承担。"])


@pytest.mark.parametrize(
    ("text", "count"),
    [("退款原路退回。三天到账", 2), ("请用VPN 2.0登录。Then call us. 好的", 3), ("没有句号", 1)],
)
def test_sentences_of_every_language_are_kept(text: str, count: int) -> None:
    """B8 43: Chinese, mixed, and without a last full stop: none vanishes."""
    assert len(cut(text)) == count and "".join(cut(text)) == text


def test_markup_hides_no_figure() -> None:
    """B8 46: **999** is read as 999 by the check, and the voice says no star."""
    passage = Passage(PassageId("free"), "移动端满999元包邮。")
    right = hear(answerer(by_llm(ScriptedLlm("移动端满**999**元包邮。[S1]")), (passage, FREIGHT)))
    assert len(right.passed) == 1 and spoken_form(right.passed[0]) == "移动端满九百九十九元包邮。"
    wrong = hear(answerer(by_llm(ScriptedLlm("移动端满**899**元包邮。[S1]")), (passage, FREIGHT)))
    assert wrong.reasons == [VerdictReason.NUM_UNSUPPORTED]


def test_a_figure_of_no_passage() -> None:
    """B8 48: it is blocked whatever else is right."""
    heard = hear(answerer(by_llm(ScriptedLlm("退款在审核通过后8天内到账。[S1]"))))
    assert heard.reasons == [VerdictReason.NUM_UNSUPPORTED]


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_a_model_that_measures_nothing_blocks(score: float) -> None:
    """B8 15, 39: NaN is neither near nor far."""
    checker = Checker(OneScale(score), 0.5)
    verdict = checker.check("退款原路退回。[S1]", "", {"S1": REFUND}, DAY)
    assert verdict.reason is VerdictReason.CHECK_ERROR


@given(st.lists(st.text(max_size=40), max_size=8))
@settings(deadline=None)
def test_any_text_at_all_is_cut_without_loss(pieces: list[str]) -> None:
    """Arbitrary Unicode in arbitrary pieces: the sentences joined are the stream, and the cut does not matter."""
    found = cut(*pieces)
    assert "".join("".join(found).split()) == "".join("".join(pieces).split())
    assert found == cut("".join(pieces))
