"""Laws of loading a knowledge base, and of its entries."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from retrieval import corpus as corpus_module
from retrieval.corpus import load_corpus
from retrieval.errors import CorpusError

DEMO = Path(__file__).resolve().parents[2] / "data" / "kb"


def write(folder: Path, name: str, *entries: dict[str, Any] | str) -> Path:
    lines = [e if isinstance(e, str) else json.dumps(e, ensure_ascii=False) for e in entries]
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_only_id_and_text_are_needed(tmp_path: Path) -> None:
    """A plain id, text, source file loads with the defaults."""
    path = write(tmp_path, "kb.jsonl", {"id": "a", "text": "答案。", "source": "手册"})
    (passage,) = load_corpus(path).passages
    assert (passage.id, passage.text, passage.source) == ("a", "答案。", "手册")
    assert (passage.title, passage.questions, passage.risk, passage.must_handoff) == ("", (), "low", False)
    assert passage.valid_on(date(1990, 1, 1))


def test_every_field_is_read(tmp_path: Path) -> None:
    """Dates, lists, risk and hand-off arrive typed; null is absent."""
    entry = {
        "id": "a",
        "title": "题",
        "text": "答。",
        "questions": ["问？", "问？"],
        "version": "2026.1",
        "valid_from": "2026-01-01",
        "valid_to": None,
        "tags": ["退"],
        "risk": "high",
        "must_handoff": True,
    }
    (passage,) = load_corpus(write(tmp_path, "kb.jsonl", entry)).passages
    assert passage.valid_from == date(2026, 1, 1)
    assert passage.valid_to is None
    assert (passage.questions, passage.tags) == (("问？",), ("退",))
    assert (passage.risk, passage.must_handoff) == ("high", True)
    assert not passage.valid_on(date(2025, 12, 31))


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{", "invalid JSON"),
        ("[]", "must be a JSON object"),
        ('{"id": "b", "id": "c", "text": "x"}', "stands twice"),
        ("[" * 100_000, "recursion"),
        ({"text": "x"}, "id is missing"),
        ({"id": "b"}, "text is missing"),
        ({"id": "", "text": "x"}, "id must be"),
        ({"id": " b", "text": "x"}, "id must be"),
        ({"id": 5, "text": "x"}, "id must be a string"),
        ({"id": "b", "text": " \n"}, "text is empty"),
        ({"id": "b", "text": None}, "text is empty"),
        ({"id": "b", "text": "x", "questions": "q"}, "questions must be a list"),
        ({"id": "b", "text": "x", "questions": [" "]}, "questions holds an empty"),
        ({"id": "b", "text": "x", "tags": [1]}, "tags must be a string"),
        ({"id": "b", "text": "x", "version": 2026.1}, "version must be a string"),
        ({"id": "b", "text": "x", "valid_from": "2026-02-30"}, "valid_from is '2026-02-30'"),
        ({"id": "b", "text": "x", "valid_from": "20260201"}, "write a date like"),
        ({"id": "b", "text": "x", "valid_from": "2026-02-01", "valid_to": "2026-01-01"}, "is after valid_to"),
        ({"id": "b", "text": "x", "risk": "huge"}, "low, medium or high"),
        ({"id": "b", "text": "x", "must_handoff": "yes"}, "true or false"),
        ('{"id": "b", "text": "\\ud800"}', "half a character"),
        ({"id": "a", "text": "again"}, "kb.jsonl:1"),
    ],
)
def test_a_fault_is_one_line_with_its_place(tmp_path: Path, line: dict[str, Any] | str, fault: str) -> None:
    """File, line and what to mend; a duplicate names both places."""
    path = write(tmp_path, "kb.jsonl", {"id": "a", "text": "答。"}, line)
    with pytest.raises(CorpusError) as caught:
        load_corpus(path)
    message = str(caught.value)
    assert fault in message
    assert "kb.jsonl:2" in message
    assert "\n" not in message


def test_an_empty_knowledge_base_is_a_fault(tmp_path: Path) -> None:
    """An agent without passages must not start as if it had some."""
    with pytest.raises(CorpusError, match="no passages in"):
        load_corpus(tmp_path)
    write(tmp_path, "kb.jsonl", "")
    with pytest.raises(CorpusError, match="no passages in"):
        load_corpus(tmp_path)


def test_a_wrong_path_is_a_fault(tmp_path: Path) -> None:
    """Neither a missing folder nor a file of another kind is read as nothing."""
    with pytest.raises(CorpusError, match="no such file or folder"):
        load_corpus(tmp_path / "none")
    with pytest.raises(CorpusError, match=r"not a \.jsonl"):
        load_corpus(write(tmp_path, "kb.csv", "a,b"))


def test_another_encoding_is_named_with_its_line(tmp_path: Path) -> None:
    """GBK is not guessed at."""
    (tmp_path / "kb.md").write_bytes(b"# a\n" + "退货".encode("gbk"))
    with pytest.raises(CorpusError, match=r"kb\.md:2: not UTF-8"):
        load_corpus(tmp_path)


def test_a_file_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A huge file is refused before it is read."""
    monkeypatch.setattr(corpus_module, "MAX_FILE_BYTES", 10)
    with pytest.raises(CorpusError, match="split it"):
        load_corpus(write(tmp_path, "kb.jsonl", {"id": "a", "text": "答案。"}))


