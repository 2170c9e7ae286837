"""Laws of the report: one file that loads nothing, in which no word of a call is markup or code."""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
import stat
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.voice_agent.reported_calls import NASTY, write_report_call
from voice_agent.doors import inspect, reporting
from voice_agent.errors import InputError
from voice_agent.page.frame import page, shown
from voice_agent.record.call_record import RankedRecord, TurnRecord
from voice_agent.record.inspection import read_call
from voice_agent.record.report_scores import scores
from voice_agent.record.report_sentences import supporting
from voice_agent.record.report_sound import read_sound

VOID = {"meta", "input"}


class Page(HTMLParser):
    """Tags, attributes and text; a tag that is not closed by its own end fails."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.words: list[str] = []
        self.feed(text)
        assert not self.stack

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def report(folder: Path, *names: str) -> str:
    file = folder / "page.html"
    reporting.write_report([folder / f"{name}.jsonl" for name in names], file)
    return file.read_text("utf-8")


def _run(*argv: str) -> int:
    parser = argparse.ArgumentParser()
    inspect.add(parser.add_subparsers(required=True))
    args = parser.parse_args(["inspect", *argv])
    return int(args.run(args))


@pytest.fixture
def nasty(tmp_path: Path) -> str:
    write_report_call(tmp_path, "one", 20, nasty=NASTY)
    return report(tmp_path, "one")


def test_no_word_of_a_call_is_markup(nasty: str) -> None:
    """Said, heard, cited, searched for, named, failed with: a script in any field of a journal stays its text."""
    seen = Page(nasty)
    assert seen.tags.count("script") == 1 and "img" not in seen.tags
    assert seen.tags.count("template") == 20
    assert not [name for _, name, _ in seen.attributes if name.startswith("on")]
    assert "<script>document" not in nasty and nasty.count(shown(NASTY)) > 500
    assert any(NASTY in word for word in seen.words)


def test_the_script_is_the_same_whatever_was_said(tmp_path: Path, nasty: str) -> None:
    """Nothing of a journal is in the code: it is byte for byte that of another call's page."""
    write_report_call(tmp_path, "two", 1)
    scripts = [
        re.findall(r"<script>(.*?)</script>", text, re.DOTALL) for text in (nasty, report(tmp_path, "two"))
    ]
    assert len(scripts[0]) == 1 and scripts[0] == scripts[1]
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|fetch|XMLHttp", scripts[0][0]
    )


