"""Laws of reading journals: what was written is what is told, and a damaged file tells the rest."""

from __future__ import annotations

import json
import random
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from retrieval.conditions import Conditions
from voice_agent.errors import InputError
from voice_agent.record.call_record import CitedRecord, RankedRecord
from voice_agent.record.inspection import read_call
from voice_agent.record.journal import Journal, Recorder
from voice_agent.record.listing import list_summaries
from voice_agent.record.schema import EVENTS

HEADER = {
    "config_sha": "ab",
    "models": {"asr": "whisper-base"},
    "kb_version": "2026.1",
    "as_of": "2026-11-30",
}
STARTED = datetime(2026, 11, 30, 9, 0, 5, tzinfo=UTC)


def _transcript(journal: Recorder, t: float, turn: int, text: str, dropped: str | None = None) -> None:
    heard = {"text": "" if dropped else text, "raw": text, "confidence": 0.8, "voiced_s": 1.0, "seconds": 0.2}
    journal.write("transcript", t, turn, **heard, dropped=dropped, hot_words=["退款"], start_s=t - 1, end_s=t)


def write_call(folder: Path, call: str = "refund", started: datetime = STARTED) -> Path:
    """A call of an answered turn and a refused one, with every kind of event that is shown."""
    with Journal(folder, call, HEADER, started=started) as journal:
        journal.write("ready", 0, 0, timings_ms={"asr": 800, "tts": 900.5})
        _transcript(journal, 1.0, 1, "嗯", dropped="too_short")
        _transcript(journal, 2.0, 1, "退款多久到账")
        _search(journal)
        _answer(journal)
        journal.write("speech_started", 6.0, 2)
        _transcript(journal, 7.0, 3, "预测金价")
        _refuse(journal)
        ended = {"length_s": 9.0, "turns": 2, "stale_events": 1, "counters": {"x": 1}}
        journal.write("call_ended", 9.0, 3, reason="handed_off", **ended)
    return journal.path


def _search(journal: Recorder) -> None:
    ranking = [{"id": "refund-bank", "score": 0.9}, {"id": "refund-card", "score": 0.1}]
    ranked = [{**row, "rank": place} for place, row in enumerate(ranking, start=1)]
    words = {"terms": ["退款"], "codes": ["X1"], "history": ["前"], "repairs": [{"to": "退款"}]}
    journal.write("rewrite", 2.0, 1, before="它多久", after="退款多久到账")
    heard = Conditions(date(2025, 12, 31), without=("信用卡",), heard=("as_of", "without"))
    journal.write("query", 2.0, 1, text="退款多久到账", **words, conditions=heard, lifted=("as_of",))
    journal.write("recall", 2.1, 1, channels={"bm25": ranked, "dense": ranked[:1]}, down={"phonetic": "late"})
    journal.write("fusion", 2.1, 1, ranking=ranking)
    journal.write("rerank", 2.2, 1, ranking=ranking[:1])
    features = {"top": 0.9, "nan": float("nan")}
    journal.write("gate", 2.2, 1, outcome="ANSWER", reason=None, features=features, thresholds={"top": 0.5})


def _answer(journal: Recorder) -> None:
    cited = [{"citation_id": "S1", "id": "refund-bank", "source": "手册", "text": "3到5个工作日。"}]
    verdict = {
        "cited": ["refund-bank"],
        "passed": True,
        "reason": None,
        "detail": "",
        "evidence": cited,
        "ms": 3.5,
    }
    played = {"start_s": 3.2, "end_s": 5.0, "complete": True, "source": "手册"}
    journal.write("sentence", 2.3, 1, index=0, text="3到5个工作日。[S1]", **verdict)
    journal.write("spoken", 5.0, 1, index=0, text="三到五个工作日。", **played)
    journal.write("timing", 5.0, 1, stages_ms={"search": 20, "rerank": 45.5})
    journal.write("timing", 5.0, 1, stages_ms={"tts": 30})
    journal.write("reply_ended", 5.0, 1, outcome="answered", first_audio_s=1.2)


def _refuse(journal: Recorder) -> None:
    decided = {"features": {"top": 0.1}, "thresholds": {"top": 0.5}}
    journal.write("gate", 7.2, 3, outcome="REFUSE", reason="LOW_SCORE", **decided)
    journal.write("barge_in", 7.5, 3, heard="等等")
    journal.write("halt", 7.5, 3, reason="GATE")
    journal.write("error", 7.6, 3, where="tts", message="silent")
    journal.write("handoff", 7.5, 3, reason="GATE", packet="", delivery="failed", detail="")
    journal.write("handoff", 7.6, 3, reason="GATE", packet={}, delivery="spooled", detail="refused")
    journal.write("timing", 7.6, 3, stages_ms={"search": 99})
    counted = {"generated": 2, "checked": 2, "blocked": {"POLARITY": 1, "STALE": 1}, "spoken": 0}
    journal.write("reply_ended", 8.0, 3, outcome="refused", first_audio_s=None, sentences=counted)