def test_what_is_odd_is_warned_about(tmp_path: Path) -> None:
    """Unknown keys, files of other kinds and over-long passages load, and are said."""
    write(tmp_path, "kb.jsonl", {"id": "a", "text": "长" * 700, "colour": "red"})
    write(tmp_path, "notes.csv", "x")
    write(tmp_path, ".hidden.jsonl", "{")
    write(tmp_path, "empty.md", "# 只有标题")
    warnings = "\n".join(load_corpus(tmp_path).warnings)
    for said in (
        "kb.jsonl:1: unknown key colour",
        "700 characters",
        "notes.csv: left out",
        "empty.md: no text",
    ):
        assert said in warnings


def test_a_passage_without_a_word_is_left_out_and_said(tmp_path: Path) -> None:
    """Marks and rules have no terms: indexed, they would only be empty rows that no question can find."""
    write(tmp_path, "kb.jsonl", {"id": "a", "text": "——。"}, {"id": "b", "text": "退货。"})
    write(tmp_path, "m.md", "# 手册\n\n……\n\n## 一\n\n保修。")
    loaded = load_corpus(tmp_path)
    assert [p.text for p in loaded.passages] == ["退货。", "保修。"]
    assert len(loaded.warnings) == 2
    assert "kb.jsonl:1: no word in it" in loaded.warnings[0]


def test_traditional_script_is_shown_as_it_was_written(tmp_path: Path) -> None:
    """The index compares in Simplified; what is shown and spoken is the author's own text."""
    text = "退款在審核通過後三個工作日到賬，①②兩項除外。"
    (passage,) = load_corpus(write(tmp_path, "kb.jsonl", {"id": "a", "text": text})).passages
    assert passage.text == text


def test_documents_are_cut_and_named_by_path_and_heading(tmp_path: Path) -> None:
    """The id is the file's path and the heading path; the title path is kept."""
    write(tmp_path, "sub/router.md", "# 手册\n\n开头。\n\n## 灯号\n\n### 红灯\n\n断电。")
    first, second = load_corpus(tmp_path).passages
    assert (first.id, first.title, first.source) == ("sub/router#top-1", "手册", "手册")
    assert (second.id, second.title) == ("sub/router#灯号/红灯-1", "手册 > 灯号 > 红灯")
    assert second.source == "手册 红灯"


def test_front_matter_dates_a_whole_document(tmp_path: Path) -> None:
    """Version and validity of a manual hold for each of its passages; a wrong value is a fault."""
    head = "---\nversion: 2026.1\nvalid_to: 2026-06-30\ntags: [a, b]\nmust_handoff: true\ncolour: red\n---\n"
    write(tmp_path, "m.md", f"{head}# 手册\n\n甲。\n\n## 一\n\n乙。")
    loaded = load_corpus(tmp_path)
    for passage in loaded.passages:
        assert (passage.version, passage.valid_to) == ("2026.1", date(2026, 6, 30))
        assert (passage.tags, passage.must_handoff) == (("a", "b"), True)
    assert "colour" in loaded.warnings[0]
    write(tmp_path, "m.md", "---\nmust_handoff: maybe\n---\n甲。")
    with pytest.raises(CorpusError, match="true or false"):
        load_corpus(tmp_path)


def test_a_text_file_has_no_markup(tmp_path: Path) -> None:
    """A line that begins with # in a .txt file is text, not a heading."""
    write(tmp_path, "notes.txt", "# 注意\n不要拆机。")
    (passage,) = load_corpus(tmp_path).passages
    assert (passage.text, passage.title) == ("注意不要拆机。", "notes")
    assert re.fullmatch(r"notes#[0-9a-f]{10}", passage.id)


def test_order_and_fingerprints_do_not_depend_on_the_machine(tmp_path: Path) -> None:
    """Files sort by name; any changed field changes the corpus, and only that passage's sha if it is content."""
    write(tmp_path, "b.jsonl", {"id": "b", "text": "乙。"})
    write(tmp_path, "a.jsonl", {"id": "z", "text": "甲。"}, {"id": "c", "text": "丙。"})
    one = load_corpus(tmp_path)
    assert [p.id for p in one.passages] == ["z", "c", "b"]
    assert load_corpus(tmp_path) == one
    assert one.sha.startswith(one.version)
    write(tmp_path, "b.jsonl", {"id": "b", "text": "乙。", "must_handoff": True})
    two = load_corpus(tmp_path)
    assert two.sha != one.sha
    assert [p.sha for p in two.passages] == [p.sha for p in one.passages]
    write(tmp_path, "b.jsonl", {"id": "b", "text": "乙丙。"})
    assert [p.sha == q.sha for p, q in zip(one.passages, load_corpus(tmp_path).passages, strict=True)] == [
        True,
        True,
        False,
    ]


def test_the_demo_knowledge_base_loads_without_a_warning() -> None:
    """What we ship is clean: entries and manuals, each passage short enough to be heard."""
    loaded = load_corpus(DEMO)
    assert loaded.warnings == ()
    assert {"err-2048", "err-2049", "return-window-2025", "return-window-2026"} <= {
        p.id for p in loaded.passages
    }
    manuals = [p for p in loaded.passages if "#" in p.id]
    assert {p.id.split("#")[0] for p in manuals} == {"manual_router", "manual_broadband", "manual_aftersales"}
    assert all(len(p.text) <= 420 and "|" not in p.text for p in manuals)