def test_the_page_loads_nothing_and_runs_only_its_own_script(nasty: str) -> None:
    """No address but data, no link, no font; the policy forbids what is not in the file and names the script's hash."""
    seen = Page(nasty)
    assert not {"link", "iframe", "object", "embed", "use", "base"} & set(seen.tags)
    assert not [value for _, name, value in seen.attributes if name in ("src", "href", "srcset", "action")]
    (code,) = re.findall(r"<script>(.*?)</script>", nasty, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    (policy,) = [
        unescape(value or "")
        for tag, name, value in seen.attributes
        if (tag, name) == ("meta", "content") and "src" in (value or "")
    ]
    assert policy.startswith("default-src 'none'") and f"script-src 'sha256-{digest}'" in policy
    assert "connect-src" not in policy and "unsafe-eval" not in policy
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", nasty.replace(shown(NASTY), ""))


def test_marks_that_turn_the_writing_are_shown_as_such() -> None:
    """A word that would reverse the line, a control character, half a pair: each becomes one visible mark."""
    assert shown("a\u202eb\x00c\ud800d\n<") == "a\ufffdb\ufffdc\ufffdd\n&lt;"
    page("\ud800", "").encode()


def test_every_turn_is_there_to_be_filtered_by(tmp_path: Path) -> None:
    """Outcome, stage and hand-off reason of each turn are in its attributes, and the choices count them."""
    write_report_call(tmp_path, "one", 20)
    text = report(tmp_path, "one")
    assert re.findall(r'data-outcome="(\w+)" data-stage="(\w*)"', text)[:4] == [
        ("refused", "gate"), ("blocked", "check"), ("interrupted", ""), ("answered", ""),
    ]  # fmt: skip
    assert '<option value="refused">未回答（5）</option>' in text
    assert '<option value="VERDICT">核对不过 VERDICT（1）</option>' in text
    assert '<option value="">没有失败（10）</option>' in text
    assert text.count("退款在审核后3天到账。".casefold()) >= 15


def test_the_supporting_sentence_is_marked(tmp_path: Path) -> None:
    """Of a long passage the sentence that says it, whatever stands around it; nothing where nothing is."""
    passage = "退款\n请先提交申请。审核通过后3天到账，原路退回。节假日顺延。"
    start, end = supporting("审核通过后3天到账。[S1]", passage)
    assert passage[start:end] == "审核通过后3天到账，原路退回。"
    assert supporting("随便", "") == (0, 0)
    write_report_call(tmp_path, "one", 4)
    assert "先申请。<mark>退款在审核后3天到账。</mark>" in report(tmp_path, "one")


def test_scores_keep_their_order_in_the_drawing() -> None:
    """On every axis the best score is highest, the worst lowest; a cited passage has a colour; no score, no dot."""
    ranking = tuple(RankedRecord(f"p{n}", n, 1.0 / n) for n in (1, 2, 3))
    unscored = (RankedRecord("p1", 1, None), RankedRecord("p2", 2, 0.5))
    text = scores(TurnRecord(1, channels={"bm25": ranking, "dense": unscored}, reranked=ranking))
    heights = {m[1]: float(m[0]) for m in re.findall(r'cy="([\d.]+)" r="4"><title>(\w+ 第 \d 名)', text)}
    assert heights["p1 第 1 名"] < heights["p2 第 2 名"] < heights["p3 第 3 名"]
    assert text.count("<circle") == 7
    assert scores(TurnRecord(1)) == ""


def test_a_recording_is_held_in_the_page_or_said_to_be_missing(tmp_path: Path) -> None:
    """Both sides as a data address while there is room; else the reason, in words."""
    write_report_call(tmp_path, "one", 1, sound=True)
    write_report_call(tmp_path, "two", 1)
    held = read_sound(tmp_path / "one.wav")
    assert (
        base64.b64decode(held.address.removeprefix("data:audio/wav;base64,"))
        == (tmp_path / "one.wav").read_bytes()
    )
    (tmp_path / "odd.wav").write_bytes(b"<script>")
    assert read_sound(tmp_path / "odd.wav").note.endswith("不是 WAV 录音，没有放入")
    assert "超过本页" in read_sound(tmp_path / "one.wav", room=1000).note
    text = report(tmp_path, "one", "two")
    assert text.count("<audio ") == 1 and "没有录音" in text


def test_too_many_calls_leave_the_oldest_out_and_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page has an end: the newest calls are kept, the rest counted on the page and to the caller."""
    monkeypatch.setattr(reporting, "MOST_TURNS", 5)
    for name in ("a", "b", "c"):
        write_report_call(tmp_path, name, 2)
    journals = [tmp_path / f"{name}.jsonl" for name in ("a", "b", "c")]
    written = reporting.write_report(journals, tmp_path / "page.html")
    assert (written.calls, written.turns, written.left_out) == (2, 4, 1)
    text = (tmp_path / "page.html").read_text("utf-8")
    assert "另有 1 通没有放入" in text and '<h2 id="c1">b</h2>' in text


def test_a_torn_journal_is_shown_with_what_is_wrong(tmp_path: Path) -> None:
    """A killed call is still a page, and says that it was cut off."""
    path = write_report_call(tmp_path, "one", 2)
    path.write_bytes(path.read_bytes()[:-200])
    text = report(tmp_path, "one")
    assert "no call_ended" in text and text.count('<article class="turn"') == len(read_call(path).turns)


def test_inspect_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One call, or the calls that a filter admits; private as the journals are; in JSON for machines."""
    write_report_call(tmp_path, "one", 1)  # refused at the gate
    write_report_call(tmp_path, "two", 2)
    file = tmp_path / "out.html"
    assert _run(str(tmp_path / "two.jsonl"), "--html", str(file)) == 0
    assert capsys.readouterr().out == f"{file}: 1 calls, 2 turns, 0 recordings\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert _run(str(tmp_path), "--failed-at", "check", "--html", str(file), "--json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "html": str(file), "calls": 1, "turns": 2, "recordings": 0, "left_out": 0
    }  # fmt: skip


@pytest.mark.parametrize("odd", [["--turn", "1"], ["--expect", "x"], ["--mark", "wrong"]])
def test_a_page_shows_whole_calls(tmp_path: Path, odd: list[str]) -> None:
    """What goes with one turn does not go with a page."""
    path = write_report_call(tmp_path, "one", 1)
    with pytest.raises(InputError, match="--html shows whole calls"):
        _run(str(path), "--html", str(tmp_path / "out.html"), *odd)


def test_a_page_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    """What, where, how to mend."""
    path = write_report_call(tmp_path, "one", 1)
    with pytest.raises(InputError, match="cannot be written"):
        _run(str(path), "--html", str(tmp_path / "missing" / "out.html"))
