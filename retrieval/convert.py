"""One Word, PDF or HTML document on standard input, JSON with its Markdown on standard output. Run as a script.

A process of its own, started by retrieval/documents.py: a document that hangs, eats memory or crashes the parser ends
this process and nothing else. The converter (markitdown) is called by its single converters: no type guessing, no
fetching of addresses, no plug-ins; an audit hook ends the process if anything in it connects, starts a program or
writes a file. Macros are never read: they are no part of what is converted. Imports nothing of this project.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

_FORBIDDEN: Final = (
    "socket.connect",
    "socket.getaddrinfo",
    "socket.sendto",
    "socket.sendmsg",
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "urllib.Request",
)

_TITLES: Final = "\n".join(
    ["p[style-name='Title'] => h1:fresh"]
    + [f"p[style-name='Heading {n}'] => h{n + 1}:fresh" for n in range(1, 6)]
)
"""A Word document has one title, and its headings stand below it."""


class Fault(Exception):
    """What is wrong with the document, in a few words."""


def seal() -> None:
    """From here on this process reads and computes only."""

    def watch(event: str, args: tuple[Any, ...]) -> None:
        writes = event == "open" and isinstance(args[1], str) and bool(set("wax+") & set(args[1]))
        if writes or event in _FORBIDDEN:
            raise PermissionError(f"a document must not cause {event}")

    sys.addaudithook(watch)


def bound(seconds: int, megabytes: int) -> None:
    """Processor time and memory, where the system can limit them; the parent's timeout holds everywhere."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))


def convert(kind: str, data: bytes, max_pages: int) -> str:
    """Markdown of a document of this kind. Raises Fault, and whatever the converter raises."""
    if kind == "pdf":
        return _pdf(data, max_pages)
    return _docx(data) if kind == "docx" else _html(data)


def _docx(data: bytes) -> str:
    from markitdown import StreamInfo
    from markitdown.converters import DocxConverter

    converter = DocxConverter()  # type: ignore[no-untyped-call]  # its constructor has no annotations
    made = converter.convert(io.BytesIO(data), StreamInfo(extension=".docx"), style_map=_TITLES)
    return _with_heads(made.markdown)


def _with_heads(markdown: str) -> str:
    """A Word table whose first row is no declared header comes with an empty one: its first row is the header."""
    return re.sub(r"(?m)^\|(?:\s*\|)+\n(\|[ :|-]+\|)\n(\|.*\|)$", r"\2\n\1", markdown)


def _html(data: bytes) -> str:
    from bs4 import BeautifulSoup
    from bs4.dammit import EncodingDetector
    from markitdown.converters import HtmlConverter

    charset = EncodingDetector.find_declared_encoding(data, is_html=True) or "utf-8"
    try:
        text = data.decode("utf-8-sig" if charset.lower() in ("utf-8", "utf8") else charset)
    except (UnicodeDecodeError, LookupError) as e:
        raise Fault(f"not {charset}, which it declares or must be; save it as UTF-8") from e
    soup = BeautifulSoup(text, "html.parser")
    title = soup.title.get_text(strip=True) if soup.title else ""
    for element in soup.find_all(_unseen):
        element.decompose()
    for link in soup.find_all("a"):
        link.unwrap()
    for cell in soup.find_all(string=re.compile(r"\|")):
        cell.replace_with(cell.replace("|", "｜"))
    heading = "" if soup.h1 or not title else f"# {title}\n\n"
    markdown: str = HtmlConverter().convert_string(str(soup)).markdown
    return heading + _with_heads(markdown)


_SKIPPED: Final = frozenset(
    (
        "script",
        "style",
        "template",
        "noscript",
        "head",
        "nav",
        "footer",
        "form",
        "iframe",
        "object",
        "embed",
        "svg",
        "img",
    )
)
_HIDDEN_STYLE: Final = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d]*[1-9])"
)