def test_a_call_is_read_back_whole(tmp_path: Path) -> None:
    """Header, end, counters, ready times; the call's hand-off and slowest stage come from its turns."""
    call = read_call(write_call(tmp_path))
    assert (call.call, call.started, call.header["kb_version"]) == (
        "refund",
        "2026-11-30T09:00:05+00:00",
        "2026.1",
    )
    assert (call.ended, call.length_s, call.stale_events, call.counters) == ("handed_off", 9.0, 1, {"x": 1})
    assert call.ready_ms == {"asr": 800, "tts": 900.5}
    assert (call.handoff, call.slowest_stage) == ("GATE", "search")
    assert (call.torn, call.broken, call.problems) == (False, 0, ())
    assert [turn.turn for turn in call.turns] == [1, 3], "a noise without a transcript is no turn"


def test_an_answered_turn_is_read_back(tmp_path: Path) -> None:
    """Every stage's facts; what was dropped is not what was heard."""
    turn = read_call(write_call(tmp_path)).turns[0]
    assert (turn.heard, turn.raw, turn.dropped, turn.confidence) == (
        "退款多久到账",
        "退款多久到账",
        None,
        0.8,
    )
    assert (turn.query, turn.terms, turn.codes, turn.history) == ("退款多久到账", ("退款",), ("X1",), ("前",))
    assert (turn.rewritten, turn.repairs, turn.hot_words) == ("退款多久到账", ({"to": "退款"},), ("退款",))
    assert (turn.conditions["as_of"], turn.lifted) == ("2025-12-31", ("as_of",))
    assert turn.channels["bm25"] == (RankedRecord("refund-bank", 1, 0.9), RankedRecord("refund-card", 2, 0.1))
    assert (len(turn.channels["dense"]), turn.down) == (1, {"phonetic": "late"})
    assert ([r.rank for r in turn.fused], [r.id for r in turn.reranked]) == ([1, 2], ["refund-bank"])
    assert turn.gate is not None
    assert (turn.gate.outcome, turn.gate.reason, turn.gate.thresholds) == ("ANSWER", None, {"top": 0.5})
    assert turn.gate.features == {"top": 0.9, "nan": None}
    (sentence,) = turn.sentences
    assert (sentence.text, sentence.passed, sentence.reason, sentence.ms) == (
        "3到5个工作日。[S1]",
        True,
        None,
        3.5,
    )
    assert sentence.evidence == (CitedRecord("S1", "refund-bank", "手册", "3到5个工作日。"),)
    (spoken,) = turn.spoken
    assert (spoken.text, spoken.start_s, spoken.end_s, spoken.complete) == (
        "三到五个工作日。",
        3.2,
        5.0,
        True,
    )
    assert turn.stages_ms == {"search": 20, "rerank": 45.5, "tts": 30}
    assert (turn.slowest_stage, turn.outcome, turn.first_audio_s) == ("rerank", "answered", 1.2)


def test_a_refused_turn_is_read_back(tmp_path: Path) -> None:
    """Reason, hand-off, halt, faults and what the caller said over the agent."""
    turn = read_call(write_call(tmp_path)).turns[1]
    assert turn.gate is not None
    assert (turn.gate.outcome, turn.gate.reason) == ("REFUSE", "LOW_SCORE")
    assert (turn.outcome, turn.handoff, turn.halted, turn.first_audio_s) == ("refused", "GATE", "GATE", None)
    assert (turn.barge_ins, turn.errors) == (("等等",), ("tts: silent",))


def test_an_utterance_that_was_dropped_is_told_as_such(tmp_path: Path) -> None:
    """Nothing heard, the raw text and the reason kept."""
    with Journal(tmp_path, "a", HEADER) as journal:
        _transcript(journal, 1, 1, "谢谢观看", dropped="boilerplate")
    (turn,) = read_call(journal.path).turns
    assert (turn.heard, turn.raw, turn.dropped) == ("", "谢谢观看", "boilerplate")


def test_a_journal_torn_anywhere_still_reads(tmp_path: Path) -> None:
    """Cut at any byte, every whole line is told, and a torn last line is reported, not read."""
    path = write_call(tmp_path)
    data = path.read_bytes()
    first = data.index(b"\n")
    choose = random.Random(7)
    for cut in [first, first + 1, first + 2, len(data) - 1, *choose.sample(range(first + 2, len(data)), 40)]:
        path.write_bytes(data[:cut])
        call = read_call(path)
        *before, last = data[:cut].split(b"\n")
        whole = last in data.split(b"\n")  # also the empty one after a line end
        assert call.torn == (not whole)
        assert call.events == len(before) + (whole and last != b"")
        assert call.broken == 0


