"""Laws of the list: what is kept beside the journals tells the same as the journals, and never a word of a call."""

from __future__ import annotations

import json
import os
import stat
import threading
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.voice_agent.failing_calls import CALLS, record
from tests.voice_agent.test_inspection import write_call
from voice_agent.record import listing
from voice_agent.record.inspection import read_call
from voice_agent.record.journal import Journal
from voice_agent.record.kept import CACHE, add, kept_in
from voice_agent.record.listing import lean, list_summaries
from voice_agent.record.selection import REASONS, CallFilter, draw
from voice_agent.record.summary import CallSummary, TurnSummary, same_question, summarise


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("calls")
    for call in CALLS:
        record(made, call)
    return made


def test_the_lean_reading_tells_what_the_whole_one_tells(folder: Path) -> None:
    """Rankings are skipped and nothing of a summary hangs on them, wherever the call failed."""
    fine = (folder / "fine.jsonl").read_bytes()
    assert b'"type":"recall"' in fine and b'"type":"recall"' not in lean(fine)
    whole = {path.stem: summarise(read_call(path)) for path in folder.glob("*.jsonl")}
    assert {call.call: call for call in list_summaries(folder).calls} == whole


def test_what_is_kept_tells_the_same_without_reading(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second list opens no journal and is equal to the first, which read them all."""
    (folder / CACHE).unlink(missing_ok=True)
    first = list_summaries(folder)
    monkeypatch.setattr(listing, "_read", lambda path: pytest.fail(f"{path} was read again"))
    assert list_summaries(folder) == first


def test_the_first_list_reads_no_call_that_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call kept its own summary as it ended; it tells the same as its journal, wherever the call failed."""
    for call in CALLS:
        record(tmp_path, call)
    whole = {path.stem: summarise(read_call(path)) for path in tmp_path.glob("*.jsonl")}
    monkeypatch.setattr(listing, "_read", lambda path: pytest.fail(f"{path} was read again"))
    assert {call.call: call for call in list_summaries(tmp_path).calls} == whole


def test_a_call_that_did_not_end_is_read(tmp_path: Path) -> None:
    """A killed one has no line; neither has one that still runs, and its row is read anew as it goes on."""
    with Journal(tmp_path, "running", {}) as journal:
        assert not kept_in(tmp_path)
        journal.write("error", 1, 1, where="x", message="y")
        assert len(list_summaries(tmp_path).calls[0].turns) == 1
        journal.write("error", 2, 2, where="x", message="y")
        assert len(list_summaries(tmp_path).calls[0].turns) == 2
    kept = kept_in(tmp_path)["running.jsonl"]
    assert kept.is_of(journal.path)


def test_calls_that_end_at_once_all_keep_theirs(tmp_path: Path) -> None:
    """From several threads, a line each, none torn."""

    def held(n: int) -> None:
        for i in range(20):
            with Journal(tmp_path, f"c{n}-{i}", {}) as journal:
                journal.write("ready", 0, 0, timings_ms={})

    threads = [threading.Thread(target=held, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kept_in(tmp_path)) == 80


def test_the_later_of_two_lines_holds(tmp_path: Path) -> None:
    """A line torn by a full disk swallows the next one at most; the journals are told all the same."""
    path = write_call(tmp_path)
    true = kept_in(tmp_path)["refund.jsonl"]
    add(tmp_path, "refund.jsonl", replace(true, size=1))
    assert not kept_in(tmp_path)["refund.jsonl"].is_of(path)
    with (tmp_path / CACHE).open("ab") as file:
        file.write(b'["refund.jsonl","1')
    add(tmp_path, "refund.jsonl", true)
    assert not kept_in(tmp_path)["refund.jsonl"].is_of(path)
    assert [len(call.turns) for call in list_summaries(tmp_path).calls] == [2]
    assert kept_in(tmp_path) == {"refund.jsonl": true}


def test_a_journal_that_changed_is_read_again(tmp_path: Path) -> None:
    """A call that went on, one that came, one that is gone, one that is no journal."""
    path = write_call(tmp_path)
    (tmp_path / "bad.jsonl").write_text("no journal")
    assert [call.call for call in list_summaries(tmp_path).calls] == ["refund"]
    write_call(tmp_path, "later", datetime(2026, 12, 1, tzinfo=UTC))
    with path.open("a") as file:
        file.write('{"type":"transcript","t":9,"turn":7,"text":"喂"}\n')
    listed = list_summaries(tmp_path)
    assert ([(c.call, len(c.turns)) for c in listed.calls], listed.unread) == (
        [("refund", 3), ("later", 2)],
        1,
    )
    path.unlink()
    assert [call.call for call in list_summaries(tmp_path).calls] == ["later"]
    assert "refund" not in (tmp_path / CACHE).read_text()


def test_a_greeting_is_no_turn(tmp_path: Path) -> None:
    """What the agent said before anybody asked is told in the transcript and counted nowhere."""
    with Journal(tmp_path, "greeted", {}) as journal:
        played = {"start_s": 0.0, "end_s": 1.0, "complete": True, "source": "phrase"}
        journal.write("spoken", 1.0, 0, index=0, text="您好。", **played)
    assert [call.turns for call in list_summaries(tmp_path).calls] == [()]
    assert len(read_call(journal.path).turns) == 1


@pytest.mark.parametrize(
    "odd", ["", "{", "[]", "null", "[[]]", '{"version": 1, "calls": {}}', "[1,2,3,4,5]", "\x00", "\n\n"]
)
def test_a_spoilt_cache_is_only_slow(tmp_path: Path, odd: str) -> None:
    """Whatever stands in it, the journals are told."""
    write_call(tmp_path)
    (tmp_path / CACHE).write_text(odd)
    assert [call.call for call in list_summaries(tmp_path).calls] == ["refund"]


@pytest.mark.parametrize("odd", [3, [], {"call": 3}, {"turns": [{"x": 1}]}, {"turns": 3}, "x"])
def test_a_spoilt_row_is_only_slow(tmp_path: Path, odd: Any) -> None:
    """Of the right version, with a row that no summary is made of."""
    write_call(tmp_path)
    *head, _ = json.loads((tmp_path / CACHE).read_text())
    (tmp_path / CACHE).write_text(json.dumps([*head, odd]) + "\n")
    assert [call.call for call in list_summaries(tmp_path).calls] == ["refund"]


def test_no_word_of_a_call_is_kept_and_only_the_owner_reads_it(tmp_path: Path) -> None:
    """Codes, numbers, names of stages."""
    write_call(tmp_path)
    assert not any("\u4e00" <= char <= "\u9fff" for char in (tmp_path / CACHE).read_text(encoding="utf-8"))
    assert stat.S_IMODE((tmp_path / CACHE).stat().st_mode) == 0o600


def test_a_folder_that_cannot_be_written_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list is there; nothing is left behind."""
    write_call(tmp_path)
    (tmp_path / CACHE).unlink()

    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert [call.call for call in list_summaries(tmp_path).calls] == ["refund"]
    assert not (tmp_path / CACHE).exists()


def _call(name: str = "a", started: str = "2026-11-30T09:00:00+08:00", **changes: Any) -> CallSummary:
    turn = TurnSummary(1, "answered", **changes)
    return CallSummary(name, f"{name}.jsonl", started, 9.0, "hung_up", None, 1, 0, (turn,), ())


def test_filters_hold_together(folder: Path) -> None:
    """Stage, reason, moment and slowness; what is given must all hold."""
    calls = list_summaries(folder).calls
    for call in CALLS:
        if call.stage:
            shown = {c.call for c in calls if CallFilter(failed_at=call.stage).admits(c)}
            assert shown == {other.name for other in CALLS if other.stage == call.stage}
    shown = {c.call for c in calls if CallFilter(reason="NUM_UNSUPPORTED").admits(c)}
    assert shown == {"check"}
    assert not [c for c in calls if CallFilter(failed_at="gate", reason="NUM_UNSUPPORTED").admits(c)]
    assert CallFilter().is_open and not CallFilter(slow_s=0.0).is_open
    assert {"GATE", "LOW_SCORE", "POLARITY"} <= set(REASONS)


def test_moments_are_compared_across_zones() -> None:
    """A zone on both sides decides; without one the call's own clock is meant; a call without a start is not shown."""
    noon = datetime.fromisoformat
    assert CallFilter(since=noon("2026-11-30T01:00:00+00:00")).admits(_call())
    assert not CallFilter(since=noon("2026-11-30T01:00:01+00:00")).admits(_call())
    assert CallFilter(since=noon("2026-11-30T09:00:00")).admits(_call())
    assert not CallFilter(since=noon("2026-12-01")).admits(_call())
    assert not CallFilter(since=noon("2026-11-30")).admits(_call(started=""))


def test_slow_is_a_late_sound_or_a_long_stage() -> None:
    """Later than, not at."""
    for slow in ({"first_audio_s": 3.0}, {"slowest": "asr", "slowest_ms": 3000.0}):
        assert CallFilter(slow_s=2.9).admits(_call(**slow)) and not CallFilter(slow_s=3.0).admits(
            _call(**slow)
        )


def test_a_draw_is_repeatable_and_new_calls_do_not_disturb_it() -> None:
    """The same seed, the same turns; another seed, others; what is marked is not drawn again."""
    calls = [_call(f"c{n}") for n in range(40)]
    drawn = draw(calls, 10, seed=1)
    assert drawn == draw(list(reversed(calls)), 10, seed=1) != draw(calls, 10, seed=2)
    with_more = {one.call for one in draw([*calls, _call("new")], 10, seed=1)}
    assert len(with_more & {one.call for one in drawn}) >= 9
    left = draw(calls, 40, 1, marked={("c3", 1)})
    assert len(left) == 39 and "c3" not in {one.call for one in left}
    unfinished = CallSummary("u", "u.jsonl", "", None, None, None, 0, 0, (TurnSummary(1),), ())
    assert draw([unfinished], 5, 1) == ()


def test_risky_and_unsure_turns_are_drawn_more_often() -> None:
    """By about their weight: of 100 plain and 100 weighty turns, the draw of 50 holds mostly the latter."""
    calls = [_call(f"p{n}") for n in range(100)] + [_call(f"w{n}", weight=6.0) for n in range(100)]
    weighty = [sum(d.weight > 1 for d in draw(calls, 50, seed)) for seed in range(10)]
    assert 38 <= sum(weighty) / len(weighty) <= 47


def test_weights_follow_doubt_and_block(folder: Path) -> None:
    """A sure answer weighs about 1; a block more; a gate near its threshold most."""
    weight = {call.call: call.turns[0].weight for call in list_summaries(folder).calls}
    assert 1.0 <= weight["fine"] < 1.1 < weight["check"] and weight["gate_threshold"] > 2.0


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("退款多久到账", "退款多久到账？", True),
        ("我的退款多久能到账", "我的退款多久能到战", True),
        ("退款多久到账", "运费谁来承担", False),
        ("", "", False),
        ("喂", "喂", False),
    ],
)
def test_a_question_asked_again_is_known(one: str, other: str, same: bool) -> None:
    """In nearly the same characters; a word of one character says nothing."""
    assert same_question(one, other) is same
