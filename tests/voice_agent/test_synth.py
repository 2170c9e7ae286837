"""Cold-start questions: what a model invents is dropped by the guard, what it quotes is kept."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from retrieval.citations import check
from retrieval.types import Passage, PassageId, Verdict
from voice_agent.config import load_config
from voice_agent.doors import synth as door
from voice_agent.errors import AgentError, ConfigError
from voice_agent.evaluation.questions import load_questions
from voice_agent.synth import MAX_REPLY, Refused, Streamed, Synthesis, Triple, pairs_in, prompt_of

DAY = date(2026, 11, 30)
REFUND = Passage(
    PassageId("refund"), "退款在审核通过后3个工作日内到账。退款不收手续费。", "退款", source="manual.md"
)
POINTS = Passage(PassageId("points"), "积分有效期为12个月。", "积分", source="manual.md")


class RulesOnly:
    """The real sentence check without its model."""

    def check(self, sentence: str, question: str, evidence: Mapping[str, Passage], as_of: date) -> Verdict:
        return check(sentence, question, evidence, as_of)


class ScriptedWriter:
    """Answers by the passage's title in the prompt; an exception is raised."""

    def __init__(self, script: Mapping[str, str | Exception]) -> None:
        self.script = script
        self.prompts: list[str] = []

    async def complete(self, prompt: str) -> str:
        self.prompts.append(prompt)
        text = next(text for title, text in self.script.items() if f"标题：{title}\n" in prompt)
        if isinstance(text, Exception):
            raise text
        return text


def pair(question: str, answer: str) -> str:
    return json.dumps({"question": question, "answer": answer}, ensure_ascii=False)


def find(question: str, as_of: date) -> Sequence[PassageId]:
    return [REFUND.id] if "退款" in question else [POINTS.id]


def made(writer: ScriptedWriter, *passages: Passage, per_passage: int = 3) -> list[Triple | Refused]:
    async def run() -> list[Triple | Refused]:
        synthesis = Synthesis(writer, find, RulesOnly(), DAY, per_passage)
        return [fate async for fate in synthesis.run(passages)]

    return asyncio.run(run())


def test_a_quoted_answer_to_a_question_that_finds_its_passage_is_kept() -> None:
    """Question, answer and source; a fence and a remark around the JSON do not matter, nor a mark in the answer."""
    text = f"好的：\n```json\n{pair('退款多久到账', '退款在审核通过后3个工作日内到账。[S1]')}\n```"
    (kept,) = made(ScriptedWriter({"退款": text}), REFUND)
    assert isinstance(kept, Triple)
    assert (kept.question, kept.answer) == ("退款多久到账", "退款在审核通过后3个工作日内到账。")
    assert (kept.passage, kept.source) == ("refund", "manual.md")


@pytest.mark.parametrize(
    ("question", "answer", "reason"),
    [
        ("退款多久到账", "退款在审核通过后5个工作日内到账。", "NUM_UNSUPPORTED"),
        ("退款收手续费吗", "退款收手续费。", "POLARITY"),
        ("积分多久过期", "退款不收手续费。", "NOT_FOUND"),
        ("退" * 90, "退款不收手续费。", "NOT_A_QUESTION"),
    ],
)
def test_what_the_guard_would_not_speak_is_not_kept(question: str, answer: str, reason: str) -> None:
    """A changed figure, a lost negation, a question that finds another passage, no question at all."""
    (fate,) = made(ScriptedWriter({"退款": pair(question, answer)}), REFUND)
    assert isinstance(fate, Refused) and fate.reason == reason, fate


def test_one_bad_sentence_drops_the_pair() -> None:
    """Every sentence is checked, not the first alone."""
    text = pair("退款多久到账", "退款在审核通过后3个工作日内到账。退款要收手续费。")
    (fate,) = made(ScriptedWriter({"退款": text}), REFUND)
    assert isinstance(fate, Refused)


def test_the_same_question_is_kept_once() -> None:
    """A question asked again, in other punctuation or of another passage, is a repeat."""
    text = "\n".join(pair(f"退款收手续费吗{mark}", "退款不收手续费。") for mark in ("", "？"))
    fates = made(ScriptedWriter({"退款": text}), REFUND)
    assert [type(fate) for fate in fates] == [Triple, Refused]
    assert isinstance(fates[1], Refused) and fates[1].reason == "REPEATED"


def test_a_model_that_fails_on_one_passage_does_not_end_the_run() -> None:
    """No answer and no JSON are counted by name, and the next passage is asked."""
    writer = ScriptedWriter({"退款": AgentError("server gone"), "积分": "我不会写 JSON"})
    assert [fate.reason for fate in made(writer, REFUND, POINTS) if isinstance(fate, Refused)] == [
        "NO_ANSWER", "NOT_JSON",
    ]  # fmt: skip


def test_passages_for_a_person_or_out_of_date_are_not_asked_about() -> None:
    """Nothing may be answered from them, so nothing is made of them."""
    writer = ScriptedWriter({"退款": ""})
    assert made(writer, replace(REFUND, must_handoff=True), replace(REFUND, valid_to=date(2026, 1, 1))) == []
    assert writer.prompts == []


def test_no_more_pairs_than_asked_for() -> None:
    """A model that writes on is cut; the prompt says how many."""
    text = "\n".join(pair(f"退款第{n}问", "退款不收手续费。") for n in range(9))
    assert len(made(ScriptedWriter({"退款": text}), REFUND, per_passage=2)) == 2
    assert " 2 " in prompt_of(REFUND, 2) and REFUND.text in prompt_of(REFUND, 2)


def test_odd_objects_are_left_out() -> None:
    """Missing or empty fields, other types and broken JSON are no pairs."""
    text = '{"question": "a"} {"question": 1, "answer": "b"} {"question": " ", "answer": "b"} {oops} ' + pair(
        "a", "b"
    )
    assert pairs_in(text) == [("a", "b")]


def test_a_stream_is_joined_bounded_and_closed() -> None:
    """Only texts are joined; a model that never stops is closed behind the bound."""
    closed = []

    async def stream(prompt: str) -> AsyncGenerator[object, None]:
        try:
            yield object()
            while True:
                yield "字" * 1000
        finally:
            closed.append(prompt)

    assert asyncio.run(Streamed(stream).complete("p")) == "字" * MAX_REPLY
    assert closed == ["p"]


def test_a_kept_triple_is_a_question_that_eval_reads(tmp_path: Path) -> None:
    """The file that synth writes is measured like any other."""
    (kept,) = made(ScriptedWriter({"退款": pair("退款收手续费吗", "退款不收手续费。")}), REFUND)
    assert isinstance(kept, Triple)
    path = tmp_path / "synth.jsonl"
    path.write_text(json.dumps(kept.as_row(), ensure_ascii=False), encoding="utf-8")
    (question,) = load_questions(path)
    assert (question.expect, question.asked.as_of, question.kind) == (("refund",), DAY, "synthetic")


def test_the_door_without_a_model_says_so() -> None:
    """The embedded generator only quotes: one line, no traceback, nothing loaded."""
    parser = argparse.ArgumentParser()
    door.add(parser.add_subparsers())
    args = parser.parse_args(["synth"])
    with pytest.raises(ConfigError, match="language model"):
        args.run(args)
    with pytest.raises(ConfigError):
        door.model_of(load_config())
