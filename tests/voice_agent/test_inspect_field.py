"""Faults that users of other systems reported of logs and of references shown wrongly; named after their rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes import Dialogue, ScriptedAnswers, ScriptedRecognizer
from tests.voice_agent.failing_calls import HEADER, SURE, named, record
from tests.voice_agent.test_inspect import _json, _run
from tests.voice_agent.test_session import ANSWERS, SCRIPT, question
from voice_agent.record.inspection import read_call
from voice_agent.record.journal import Journal
from voice_agent.record.listing import list_summaries
from voice_agent.record.stages import failure_of

REFUND = {"citation_id": "S1", "id": "refund", "source": "手册", "text": "退款3天内到账。"}
FREIGHT = {"citation_id": "S2", "id": "freight", "source": "手册", "text": "运费由买家承担。"}
OTHER = {"citation_id": "S1", "id": "invoice", "source": "指南", "text": "发票在订单页开具。"}


def _answer(journal: Journal, turn: int, *cited: dict[str, str], checked: bool = True) -> None:
    """A greeting of ours, then one sentence from each passage."""
    decided = {"features": SURE, "thresholds": {"answer": 0.5}}
    played = {"start_s": 1.0, "end_s": 2.0, "complete": True}
    journal.write("gate", 1.0, turn, outcome="ANSWER", reason=None, **decided)
    journal.write("spoken", 1.0, turn, index=0, text="您好。", source="phrase", **played)
    for index, passage in enumerate(cited):
        text = f"{passage['text']}[{passage['citation_id']}]"
        verdict = {"passed": True, "reason": None, "detail": "", "cited": [passage["id"]], "ms": 1.0}
        if checked:
            journal.write("sentence", 1.0, turn, index=index, text=text, evidence=[passage], **verdict)
        journal.write("spoken", 2.0, turn, index=index, text=passage["text"], source="手册", **played)
    journal.write("reply_ended", 2.0, turn, outcome="answered", first_audio_s=1.0)


def _two_turns(folder: Path) -> Path:
    with Journal(folder, "two", HEADER) as journal:
        _answer(journal, 1, REFUND, FREIGHT)
        _answer(journal, 2, OTHER)
    return journal.path


def test_speech_1_silence_is_no_turn_and_is_counted(tmp_path: Path) -> None:
    """Nobody talks: the drop is in the journal, the list has a call without a turn that failed, nothing was asked."""
    with Journal(tmp_path, "silence", HEADER) as journal:
        recorded: object = journal
        Dialogue(
            ScriptedRecognizer(SCRIPT),
            ScriptedAnswers(ANSWERS),
            journal=recorded,  # type: ignore[arg-type]
        ).run(question(4))
    (call,) = list_summaries(tmp_path).calls
    assert [(turn.outcome, turn.failed_at) for turn in call.turns] == [(None, None)] and call.utterances == 0
    (turn,) = read_call(tmp_path / "silence.jsonl").turns
    assert (turn.heard, turn.utterances[0].dropped) == ("", "no_speech")


def test_speech_12_marks_are_kept_in_the_record_and_not_spoken(tmp_path: Path) -> None:
    """The sentence has them, the voice has not, and the diff of both does not count them as a change."""
    (turn,) = read_call(record(tmp_path, named("fine"))).turns
    assert all("[S1]" in sentence.text for sentence in turn.sentences)
    assert not any("S1" in spoken.text for spoken in turn.spoken)


def test_retrieval_17_the_gate_shows_one_named_score_and_its_threshold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was compared with what: the sureness, after reranking, with the threshold that held."""
    assert _run(str(record(tmp_path, named("gate_threshold"))), "--turn", "1") == 0
    lines = capsys.readouterr().out.splitlines()
    assert "sureness\t0.609\t0.750\t\t\tNO" in lines


