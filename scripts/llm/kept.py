"""The file of a bench's rows: JSON lines, each on disk before the next question is asked, continued by the next run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Setup = dict[str, str]
"""What the rows of one file have in common: model, protocol, mode, and which prompt."""


def known(path: Path, setup: Setup) -> dict[str, Row]:
    """The rows of earlier runs, by id; a last line cut short by a stop is asked again."""
    rows: dict[str, Row] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if row["setup"] != setup:
            raise SystemExit(f"{path}: holds answers of another set-up ({row['setup']}); give another --out")
        rows[row["id"]] = row
    return rows


def before(path: Path) -> dict[str, Row]:
    """The rows whose words are to be judged again."""
    return {row["id"]: row for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())}


def keep(row: Row, out: Path) -> None:
    """On disk before the next question is asked."""
    with out.open("ab+") as file:
        file.seek(0, 2)
        if file.tell():
            file.seek(-1, 2)
            file.write(b"" if file.read(1) == b"\n" else b"\n")
        file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
