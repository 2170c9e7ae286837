"""Laws of Word, PDF and HTML documents: what comes in, what never does, and what a bad file costs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from retrieval import convert as converter
from retrieval import documents as documents_module
from retrieval.chunk import ChunkRules
from retrieval.corpus import load_corpus
from retrieval.documents import DocumentLimits, Documents
from retrieval.errors import CorpusError
from retrieval.types import Passage
from tests.retrieval.documents_made import docx, pdf, with_member

ROOT = Path(__file__).resolve().parents[2]
TEXT = "状态灯在机身正面，断网时请按下表处理，每次处理后等待2分钟。"
ROWS = [
    ("灯号", "含义", "处理办法"),
    ("蓝色常亮", "联网正常", "无需处理"),
    ("红色闪烁", "没有网络", "检查网线"),
]
SAID = [
    "灯号蓝色常亮的含义为联网正常，处理办法为无需处理。",
    "灯号红色闪烁的含义为没有网络，处理办法为检查网线。",
]
WORD = docx("澄湾路由器手册", "灯号含义", TEXT, ROWS)
PAGE = f"""<!doctype html><html><head><title>页标题</title><style>p {{color: red}}</style>
<script>alert("坏话")</script></head><body><nav>首页导航</nav><h1>澄湾路由器手册</h1><h2>灯号含义</h2>
<p>{TEXT}<span style="display: none">藏着的话</span></p><p hidden>看不见的话</p><!-- 注释里的话 -->
<table>{"".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in ROWS)}</table>
<template>模板里的话</template><img src="http://192.0.2.1/a.png" alt="图里的话"></body></html>"""


def drawn(*, head: str = "", number: str = "", size: int = 11) -> list[tuple[int, int, int, str]]:
    """A page with title, heading, text that is wrapped, and a table without rules."""
    lines = [
        (72, 780, 24, "澄湾路由器手册"),
        (72, 740, 16, "灯号含义"),
        (72, 715, size, TEXT[:18]),
        (72, 699, size, TEXT[18:]),
    ]
    for n, row in enumerate(ROWS + [("绿色闪烁", "正在升级", "不要断电")]):
        lines += [(x, 670 - 20 * n, size, cell) for x, cell in zip((72, 200, 340), row, strict=True)]
    edges = [(72, 820, 9, head)] * bool(head), [(290, 20, 9, number)] * bool(number)
    return [*edges[0], *lines, *edges[1]]


def loaded(folder: Path, name: str, data: bytes, limits: DocumentLimits | None = None) -> list[Passage]:
    (folder / name).write_bytes(data)
    return list(load_corpus(folder, ChunkRules(), Documents(limits=limits)).passages)


@pytest.mark.parametrize(
    ("name", "data"),
    [("m.pdf", pdf(drawn())), ("m.docx", WORD), ("m.html", PAGE.encode())],
    ids=lambda v: str(v)[:6],
)
def test_a_document_becomes_passages_with_title_path_and_whole_table(
    tmp_path: Path, name: str, data: bytes
) -> None:
    """Chinese text, headings and a table come out of every kind of document as they come out of Markdown."""
    (passage,) = loaded(tmp_path, name, data)
    assert (passage.id, passage.title) == ("m#灯号含义-1", "澄湾路由器手册 > 灯号含义")
    assert passage.text.startswith(TEXT)
    assert passage.text.split("\n")[1:3] == SAID


def test_a_long_table_of_a_document_names_its_columns_in_every_part(tmp_path: Path) -> None:
    """Cut between rows only, and each part can be understood alone."""
    rows = [ROWS[0], *((f"红灯闪{n}次", "没有网络", "检查网线") for n in range(60))]
    parts = loaded(tmp_path, "m.docx", docx("手册", "灯号", "各灯的含义如下。", rows))
    assert len(parts) > 3
    lines = [line for part in parts for line in part.text.split("\n") if line != "各灯的含义如下。"]
    assert lines == [f"灯号红灯闪{n}次的含义为没有网络，处理办法为检查网线。" for n in range(60)]
    assert all(part.text.startswith("各灯的含义如下。\n") for part in parts)


def test_what_a_reader_of_the_page_does_not_see_is_not_indexed(tmp_path: Path) -> None:
    """Scripts, styles, hidden elements, comments, templates, navigation: nobody read them, nobody may cite them."""
    text = "".join(p.title + p.text for p in loaded(tmp_path, "m.html", PAGE.encode()))
    for hidden in ("坏话", "color", "藏着", "看不见", "注释", "模板", "导航", "图里", "192.0.2.1"):
        assert hidden not in text


def test_a_page_says_its_own_charset(tmp_path: Path) -> None:
    """GBK that is declared is read; undeclared it is a fault, not a guess."""
    page = "<meta charset='gbk'><h1>手册</h1><p>退货须在7天内申请。</p>"
    assert loaded(tmp_path, "m.html", page.encode("gbk"))[0].text == "退货须在7天内申请。"
    with pytest.raises(CorpusError, match="not utf-8"):
        loaded(tmp_path, "m.html", "<p>退货须在7天内申请。</p>".encode("gbk"))


def test_running_heads_and_page_ends_do_not_break_a_sentence(tmp_path: Path) -> None:
    """What stands on every page is no text, and a sentence goes on over the end of a page."""
    text = "第一句话从这一页的末尾一直说到下一页的开头才算说完。"
    pages = [
        [
            (72, 820, 9, "澄湾内部资料"),
            (72, 780, 16, f"第{n}节"),
            (72, 700, 11, text[:13]),
            (290, 20, 9, f"第{n}页"),
        ]
        for n in "123"
    ]
    pages[1][1] = (72, 780, 11, text[13:])
    pages[2][2] = (72, 700, 11, "最后一句。")
    parts = loaded(tmp_path, "m.pdf", pdf(*pages))
    assert [p.title for p in parts] == ["第1节", "第3节"]
    assert parts[0].text == f"{text}\n{text[:13]}"
    assert parts[1].text == "最后一句。"


@pytest.mark.parametrize(
    ("name", "data", "fault"),
    [
        ("m.pdf", pdf(drawn(), encrypted=True), "encrypted; save it without a password"),
        ("m.pdf", pdf([], []), "2 pages without text, a scan perhaps"),
        ("m.pdf", b"%PDF-1.4\nrubbish", "cannot be read"),
        ("m.pdf", WORD, "not a PDF in spite of its name"),
        ("m.docx", WORD[: len(WORD) // 2], "not a whole DOCX file"),
        ("m.docx", b"\xd0\xcf\x11\xe0" + bytes(600), "an old .doc or an encrypted file"),
        ("m.docx", pdf(drawn()), "not a whole DOCX file"),
        ("m.docx", with_member(b"", "a.txt", b"x"), "a zip file but no Word document"),
        ("m.html", pdf(drawn()), "not HTML in spite of its name"),
        ("m.html", b"<p>" + "退货".encode("gbk"), "save it as UTF-8"),
        ("m.html", b"<html><script>1</script></html>", "no text in it"),
    ],
)
def test_a_bad_document_is_one_line_with_its_name(tmp_path: Path, name: str, data: bytes, fault: str) -> None:
    """The file, what is wrong with it, and how to mend it; never a traceback, never silence."""
    with pytest.raises(CorpusError) as caught:
        loaded(tmp_path, name, data)
    assert fault in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / name))
    assert "\n" not in str(caught.value)


def test_a_packed_file_is_bounded_before_it_is_unpacked(tmp_path: Path) -> None:
    """A small file that would unpack to a large one is refused by its directory."""
    bomb = with_member(WORD, "word/media/a.bin", bytes(300_000))
    assert len(bomb) < 100_000
    with pytest.raises(CorpusError, match="bytes unpacked, more than 200000"):
        loaded(tmp_path, "m.docx", bomb, DocumentLimits(unpacked_bytes=200_000))


def test_pages_and_work_are_bounded(tmp_path: Path) -> None:
    """Too many pages, too much time, too much memory and too much text are one line each."""
    data = pdf(drawn(), drawn())
    with pytest.raises(CorpusError, match="2 pages, more than 1; split it"):
        loaded(tmp_path, "m.pdf", data, DocumentLimits(pages=1))
    with pytest.raises(CorpusError, match="not converted within 0.01 s"):
        loaded(tmp_path, "m.pdf", data, DocumentLimits(seconds=0.01))
    with pytest.raises(CorpusError, match="more than 10 bytes of text"):
        loaded(tmp_path, "m.pdf", data, DocumentLimits(markdown_bytes=10))
    with pytest.raises(CorpusError, match="needs more memory"):
        loaded(tmp_path, "m.html", b"<p>" + b"a<br>" * 150_000, DocumentLimits(memory_mb=180))


@pytest.mark.parametrize(
    "deed",
    [
        "import socket; socket.create_connection(('192.0.2.1', 80), 1)",
        "import urllib.request; urllib.request.urlopen('http://192.0.2.1/')",
        "import subprocess, sys; subprocess.run([sys.executable, '-c', ''])",
        "import os; os.system('true')",
        "open('made.txt', 'w')",
    ],
)
def test_a_sealed_converter_reaches_nothing(tmp_path: Path, deed: str) -> None:
    """No connection, no program, no file written, whatever code a document might bring to run."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\nfrom retrieval.convert import seal\nseal()\n{deed}"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=60
    )
    assert "a document must not cause" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_converted_document_is_kept_and_not_converted_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start with the same documents costs no converter; one changed byte does; a broken copy is made again."""
    kept = tmp_path / "kept"
    first = Documents(kept)(PAGE.encode(), "html", "m.html")
    (file,) = kept.iterdir()
    monkeypatch.setattr(documents_module.sys, "executable", "/nowhere")
    assert Documents(kept)(PAGE.encode(), "html", "m.html") == first
    with pytest.raises(CorpusError, match="cannot be started"):
        Documents(kept)(PAGE.replace("2分钟", "3分钟").encode(), "html", "m.html")
    file.write_bytes(b"\xff")
    monkeypatch.undo()
    assert Documents(kept)(PAGE.encode(), "html", "m.html") == first


def test_a_converter_that_is_ended_or_broken_is_one_line() -> None:
    """By the system, for its time; by a library that is missing or breaks: never a traceback for the operator."""
    said = {
        b"": "was ended (exit -24)",
        b"Traceback\n  x\nModuleNotFoundError: No module named 'bs4'\n": "cannot be loaded (ModuleNotFoundError",
        b"Traceback\n  x\npdf.SyntaxError: no /Root\n": "cannot be read (pdf.SyntaxError: no /Root)",
    }
    for stderr, why in said.items():
        assert why in documents_module._why(subprocess.CompletedProcess([], -24, b"", stderr))


def test_a_folder_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    """The copy is a convenience."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert "灯号含义" in Documents(tmp_path / "file" / "kept")(PAGE.encode(), "html", "m.html")


def test_without_the_extra_one_line_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A .pdf in the knowledge base of an installation that cannot read it is no silent gap."""
    monkeypatch.setattr(documents_module, "find_spec", lambda name: None)
    with pytest.raises(CorpusError, match=r"m\.pdf: .* pip install 'voice-agent\[documents\]'"):
        loaded(tmp_path, "m.pdf", pdf(drawn()))


def test_a_knowledge_base_of_markdown_loads_no_converter() -> None:
    """Nothing of the extra is imported by the process that answers calls."""
    code = (
        "import json, sys\nfrom pathlib import Path\nfrom retrieval.corpus import load_corpus\n"
        "load_corpus(Path('data/kb'))\n"
        "print(json.dumps([m for m in ('markitdown', 'bs4', 'pdfminer', 'mammoth', 'PIL') if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert json.loads(done.stdout) == []


def test_a_line_that_looks_like_markup_is_text() -> None:
    """A # at the beginning of a page's line is no heading unless its type makes it one."""
    kept = list(converter._paragraphs("# 号键在右下角\n灯号", {"灯号": 2}, frozenset()))
    assert kept == ["\\# 号键在右下角", "", "## 灯号", ""]