def test_retrieval_26_every_citation_shows_its_own_passage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not the first one for each."""
    assert _run(str(_two_turns(tmp_path)), "--turn", "1") == 0
    lines = capsys.readouterr().out.splitlines()
    assert "[S1] refund\t退款3天内到账。 (手册)" in lines and "[S2] freight\t运费由买家承担。 (手册)" in lines


def test_retrieval_27_references_stay_with_their_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Read again, torn, or with our own phrase before them: a greeting has none, and none moves by a turn."""
    path = _two_turns(tmp_path)
    path.write_bytes(path.read_bytes()[:-20])
    first, second = read_call(path).turns
    assert [[e.id for e in s.evidence] for s in first.sentences] == [["refund"], ["freight"]]
    assert [[e.id for e in s.evidence] for s in second.sentences] == [["invoice"]]
    assert _run(str(path)) == 0
    lines = capsys.readouterr().out.splitlines()
    for text, passage in (("退款3天内到账。[S1]", "refund"), ("发票在订单页开具。[S1]", "invoice")):
        at = next(n for n, line in enumerate(lines) if text in line)
        assert f"{passage} · " in lines[at + 1]
    greetings = [line for line in lines if "您好。" in line]
    assert greetings and all(line.endswith("our phrase") for line in greetings)


def test_retrieval_31_a_refusal_shows_no_reference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was near is in the rankings of the turn, never beside what was said."""
    assert _run(str(record(tmp_path, named("gate_feature")))) == 0
    assert "[S" not in capsys.readouterr().out


def test_retrieval_37_the_same_mark_is_another_passage_in_another_turn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """S1 of the first turn and S1 of the second."""
    path = str(_two_turns(tmp_path))
    shown = []
    for turn in ("1", "2"):
        assert _run(path, "--turn", turn, "--json") == 0
        shown += [row["sentences"][0]["evidence"][0]["id"] for row in _json(capsys.readouterr().out)]
    assert shown == ["refund", "invoice"]


def test_retrieval_38_what_was_heard_without_a_check_is_a_failure_of_the_check(tmp_path: Path) -> None:
    """A guard that never ran is no pass."""
    with Journal(tmp_path, "bare", HEADER) as journal:
        _answer(journal, 1, REFUND, checked=False)
    failure = failure_of(read_call(journal.path).turns[0])
    assert failure is not None and (failure.stage, failure.cause) == ("check", "unchecked")


def test_retrieval_41_a_block_shows_its_reason_and_both_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever thinks that it was right can see at once what was compared."""
    assert _run(str(record(tmp_path, named("check"))), "--turn", "1") == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("verdict\tblocked: NUM_UNSUPPORTED (") for line in lines)
    assert "<= 5天\t<= 3天\tvalue differs\trefund" in lines


def test_retrieval_51_every_channels_rank_and_score_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside the fused and the reranked one."""
    assert _run(str(record(tmp_path, named("fine"))), "--turn", "1") == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("passage\tbm25\tdense\tfused\treranked")
    assert lines[at + 1 : at + 3] == [
        "refund\t1 (1.0000)\t2 (0.5000)\t1 (0.0300)\t1 (0.8000)",
        "freight\t2 (0.5000)\t1 (1.0000)\t2 (0.0150)\t2 (0.7000)",
    ]


def test_a_reply_that_was_taken_back_has_no_say(tmp_path: Path) -> None:
    """The caller went on before it sounded: only the sentences of the second reply count."""
    with Journal(tmp_path, "breaths", HEADER) as journal:
        verdict = {"passed": True, "reason": None, "detail": "", "cited": [], "evidence": [], "ms": 1.0}
        journal.write("gate", 1.0, 1, outcome="ANSWER", reason=None, features={}, thresholds={})
        journal.write("sentence", 1.0, 1, index=5, text="没说出口。", **verdict)
        _answer(journal, 1, REFUND)
    (turn,) = read_call(journal.path).turns
    assert [sentence.index for sentence in turn.sentences] == [0] and failure_of(turn) is None
