"""A Markdown or plain-text document as sections of speakable blocks. Pure; a small, forgiving subset, no HTML.

Read: ATX headings, paragraphs, bulleted and numbered lists, pipe tables, quotes, fenced code, simple `key: value`
front matter. A table row becomes a sentence that names its columns, for nobody can say a table aloud.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

BlockKind = Literal["paragraph", "list", "table", "code"]


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, list, table or code block. `lines` are its text, its items, its row sentences, its lines."""

    kind: BlockKind
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True)
class Section:
    """The blocks under one heading. `path` is the headings from the document's down; empty before the first."""

    path: tuple[str, ...]
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed document. `fields` is its front matter, unread."""

    sections: tuple[Section, ...]
    fields: Mapping[str, str] = field(default_factory=dict)


_HEADING: Final = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM: Final = re.compile(r"[ \t]*(?:[-*+]|(\d{1,3})[.)、])[ \t]+(.*)")
_RULE: Final = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})")
_ROW_RULE: Final = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_FIELD: Final = re.compile(r"([a-z_]{1,32}):[ \t]*(.*)")


def parse(text: str) -> Document:
    """Splits a document. Never fails: what is not understood is a paragraph."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    fields, start = _front_matter(lines)
    sections: list[Section] = []
    path: list[tuple[int, str]] = []
    body: list[str] = []
    for line, in_code in _marked(lines[start:]):
        heading = None if in_code else _HEADING.fullmatch(line)
        if heading is None:
            body.append(line)
            continue
        _close(sections, path, body)
        level = len(heading[1])
        path = [*(step for step in path if step[0] < level), (level, plain(heading[2]))]
        body = []
    _close(sections, path, body)
    return Document(tuple(sections), fields)


def plain(text: str) -> str:
    """Inline markup removed: emphasis, code ticks, links and images keep their words. Underscores belong to names."""
    text = re.sub(r"!?\[([^\]\n]{0,200})\]\((?:[^()\n]{0,500})\)", r"\1", text)
    text = re.sub(r"\*\*(?=\S)(.+?)(?<=\S)\*\*", r"\1", text)
    text = re.sub(r"(?<![\w*\\])\*(?=\S)([^*\n]+?)(?<=[^\s\\])\*(?![\w*])", r"\1", text)
    text = re.sub(r"<br ?/?>", " ", text, flags=re.IGNORECASE)
    return re.sub(r"\\([\\`*_{}\[\]()#+\-.!|])", r"\1", text.replace("`", "")).strip()


def _front_matter(lines: Sequence[str]) -> tuple[dict[str, str], int]:
    """The fields between two --- at the very top, and the number of lines they take."""
    if not lines or lines[0].strip() != "---":
        return {}, 0
    fields: dict[str, str] = {}
    for i, line in enumerate(lines[1:40], 1):
        if line.strip() == "---":
            return fields, i + 1
        match = _FIELD.fullmatch(line.strip())
        if match is None:
            break
        fields[match[1]] = match[2].strip().strip("\"'")
    return {}, 0


def _marked(lines: Sequence[str]) -> list[tuple[str, bool]]:
    """Each line and whether it lies in fenced code, fences included."""
    marked: list[tuple[str, bool]] = []
    fence = ""
    for line in lines:
        match = _FENCE.match(line)
        if fence:
            marked.append((line, True))
            if match and match[1].startswith(fence):
                fence = ""
        else:
            fence = match[1] if match else ""
            marked.append((line, bool(fence)))
    return marked


def _close(sections: list[Section], path: Sequence[tuple[int, str]], body: Sequence[str]) -> None:
    blocks = _blocks(body)
    if blocks:
        sections.append(Section(tuple(name for _, name in path if name), blocks))


def _blocks(lines: Sequence[str]) -> tuple[Block, ...]:
    blocks: list[Block] = []
    run: list[str] = []
    was_code = False
    for line, in_code in [*_marked(lines), ("", False)]:
        ends = not in_code and (not line.strip() or bool(_RULE.fullmatch(line)))
        if ends or in_code != was_code or (run and not in_code and _starts_anew(run[-1], line)):
            blocks += _block(run)
            run = []
        if not ends:
            run.append(line)
        was_code = in_code
    return tuple(blocks)


def _starts_anew(before: str, line: str) -> bool:
    """A list or table may follow a paragraph, and a paragraph a table, without a blank line between."""
    was_item, is_item = bool(_ITEM.fullmatch(before)), bool(_ITEM.fullmatch(line))
    was_row, is_row = _is_row(before), _is_row(line)
    return was_row != is_row or (is_item and not was_item and not before.startswith((" ", "\t")))


def _is_row(line: str) -> bool:
    return line.strip().startswith("|")


def _block(lines: Sequence[str]) -> list[Block]:
    if not lines:
        return []
    if _FENCE.match(lines[0]):
        code = [line for line in lines if not _FENCE.match(line)]
        return [Block("code", tuple(code))] if any(line.strip() for line in code) else []
    if len(lines) > 1 and _is_row(lines[0]) and _ROW_RULE.fullmatch(lines[1]):
        rows = _table(lines)
        return [Block("table", rows)] if rows else []
    if _ITEM.fullmatch(lines[0]):
        items = _items(lines)
        return [Block("list", items)] if items else []
    text = _join([re.sub(r"^[ \t]*>[ \t]?", "", line) for line in lines])
    return [Block("paragraph", (text,))] if text else []


def _items(lines: Sequence[str]) -> tuple[str, ...]:
    """List items; a numbered one keeps its number as 1、 so that it is spoken and not read as a decimal."""
    items: list[str] = []
    for line in lines:
        match = _ITEM.fullmatch(line)
        if match is None and items:
            items[-1] = _join([items[-1], line])
        elif match:
            items.append(f"{match[1]}、{plain(match[2])}" if match[1] else plain(match[2]))
    return tuple(item for item in items if item)


def _join(lines: Sequence[str]) -> str:
    """A paragraph on one line; a blank only where Latin text was wrapped."""
    text = ""
    for line in lines:
        line = plain(line)
        glue = " " if text and line and text[-1].isascii() and line[0].isascii() else ""
        text += glue + line
    return text


def _table(lines: Sequence[str]) -> tuple[str, ...]:
    """One sentence a row: 灯号蓝色常亮的含义为联网正常，处理办法为无需处理。"""
    heads = _cells(lines[0])
    sentences = []
    for line in lines[2:]:
        cells = _cells(line)
        facts = [_fact(head, cell) for head, cell in zip(heads[1:], cells[1:], strict=False) if cell]
        subject = cells[0] if not cells[0] or cells[0].startswith(heads[0]) else heads[0] + cells[0]
        said = "的".join(part for part in (subject, "，".join(facts)) if part)
        if said:
            sentences.append(f"{said}。")
    return tuple(sentences)


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [plain(cell) for cell in re.split(r"(?<!\\)\|", inner)]


def _fact(head: str, cell: str) -> str:
    """是否接受到付 + 不接受 -> 不接受到付; any other column -> 售后仓为东区仓."""
    asked = head.removeprefix("是否")
    if asked != head and cell in ("是", "否"):
        return asked if cell == "是" else f"不{asked}"
    if asked != head and asked.startswith(cell.removeprefix("不")):
        return f"不{asked}" if cell.startswith("不") else asked
    return f"{head}为{cell}" if head else cell
