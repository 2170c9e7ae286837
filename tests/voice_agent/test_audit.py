"""Laws of the audit: the journal alone gives every decision again, and what it cannot give is never called the same."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from retrieval.gate import LATE_INTERACTION, decide
from retrieval.types import Passage, PassageId
from tests.voice_agent.answering import DAY, FREIGHT, QUESTION, REFUND, ScriptedLlm, answerer, by_llm, hear
from voice_agent.doors.cli import run
from voice_agent.record.audit import Judgement, redecide, reverify, what_if
from voice_agent.record.journal import Journal
from voice_agent.record.lines import read_lines
from voice_agent.record.schema import validate_event
from voice_agent.reply.basis import basis_of, facts_of
from voice_agent.reply.telling import decision_facts

SURE = {
    "asked": 1.0, "searched": 1.0, "codes_covered": 1.0, "slot_stated": 1.0, "conditions_met": 1.0, "consistent": 1.0,
    "rerank_margin": 0.5, "rerank_lead": 0.5, "dense_top": 0.9, "bm25_lead": 0.9, "agreement": 1.0, "answers": 2.0,
    "tellable": 1.0, "named": 1.0, "transcript": 0.9,
}  # fmt: skip

Edit = Callable[[dict[str, Any]], object]


def journal(folder: Path, *, answers: str = "", question: str = QUESTION, **features: float | None) -> Path:
    """A call of one turn: a gate of these features, and what a check of real rules said to `answers`."""
    with Journal(folder, "a", {"as_of": DAY}) as kept:
        kept.write("query", 1, 1, text=question, terms=[], codes=[], history=[], repairs=[])
        kept.write("gate", 1, 1, **decision_facts(decide({**SURE, **features}, LATE_INTERACTION)))
        for checked in hear(answerer(by_llm(ScriptedLlm(answers))), question).sentences if answers else ():
            verdict = checked.verdict
            assert checked.basis is not None
            facts = {"passed": verdict.passed, "reason": verdict.reason, "detail": verdict.detail}
            facts |= {"cited": verdict.cited, "ms": checked.ms, **facts_of(checked.basis, verdict)}
            kept.write("sentence", 2, 1, index=checked.index, text=checked.text, **facts)
            if verdict.passed:
                heard: dict[str, object] = {"start_s": 2, "end_s": 3, "complete": True, "source": "手册"}
                kept.write("spoken", 3, 1, index=checked.index, text=checked.text, **heard)
    for line in kept.path.read_text(encoding="utf-8").splitlines():
        assert validate_event(json.loads(line)) == []
    return kept.path


def edited(path: Path, kind: str, edit: Edit) -> Path:
    """The journal with its events of one kind changed."""
    events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for event in events:
        if event["type"] == kind:
            edit(event)
    path.write_text("".join(json.dumps(e, ensure_ascii=False) + "\n" for e in events), encoding="utf-8")
    return path


def judged(path: Path, what: str) -> list[Judgement]:
    return [one for one in redecide(read_lines(path)) if one.what == what]


FEATURES: tuple[dict[str, float | None], ...] = (
    {},
    {"dense_top": 0.1},
    {"answers": None},
    {"answers": math.nan},
    {"must_handoff": 1.0},
    {"transcript": 0.1},
    {"phonetic_up": None},
    {"slot_stated": 0.0},
    {"dense_top": 0.84, "rerank_margin": 0.01, "rerank_lead": 0.2},
)


@pytest.mark.parametrize("features", FEATURES)
def test_a_gate_is_decided_again_by_what_it_weighed(
    tmp_path: Path, features: dict[str, float | None]
) -> None:
    """Whatever it said: a feature that was not measured and one that was no number stay two things on disk."""
    (one,) = judged(journal(tmp_path, **features), "gate")
    assert (one.status, one.text) == ("same", QUESTION)


@pytest.mark.parametrize(
    ("edit", "status"),
    [
        (lambda e: e.update(outcome="REFUSE", reason="LOW_SCORE"), "changed"),
        (lambda e: e["features"].update(dense_top=0.1), "changed"),
        (lambda e: e["thresholds"].update(answer=0.999999), "changed"),
        (lambda e: e["thresholds"].pop("bias"), "incomplete"),
        (lambda e: e.update(truncated=True), "incomplete"),
        (lambda e: e.pop("features"), "changed"),
    ],
)
def test_a_gate_that_was_tampered_with_is_told(tmp_path: Path, edit: Edit, status: str) -> None:
    """Outcome, feature and threshold each; what is missing is not guessed."""
    (one,) = judged(edited(journal(tmp_path), "gate", edit), "gate")
    assert one.status == status
    assert one.status != "changed" or one.was != one.now


ANSWERS = (
    "退款在审核通过后3天内到账。[S1]",
    "退款在审核通过后5天内到账。[S1]",
    "退货运费由卖家承担。[S2]",
    "退款3天到账。",
    "退款在审核通过后3天内到账。[S9]",
    "退款在审核通过后3天内到账。[S1]退款原路退回。[S1]",
    "您好。",
)


@pytest.mark.parametrize("answers", ANSWERS)
def test_a_verdict_is_reached_again_from_the_journal_alone(tmp_path: Path, answers: str) -> None:
    """Passed or blocked by whichever rule, with its citations."""
    found = judged(journal(tmp_path, answers=answers), "sentence")
    assert found and [one.status for one in found] == ["same"] * len(found)


def _evidence(text: str) -> Edit:
    def edit(event: dict[str, Any]) -> None:
        event["evidence"][0]["text"] = text

    return edit


@pytest.mark.parametrize(
    ("edit", "status"),
    [
        (_evidence("退款在审核通过后9天内到账。"), "changed"),
        (lambda e: e.update(text="退款在审核通过后2天内到账。[S1]"), "changed"),
        (lambda e: e.update(relevance={"S1": 0.1}), "changed"),
        (lambda e: e.update(relevance={}), "changed"),
        (lambda e: e.update(passed=False, reason="POLARITY"), "changed"),
        (lambda e: e.update(cited=["freight"]), "changed"),
        (lambda e: e["evidence"][0].update(valid_to="2026-01-01"), "changed"),
        (lambda e: e.pop("question"), "incomplete"),
        (lambda e: e.pop("others"), "incomplete"),
        (lambda e: e.update(as_of="soon"), "incomplete"),
        (lambda e: e.update(truncated=True), "incomplete"),
        (lambda e: e.update(text="退款在审核…[cut]"), "incomplete"),
    ],
)
def test_a_verdict_that_does_not_follow_is_told(tmp_path: Path, edit: Edit, status: str) -> None:
    """Sentence, evidence, day, nearness and verdict each matter; an older journal is incomplete, not wrong."""
    (one,) = judged(edited(journal(tmp_path, answers=ANSWERS[0]), "sentence", edit), "sentence")
    assert one.status == status


@pytest.mark.parametrize(
    ("edit", "status"),
    [
        (lambda e: e.update(text="请打〈PHONE:1〉。[S1]"), "masked"),
        (_evidence("退款在审核通过后〈NUMBER:1〉天内到账。"), "masked"),
        (_evidence("退款在审核通过后3天内到账。有事请找〈NAME:1〉。"), "same"),
        (lambda e: e.update(question="我叫〈NAME:1〉，退款多久到账"), "same"),
        (lambda e: e.update(before=["电话是〈PHONE:1〉。[S2]"]), "same"),
        (lambda e: e.update(question="我叫〈NAME:1〉，退款多久", passed=False, reason="POLARITY"), "masked"),
    ],
)
def test_where_a_masked_value_decided_it_says_so(tmp_path: Path, edit: Edit, status: str) -> None:
    """A masked value in the sentence was compared; elsewhere it did not decide only if any value there agrees."""
    (one,) = judged(edited(journal(tmp_path, answers=ANSWERS[0]), "sentence", edit), "sentence")
    assert one.status == status


def test_the_condition_that_stood_in_the_next_sentence_is_kept(tmp_path: Path) -> None:
    """`before` and `after` come back, each passage with its days, and the day that counted."""
    path = journal(tmp_path, answers=ANSWERS[5])
    events = [e for e in read_lines(path).events if e["type"] == "sentence"]
    second = basis_of(events[1])
    assert second is not None
    assert (second.before, second.after, second.as_of) == (("退款在审核通过后3天内到账。[S1]",), (), DAY)
    assert [p.text for p in second.passages.values()] == [REFUND.text, FREIGHT.text]


def test_what_other_settings_would_have_flipped(tmp_path: Path) -> None:
    """Gates by a threshold, sentences by the least nearness; the others stay."""
    lines = read_lines(journal(tmp_path, answers=ANSWERS[0]))
    assert [one.status for one in what_if(lines, {"gate.answer": 0.5})] == ["same"]
    (gate,) = what_if(lines, {"gate.answer": 1.0})
    assert (gate.was, gate.now) == ("ANSWER", "CLARIFY LOW_SCORE")
    (sentence,) = what_if(lines, {"answer.min_relevance": 1.1})
    assert (sentence.was, sentence.now) == ("passed (refund)", "blocked IRRELEVANT (refund)")


def _newer(**texts: str) -> dict[str, Passage]:
    known = {passage.id: passage for passage in (REFUND, FREIGHT)}
    return {**known, **{PassageId(k): replace(known[PassageId(k)], text=text) for k, text in texts.items()}}


def test_only_what_is_no_longer_so_is_told(tmp_path: Path) -> None:
    """Two spoken sentences of one passage: the one whose value changed, and no other."""
    lines = read_lines(journal(tmp_path, answers=ANSWERS[5]))

    def changed(passages: dict[str, Passage]) -> list[str]:
        return [one.text for one in reverify(lines, passages) if one.status == "changed"]

    assert changed(_newer()) == []
    assert changed(_newer(refund="退款在审核通过后5天内到账。退款原路退回。")) == [
        "退款在审核通过后3天内到账。[S1]"
    ]
    assert changed(_newer(refund="退款在审核通过后3天内到账。退款不原路退回。")) == ["退款原路退回。[S1]"]
    assert changed(_newer(freight="退货运费由卖家承担。")) == []
    assert len(changed({"freight": FREIGHT})) == 2


def test_a_sentence_that_was_not_spoken_is_not_verified(tmp_path: Path) -> None:
    """Blocked ones, and those that were dropped before they sounded."""
    path = journal(tmp_path, answers=ANSWERS[1])
    assert reverify(read_lines(path), _newer()) == []
    path = edited(journal(tmp_path / "b", answers=ANSWERS[0]), "spoken", lambda e: e.update(source="phrase"))
    assert reverify(read_lines(path), _newer()) == []


def told(capsys: pytest.CaptureFixture[str], *argv: str | Path) -> tuple[int, list[dict[str, Any]]]:
    code = run(["replay", *map(str, argv), "--json"])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_the_door_tells_each_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """0 without one, 1 with one, and both said for people too; a torn journal is audited as far as it goes."""
    path = journal(tmp_path, answers=ANSWERS[0])
    code, (row,) = told(capsys, path)
    assert (code, row["decisions"], row["same"], row["unlike"]) == (0, 2, 2, [])
    edited(path, "sentence", _evidence("退款在审核通过后9天内到账。"))
    with path.open("ab") as file:
        file.write(b'{"type":"gate","t":')
    code, (row,) = told(capsys, path)
    assert (code, row["unlike"][0]["now"]) == (1, "blocked NUM_UNSUPPORTED (refund)")
    assert run(["replay", str(tmp_path), "--audit"]) == 1
    assert "不同：passed (refund) → blocked NUM_UNSUPPORTED (refund)" in capsys.readouterr().out
    whole = journal(tmp_path / "b", answers=ANSWERS[0])
    edited(whole, "sentence", lambda e: e.update(text="请打〈PHONE:1〉。[S1]"))
    assert run(["replay", str(whole)]) == 0
    assert "not reproducible: masked：" in capsys.readouterr().out


def test_the_door_takes_a_newer_knowledge_base(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder of documents; what was said and is no longer so is exit 1."""
    path = journal(tmp_path, answers=ANSWERS[0])
    kb = tmp_path / "kb"
    kb.mkdir()
    for days, code in ((3, 0), (7, 1)):
        entry = {"id": "refund", "text": f"退款在审核通过后{days}天内到账。", "title": "退款时效"}
        (kb / "a.jsonl").write_text(json.dumps(entry), encoding="utf-8")
        assert told(capsys, path, "--index", kb)[0] == code