def test_broken_lines_within_are_counted(tmp_path: Path) -> None:
    """No JSON, JSON that is no event, half a line and blank lines: the rest is told."""
    path = write_call(tmp_path)
    before = read_call(path)
    lines = path.read_bytes().splitlines()
    odd = [b"{", b"[1]", b'{"t":1}', b'{"type":3}', b"\xff\xfe", b"", b"[" * 100_000, lines[2][:20]]
    path.write_bytes(b"\n".join([*lines[:3], *odd, *lines[3:]]) + b"\n")
    call = read_call(path)
    assert (call.broken, call.torn, call.events) == (7, False, before.events)
    assert call.turns == before.turns
    assert call.problems == ("7 unreadable lines skipped",)


def test_a_call_that_was_cut_off_says_so(tmp_path: Path) -> None:
    """No call_ended, no header, another schema: each is a problem of the journal, none hides the turns."""
    path = tmp_path / "x.jsonl"
    path.write_text(
        json.dumps({"type": "transcript", "t": 1, "turn": 1, "text": "喂"}) + "\n", encoding="utf-8"
    )
    call = read_call(path)
    assert (call.call, call.ended, call.length_s, call.turns[0].heard) == ("x", None, None, "喂")
    assert call.problems == ("no header line", "no call_ended: the call was cut off or is still running")
    path.write_text(json.dumps({"type": "call", "schema": 99, "call": "y"}) + "\n", encoding="utf-8")
    assert read_call(path).problems[0] == "schema 99, this version reads 1"


def test_wrong_types_read_as_absent(tmp_path: Path) -> None:
    """A journal that somebody edited raises nothing."""
    path = tmp_path / "x.jsonl"
    fields = ["turn", *(name for names in EVENTS.values() for name in names)]
    for odd in (None, 3, "x", [3], {"a": 3}, [{"id": 3}], True):
        events = [{"type": kind, "t": 1, **dict.fromkeys(fields, odd)} for kind in EVENTS]
        path.write_text("\n".join(map(json.dumps, events)) + "\n", encoding="utf-8")
        assert len(read_call(path).turns) == 1


@pytest.mark.parametrize("data", [b"", b"\n\n", b"no journal\n", b"\x00" * 100, b"[1,2]"])
def test_a_file_without_any_event_is_no_journal(tmp_path: Path, data: bytes) -> None:
    """One line naming the file."""
    (tmp_path / "x.jsonl").write_bytes(data)
    with pytest.raises(InputError, match=r"x\.jsonl: no journal"):
        read_call(tmp_path / "x.jsonl")


def test_paths_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    """A missing file, a folder in its place, a missing folder."""
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(InputError, match="cannot be read"):
            read_call(path)
    with pytest.raises(InputError, match="no such folder"):
        list_summaries(tmp_path / "none")


def test_calls_are_listed_oldest_first_and_others_left_out(tmp_path: Path) -> None:
    """By start, then by name; an unreadable file does not hide the rest."""
    write_call(tmp_path, "b", datetime(2026, 11, 30, 9, tzinfo=UTC))
    write_call(tmp_path, "a", datetime(2026, 11, 30, 9, tzinfo=UTC))
    write_call(tmp_path, "c", datetime(2026, 11, 29, 9, tzinfo=UTC))
    (tmp_path / "bad.jsonl").write_text("no journal")
    (tmp_path / "note.txt").write_text("no journal")
    assert [call.call for call in list_summaries(tmp_path).calls] == ["c", "a", "b"]


def test_words_heard_again_from_the_beginning_count_once(tmp_path: Path) -> None:
    """A question in two breaths is recognised twice; what covers the whole of it is what was heard."""
    with Journal(tmp_path, "a", {}) as journal:
        for text, end_s in (("我想问", 1.5), ("我想问退款多久到账", 3.0)):
            spans = {
                "raw": text,
                "confidence": 0.9,
                "voiced_s": 1.0,
                "seconds": 0.1,
                "start_s": 0.6,
                "end_s": end_s,
            }
            journal.write("transcript", end_s + 1, 1, text=text, dropped=None, hot_words=[], **spans)
    assert [turn.heard for turn in read_call(tmp_path / "a.jsonl").turns] == ["我想问退款多久到账"]


def test_sentences_are_counted_and_a_hand_off_has_its_end(tmp_path: Path) -> None:
    """Counts as the turn wrote them, the last word on the packet; a turn that wrote neither has neither."""
    first, last = read_call(write_call(tmp_path)).turns
    assert (first.counts, first.delivery) == ({}, None)
    assert last.counts["blocked"] == {"POLARITY": 1, "STALE": 1} and last.delivery == "spooled"
