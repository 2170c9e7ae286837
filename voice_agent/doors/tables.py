"""Tables for people: rich in a terminal, tab-separated lines in a pipe."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

Row = Sequence[str]

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
# Also marks that turn the writing direction: a transcript must not be able to redraw the screen.


_UNQUOTED = re.compile(r"[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
# JSON itself quotes only what lies below a blank.


@dataclass(frozen=True, slots=True)
class Block:
    """A titled table. Without `columns` it is a list of names and values."""

    title: str
    rows: tuple[Row, ...]
    columns: tuple[str, ...] = ()


def show(blocks: Sequence[Block], out: TextIO | None = None) -> None:
    """Writes the blocks to `out` (default: stdout). Empty blocks are left out."""
    stream = out or sys.stdout
    full = [block for block in blocks if block.rows]
    if stream.isatty():
        console = Console(file=stream, highlight=False)
        for block in full:
            console.print(_table(block))
    else:
        stream.writelines(f"{line}\n" for block in full for line in _lines(block))


def clean(text: object) -> str:
    """One printable line: control characters, line breaks and direction marks become spaces."""
    return _CONTROL.sub(" ", "" if text is None else str(text))


def json_line(facts: Mapping[str, object]) -> str:
    """One JSON object in a line, the same control characters and direction marks written as escapes."""
    text = json.dumps(facts, ensure_ascii=False)
    return _UNQUOTED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def number(value: float | None, digits: int = 3) -> str:
    """A number short enough for a table; '-' if there is none."""
    if value is None:
        return "-"
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)


def _lines(block: Block) -> list[str]:
    head = [f"# {clean(block.title)}"] if block.title else []
    names = ["\t".join(block.columns)] if block.columns else []
    return [*head, *names, *("\t".join(clean(cell) for cell in row) for row in block.rows)]


def _table(block: Block) -> Table:
    table = Table(
        title=Text(clean(block.title)) if block.title else None,
        title_justify="left",
        show_header=bool(block.columns),
    )
    for column in block.columns or ("",) * max(len(row) for row in block.rows):
        table.add_column(column, overflow="fold")
    for row in block.rows:
        table.add_row(*(Text(clean(cell)) for cell in row))
    return table
