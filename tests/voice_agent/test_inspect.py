"""Laws of `voice-agent inspect`: what it shows is what the journal holds, plain in a pipe, JSON lines for machines."""

from __future__ import annotations

import argparse
import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.voice_agent.test_inspection import write_call
from voice_agent.doors import inspect
from voice_agent.doors.tables import Block, clean, show
from voice_agent.errors import InputError
from voice_agent.record.journal import Journal


def _run(*argv: str) -> int:
    parser = argparse.ArgumentParser()
    inspect.add(parser.add_subparsers(required=True))
    args = parser.parse_args(["inspect", *argv])
    return int(args.run(args))


def _json(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "config.yaml"
    file.write_text("paths: {logs: logs}\n")
    return file


def test_the_list_tells_each_call_in_a_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Start, length, turns, outcome of each turn, hand-off reason, slowest stage; a cut-off call says so."""
    write_call(tmp_path)
    with Journal(tmp_path, "cut", {}, started=datetime(2026, 11, 30, 10, tzinfo=UTC)):
        pass
    (tmp_path / "bad.jsonl").write_text("no journal")
    assert _run("--logs", str(tmp_path)) == 0
    title, columns, refund, cut = capsys.readouterr().out.splitlines()
    assert title == f"# 2 calls in {tmp_path}, 1 unreadable files"
    assert columns.split("\t")[:3] == ["call", "started", "length s"]
    assert refund.split("\t") == [
        "refund",
        "2026-11-30T09:00:05+00:00",
        "9.0",
        "2",
        "1:answered 3:refused(LOW_SCORE)",
        "gate",
        "GATE",
        "search 99 ms",
        "complete",
    ]
    assert cut.split("\t")[-1].startswith("no call_ended")


def test_an_empty_folder_is_no_fault(
    tmp_path: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before the first call there is nothing to list, with or without the default folder."""
    assert _run("--config", str(config)) == 0
    assert "no journals here" in capsys.readouterr().out
    assert _run("--config", str(config), "--json") == 0
    assert capsys.readouterr().out == ""
    (tmp_path / "empty").mkdir()
    assert _run(str(tmp_path / "empty")) == 0


def test_one_turn_shows_every_stage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Raw and cleaned text, repairs, ranks of each channel, gate features, sentences with values, diff, times."""
    path = str(write_call(tmp_path))
    assert _run(path, "--turn", "1") == 0
    assert _run(path, "--turn", "3") == 0
    lines = capsys.readouterr().out.splitlines()
    for expected in (
        "# turn 1",
        "heard\t退款多久到账",
        "raw\t退款多久到账",
        'repairs\t{"to": "退款"}',
        "rewritten\t退款多久到账",
        "conditions\tas_of 2025-12-31, without ['信用卡']",
        "lifted\tas_of",
        "channels down\tphonetic: late",
        "passage\tbm25\tdense\tfused\treranked",
        "refund-bank\t1 (0.9000)\t1 (0.9000)\t1 (0.9000)\t1 (0.9000)",
        "refund-card\t2 (0.1000)\t-\t2 (0.1000)\t-",
        "top\t0.900\t\t\t\t",
        "nan\t-\t\t\t\t",
        "threshold top\t0.500\t\t\t\t",
        "verdict\tpassed (3.5 ms)",
        "[S1] refund-bank\t3到5个工作日。 (手册)",
        "3到5个工作日\t3到5个工作日\tsame\trefund-bank",
        "3.20-5.00 s\t三到五个工作日。\twhole\t手册\t[-3-]{+三+}到[-5-]{+五+}个工作日。",
        f"rerank\t45.5\t{'█' * 32}",
        f"search\t20.0\t{'█' * 14}",
        "first audio s\t1.20",
        "# turn 3",
        "failed at\tgate: threshold clarify: LOW_SCORE: threshold clarify: sureness -, needed -",
        "gate\tREFUSE LOW_SCORE",
        "hand-off\tGATE spooled",
        "sentences\tgenerated 2, checked 2, blocked 2 (POLARITY 1, STALE 1), spoken 0",
        "errors\ttts: silent",
        "barge-in\t等等",
    ):
        assert expected in lines, expected


def test_one_call_is_a_transcript(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Who said what, each sentence with its verdict and its passage, how each turn ended and where it failed."""
    assert _run(str(write_call(tmp_path))) == 0
    lines = capsys.readouterr().out.splitlines()
    for expected in ("# call refund", "kb_version\t2026.1", "ready: tts\t900 ms", "# transcript"):
        assert expected in lines
    assert lines[lines.index("# transcript") + 1 :] == [
        "turn\tat s\twho\twords\tverdict",
        "1\t0.00\tcaller\t嗯\tdropped: too_short",
        "1\t1.00\tcaller\t退款多久到账\t",
        "1\t\tgate\t\tANSWER",
        "1\t3.20\tagent\t3到5个工作日。[S1]\tpassed",
        "1\t\t[S1]\t3到5个工作日。\trefund-bank · 手册",
        "1\t\tend\tanswered, first sound after 1.20 s\t",
        "3\t6.00\tcaller\t预测金价\t",
        "3\t\tgate\tLOW_SCORE\tREFUSE",
        "3\t\tfault\ttts: silent\t",
        "3\t\tend\trefused, hand-off GATE spooled\tfailed at gate: threshold clarify",
    ]


def test_one_turn_shows_only_that_turn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the call's own table."""
    assert _run(str(write_call(tmp_path)), "--turn", "3") == 0
    titles = [line for line in capsys.readouterr().out.splitlines() if line.startswith("#")]
    assert titles[0] == "# turn 3"
    assert all(title.startswith("# turn 3") for title in titles)


def test_a_call_is_found_by_its_id(tmp_path: Path, config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In --logs, or in logs/calls of the configuration."""
    write_call(tmp_path / "logs" / "calls")
    for where in (("--config", str(config)), ("--logs", str(tmp_path / "logs" / "calls"))):
        assert _run("refund", *where) == 0
        assert capsys.readouterr().out.startswith("# call refund")


def test_json_is_lines_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One object a call in the list; the call and then one object a turn; whole rankings, numbers as numbers."""
    path = write_call(tmp_path)
    _run(str(tmp_path), "--json")
    (listed,) = _json(capsys.readouterr().out)
    assert (listed["call"], listed["length_s"], listed["handoff"], listed["slowest_stage"]) == (
        "refund",
        9.0,
        "GATE",
        "search",
    )
    told = [(turn["turn"], turn["outcome"], turn["reason"], turn["failed_at"]) for turn in listed["turns"]]
    assert told == [(1, "answered", None, None), (3, "refused", "LOW_SCORE", "gate")]
    _run(str(path), "--json")
    call, first, _ = _json(capsys.readouterr().out)
    assert (call["call"], call["handoff"], call["header"]["kb_version"]) == ("refund", "GATE", "2026.1")
    assert first["values"] == [
        [{"said": "3到5个工作日", "held": "3到5个工作日", "passage": "refund-bank", "relation": "same"}]
    ]
    assert (first["call"], first["turn"], first["gate"]["features"]) == (
        "refund",
        1,
        {"top": 0.9, "nan": None},
    )
    assert first["channels"]["bm25"][1] == {"id": "refund-card", "rank": 2, "score": 0.1}
    _run(str(path), "--turn", "3", "--json")
    (turn,) = _json(capsys.readouterr().out)
    assert (turn["turn"], turn["handoff"], turn["failure"]["stage"]) == (3, "GATE", "gate")


@pytest.mark.parametrize("target", ["nosuch", "../refund", "no/such.jsonl", "refund.jsonl", "电话"])
def test_what_is_not_there_is_one_line(tmp_path: Path, target: str) -> None:
    """An unknown id, a path that does not exist, a path trick."""
    write_call(tmp_path / "calls")
    with pytest.raises(InputError, match="no such journal, folder or call") as fault:
        _run(target, "--logs", str(tmp_path / "calls"))
    assert "\n" not in str(fault.value)


def test_a_wrong_turn_names_the_right_ones(tmp_path: Path) -> None:
    """Also --turn without a call."""
    with pytest.raises(InputError, match="no turn 2; its turns are: 1, 3"):
        _run(str(write_call(tmp_path)), "--turn", "2")
    with pytest.raises(InputError, match="--turn is for one call: name it"):
        _run(str(tmp_path), "--turn", "1")
    with pytest.raises(InputError, match="no such folder"):
        _run("--logs", str(tmp_path / "none"))


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_tables_with_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rich draws them; markup in a transcript is text, not style."""
    monkeypatch.setenv("COLUMNS", "80")
    out = _Terminal()
    show([Block("turn 1", (("heard", "[red]退款[/red]"),)), Block("empty", ())], out)
    assert "[red]退款[/red]" in out.getvalue()
    assert "empty" not in out.getvalue()


def test_a_caller_cannot_redraw_the_screen() -> None:
    """Control characters, line ends and direction marks become spaces in either form."""
    attack = "a\x1b[2J\x07b\tc\nd\u202ee\u2028f\x9bg"
    assert clean(attack) == "a [2J b c d e f g"
    plain, terminal = io.StringIO(), _Terminal()
    show([Block(attack, ((attack, "x"),))], plain)
    show([Block(attack, ((attack, "x"),))], terminal)
    assert plain.getvalue() == "# a [2J b c d e f g\na [2J b c d e f g\tx\n"
    assert "\x1b[2J" not in terminal.getvalue()
    assert "\u202e" not in terminal.getvalue()
