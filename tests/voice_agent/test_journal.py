"""Laws of the journal: what was written is on disk, in order, masked, one line an event, whatever happens next."""

from __future__ import annotations

import json
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from voice_agent.errors import AgentError, InputError
from voice_agent.record.journal import Journal, MemoryJournal, Recorder, check_call_id, unused_call_id
from voice_agent.record.jsonable import LINE_BYTES
from voice_agent.record.schema import validate_event

HEADER = {
    "config_sha": "ab12",
    "models": {"asr": "whisper-base"},
    "kb_version": "2026.1",
    "as_of": "2026-11-30",
}
STARTED = datetime(2026, 11, 30, 9, 0, 5, tzinfo=UTC)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_first_line_tells_what_made_the_call(tmp_path: Path) -> None:
    """Header first, valid by the schema, with the wall time of the start; unknown extra facts are kept."""
    with Journal(tmp_path / "logs", "a-1", {**HEADER, "profile": "embedded"}, started=STARTED) as journal:
        pass
    assert journal.path == tmp_path / "logs" / "a-1.jsonl"
    (header,) = _lines(journal.path)
    assert header == {
        "type": "call",
        "schema": 1,
        "call": "a-1",
        **HEADER,
        "started": "2026-11-30T09:00:05+00:00",
        "profile": "embedded",
    }
    assert validate_event(header) == []


def test_a_header_cannot_change_what_the_line_is(tmp_path: Path) -> None:
    """Missing facts read null; a fact named like ours does not replace it."""
    with Journal(tmp_path, "a", {"type": "gate", "call": "b", "schema": 9}, started=STARTED) as journal:
        pass
    (header,) = _lines(journal.path)
    assert (header["type"], header["call"], header["schema"], header["kb_version"]) == ("call", "a", 1, None)


def test_every_event_is_on_disk_when_write_returns(tmp_path: Path) -> None:
    """No buffer: another reader sees each line before the next is written; times are rounded to a millisecond."""
    with Journal(tmp_path, "a", HEADER) as journal:
        for n in range(1, 4):
            journal.write("speech_started", n / 3, n)
            assert [e["turn"] for e in _lines(journal.path)[1:]] == list(range(1, n + 1))
    assert _lines(journal.path)[1] == {"type": "speech_started", "t": 0.333, "turn": 1}


def test_an_unknown_kind_is_a_mistake_of_the_program(tmp_path: Path) -> None:
    """ValueError, and nothing is written."""
    with Journal(tmp_path, "a", HEADER) as journal, pytest.raises(ValueError, match="no such journal event"):
        journal.write("spoke", 0, 0)
    assert len(_lines(journal.path)) == 1
    with pytest.raises(ValueError, match="no such journal event"):
        MemoryJournal().write("call", 0, 0)


ODD: tuple[dict[str, object], ...] = (
    {"text": "第一行\n{\"type\":\"gate\"}\r\n\u2028"},
    {"text": "\ud800"},
    {"value": float("nan")},
    {"value": object()},
    {"type": "gate", "x": 1},
    {"text": "长" * 200_000},
    {"rows": [[["x" * 100] * 100] * 100] * 100},
)  # fmt: skip


@pytest.mark.parametrize("data", ODD)
def test_odd_data_never_breaks_the_journal(tmp_path: Path, data: dict[str, Any]) -> None:
    """Newlines, surrogates, NaN, reserved names, huge values: one bounded line of the kind that was asked for."""
    with Journal(tmp_path, "a", HEADER) as journal:
        journal.write("error", float("nan"), 1, **data)
        journal.write("resumed", 2, 1)
    first, second = _lines(journal.path)[1:]
    assert (first["type"], first["t"], first["turn"]) == ("error", None, 1)
    assert second["type"] == "resumed"
    assert max(len(line) for line in journal.path.read_bytes().splitlines()) < LINE_BYTES


def test_every_text_of_every_event_is_masked(tmp_path: Path) -> None:
    """Nested texts, keys, evidence, hand-off packets: the number is nowhere in the file, equal ones look equal."""
    with Journal(tmp_path, "a", HEADER) as journal:
        journal.write("transcript", 1, 1, text="打13800138000", raw="打幺三八零零幺三八零零零", hot_words=[])
        journal.write(
            "handoff", 2, 1, reason="ASKED", packet={"said": [{"text": "１３８-００１３-８０００"}]}
        )
        journal.write("query", 2, 1, terms=("打", "138", "0013", "8000"))
    text = journal.path.read_text(encoding="utf-8")
    assert "13800138000" not in text
    transcript, handoff, query = _lines(journal.path)[1:]
    assert transcript["text"] == transcript["raw"] == "打〈PHONE:1〉"
    assert handoff["packet"]["said"][0]["text"] == "〈PHONE:1〉"
    assert query["terms"] == ["打", "〈PHONE:1〉"]


def test_a_partial_does_not_leak_the_number_that_is_being_spoken(tmp_path: Path) -> None:
    """Ten of eleven digits are a secret too; a final text with as many is judged by what it is."""
    with Journal(tmp_path, "a", HEADER) as journal:
        journal.write("partial", 1, 1, text="号码是 138 0013 80")
        journal.write("transcript", 1, 1, text="单号 2026 1130")
    partial, transcript = _lines(journal.path)[1:]
    assert partial["text"] == "号码是 〈NUMBER:1〉"
    assert transcript["text"] == "单号 2026 1130"