def _unseen(element: Any) -> bool:
    """What a reader of the page does not see, and what is on every page of a site."""
    if element.name in _SKIPPED or element.has_attr("hidden") or element.get("aria-hidden") == "true":
        return True
    return bool(_HIDDEN_STYLE.search(str(element.get("style", "")).lower()))


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a PDF page: its text without blanks, its font size in points (rounded to halves), whether bold."""

    text: str
    size: float
    bold: bool


def _pdf(data: bytes, max_pages: int) -> str:
    import pdfplumber
    from markitdown import StreamInfo
    from markitdown.converters import PdfConverter
    from pdfminer.pdfdocument import PDFPasswordIncorrect
    from pdfplumber.utils.exceptions import PdfminerException

    try:
        with pdfplumber.open(io.BytesIO(data)) as pdf:
            if len(pdf.pages) > max_pages:
                raise Fault(f"{len(pdf.pages)} pages, more than {max_pages}; split it")
            pages = [list(_lines(page)) for page in pdf.pages]
    except PdfminerException as e:
        if e.args and isinstance(e.args[0], PDFPasswordIncorrect):
            raise Fault("encrypted; save it without a password") from e
        raise
    if not any(pages):
        raise Fault(f"{len(pages)} pages without text, a scan perhaps; put it through text recognition first")
    made = PdfConverter().convert(io.BytesIO(data), StreamInfo(extension=".pdf"))
    return "\n".join(_paragraphs(made.markdown, _headings(pages), _repeated(pages)))


def _lines(page: Any) -> Iterator[_Line]:
    for line in page.extract_text_lines():
        chars = [char for char in line["chars"] if char["text"].strip()]
        if chars:
            size, font = Counter((round(c["size"] * 2) / 2, c["fontname"]) for c in chars).most_common(1)[0][
                0
            ]
            yield _Line("".join(c["text"] for c in chars), size, bool(_BOLD.search(font)))
    page.close()


_BOLD: Final = re.compile("bold|black|heavy|hei", re.IGNORECASE)
_LARGER: Final = 1.1
"""Times the size of running text from which a line is a heading."""
_LONGEST_HEADING: Final = 60


def _headings(pages: Sequence[Sequence[_Line]]) -> dict[str, int]:
    """Each line that its type makes a heading, and its level by size."""
    lines = [line for page in pages for line in page]
    written: Counter[tuple[float, bool]] = Counter()
    for line in lines:
        written[line.size, line.bold] += len(line.text)
    body, body_bold = written.most_common(1)[0][0]

    def stands_out(line: _Line) -> bool:
        ends = line.text[-1] in "。；，、.;,：:" or len(line.text) > _LONGEST_HEADING
        return not ends and (line.size >= body * _LARGER or (line.bold > body_bold and line.size >= body))

    found = [line for line in lines if stands_out(line)]
    sizes = sorted({line.size for line in found}, reverse=True)
    return {line.text: min(sizes.index(line.size) + 1, 6) for line in found}


def _repeated(pages: Sequence[Sequence[_Line]]) -> frozenset[str]:
    """First and last lines that stand on most pages, whatever their numbers: running heads, page numbers."""
    edges = Counter(text for page in pages if page for text in {_no_figures(page[i].text) for i in (0, -1)})
    return frozenset(text for text, seen in edges.items() if len(pages) > 2 and seen > 0.6 * len(pages))


def _no_figures(text: str) -> str:
    return re.sub(r"\d+", "0", "".join(text.split()))


def _paragraphs(markdown: str, headings: dict[str, int], repeated: frozenset[str]) -> Iterator[str]:
    """The lines with headings marked, running heads left out, and sentences joined over page ends."""
    kept: list[str] = []
    for raw in re.split(r"[\n\f]", markdown):
        bare = "".join(raw.split())
        if not bare or _no_figures(bare) in repeated:
            continue
        level = headings.get(bare)
        kept.append(f"{'#' * level} {raw.strip()}" if level else _unmarked(raw.strip()))
    for line, after in pairwise([*kept, ""]):
        yield line
        if not (line.startswith("|") and after.startswith("|")) and (
            line[-1] in "。！？；：.!?:|" or line.startswith("#") or after.startswith(("#", "|"))
        ):
            yield ""


def _unmarked(line: str) -> str:
    """Text of a page that begins like a heading is none."""
    return f"\\{line}" if line.startswith("#") else line


def main(kind: str, max_pages: str, seconds: str, megabytes: str) -> None:
    """Writes {"markdown": …} or {"fault": …}. Whatever else is raised ends the process, and the parent reads why."""
    bound(int(seconds), int(megabytes))
    seal()
    try:
        answer = {"markdown": convert(kind, sys.stdin.buffer.read(), int(max_pages))}
    except Fault as e:
        answer = {"fault": str(e)}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