def test_flips_are_an_answer_and_no_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--what-if` tells them and ends with 0."""
    code, (row,) = told(capsys, journal(tmp_path), "--what-if", "gate.answer=1.0")
    assert (code, row["unlike"][0]["now"]) == (0, "CLARIFY LOW_SCORE")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--what-if", "gate.anser=1"), "gate.answer"),
        (("--what-if", "gate.answer"), "no number"),
        (("--what-if", "gate.answer=high"), "no number"),
        (("--what-if", "gate.background=0.1"), "replay the recording"),
        (("--what-if", "gate.answer=1", "--index", "kb"), "not both"),
        (("call.wav",), "not both"),
        (("--index", "nowhere"), "nowhere"),
    ],
)
def test_a_question_that_cannot_be_asked_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], says: str
) -> None:
    """Exit 2: what, where, how to mend."""
    path = journal(tmp_path)
    assert run(["replay", str(path), *options]) == 2
    err = capsys.readouterr().err
    assert says in err and err.count("\n") == 1


def test_the_good_journals_of_a_folder_are_audited_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that is no journal is named and makes it exit 2; a folder without any is refused."""
    journal(tmp_path)
    (tmp_path / "b.jsonl").write_text("{}", encoding="utf-8")
    assert run(["replay", str(tmp_path), "--audit"]) == 2
    shown = capsys.readouterr()
    assert "b.jsonl" in shown.err and "1 通电话，1 项判定" in shown.out
    (tmp_path / "empty").mkdir()
    assert run(["replay", str(tmp_path / "empty"), "--audit"]) == 2