@pytest.mark.parametrize(
    "call", ["", "../a", "a/b", "a\\b", ".hidden", "..", "a\0", "a\n", "电话", "x" * 81, "a b", "C:x"]
)
def test_a_call_id_is_only_ever_a_file_name(tmp_path: Path, call: str) -> None:
    """Path tricks raise InputError before anything is opened."""
    with pytest.raises(InputError, match="call id"):
        Journal(tmp_path, call, HEADER)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("call", ["a", "refund_bank", "2026-11-30.08-00", "x" * 80, "-a", "_"])
def test_ordinary_call_ids_pass(call: str) -> None:
    """Letters, digits, dot, underscore, hyphen; up to 80."""
    assert check_call_id(call) == call


def test_a_recorded_call_is_never_overwritten(tmp_path: Path) -> None:
    """The second journal of a name is refused; unused_call_id finds the next name, and a safe one for any stem."""
    with Journal(tmp_path, "a", HEADER) as journal:
        before = journal.path.read_bytes()
    with pytest.raises(InputError, match="already recorded"), Journal(tmp_path, "a", HEADER):
        pass
    assert journal.path.read_bytes() == before
    assert unused_call_id(tmp_path, "a") == "a-2"
    assert unused_call_id(tmp_path, "b") == "b"
    for stem in ("..", "", "电话 录音/1", "x" * 300):
        check_call_id(unused_call_id(tmp_path, stem))


def test_a_folder_that_cannot_hold_it_is_one_line(tmp_path: Path) -> None:
    """A file where the folder should be: InputError naming the path."""
    (tmp_path / "logs").write_text("no folder")
    with (
        pytest.raises(InputError, match=r"a\.jsonl: cannot be written"),
        Journal(tmp_path / "logs", "a", HEADER),
    ):
        pass


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    """Callers' words are nobody else's business."""
    with Journal(tmp_path, "a", HEADER) as journal:
        pass
    assert stat.S_IMODE(journal.path.stat().st_mode) == 0o600


def test_late_events_are_counted_not_written(tmp_path: Path) -> None:
    """After the end the file does not change."""
    with Journal(tmp_path, "a", HEADER) as journal:
        journal.write("resumed", 1, 1)
    before = journal.path.read_bytes()
    journal.write("resumed", 2, 1)
    assert (journal.late, journal.path.read_bytes()) == (1, before)


def test_the_journal_closes_when_the_call_fails(tmp_path: Path) -> None:
    """The fault passes through; what was written stays."""
    with pytest.raises(RuntimeError, match="boom"), Journal(tmp_path, "a", HEADER) as journal:
        journal.write("resumed", 1, 1)
        raise RuntimeError("boom")
    assert len(_lines(journal.path)) == 2


def test_several_threads_do_not_mix_their_lines(tmp_path: Path) -> None:
    """400 events from four threads are 400 whole lines."""

    def write(turn: int) -> None:
        for n in range(100):
            journal.write("partial", n, turn, text="字" * 500)

    with Journal(tmp_path, "a", HEADER) as journal:
        threads = [threading.Thread(target=write, args=(turn,)) for turn in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    events = _lines(journal.path)[1:]
    assert sorted((e["turn"], e["t"]) for e in events) == [(turn, n) for turn in range(4) for n in range(100)]


def test_a_full_disk_loses_the_event_and_not_the_file(tmp_path: Path) -> None:
    """The lost event raises one line; later ones are whole again, after the torn line."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with Journal(tmp_path, "a", HEADER) as journal:
            journal.write("resumed", 1, 1)
            resource.setrlimit(resource.RLIMIT_FSIZE, (journal.path.stat().st_size + 10, hard))
            with pytest.raises(AgentError, match="event lost"):
                journal.write("resumed", 2, 1)
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            journal.write("resumed", 3, 1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, old)
    _, first, torn, last = journal.path.read_text(encoding="utf-8").splitlines()
    assert (json.loads(first)["t"], json.loads(last)["t"], len(torn)) == (1, 3, 10)


_WRITER = """
import sys
from pathlib import Path
from voice_agent.record.journal import Journal
with Journal(Path(sys.argv[1]), "a", {}) as journal:
    n = 0
    while True:
        n += 1
        journal.write("partial", n, n, text="字" * 2000)
        print(n, flush=True)
"""


def test_a_killed_process_loses_at_most_the_line_it_was_writing(tmp_path: Path) -> None:
    """Every event whose write returned is in the file after kill -9."""
    child = subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None
        for line in child.stdout:
            if int(line) >= 50:
                break
        os.kill(child.pid, signal.SIGKILL)
        told = [int(line) for line in child.stdout if line.endswith("\n")]
    finally:
        child.kill()
        child.communicate(timeout=30)
    last_told = max([50, *told])
    whole = (tmp_path / "a.jsonl").read_bytes().split(b"\n")[:-1]
    turns = [json.loads(line)["turn"] for line in whole[1:]]
    assert turns == list(range(1, len(turns) + 1))
    assert len(turns) >= last_told


def test_the_memory_journal_keeps_what_the_file_would_hold(tmp_path: Path) -> None:
    """Same events, masked and bounded alike, so a test on it says something about the file."""
    memory = MemoryJournal("a", HEADER)
    with Journal(tmp_path, "a", HEADER) as journal:
        recorders: tuple[Recorder, ...] = (journal, memory)
        for recorder in recorders:
            recorder.write("transcript", 1.23456, 1, text="打13800138000", raw="长" * 100_000)
            recorder.write("resumed", 2, 1)
    assert memory.events == _lines(journal.path)[1:]
    assert [e["t"] for e in memory.of("resumed")] == [2]
    assert validate_event(memory.header) == []
