"""What people think of turns: marks beside a call's journal, `<call>.marks.json`, one JSON line a mark.

Only the owner may read the file, every mark is appended by one write, and the last mark of a turn is what holds.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from retrieval.metrics import Rate, rate
from voice_agent.errors import InputError
from voice_agent.record.fields import integer, optional, text, texts

Judgement = Literal["right", "wrong", "should_have_refused", "should_have_answered"]

JUDGEMENTS: Final[tuple[Judgement, ...]] = get_args(Judgement)

SUFFIX: Final = ".marks.json"

_PASSAGE_ID: Final = re.compile(r"(?!\s)[^\x00-\x1f\x7f-\x9f]{1,200}(?<!\s)")
_OWNER_ONLY: Final = 0o600


@dataclass(frozen=True, slots=True)
class Mark:
    """One judgement of one turn. `expect` are the passages that would have answered, `said` the words really spoken.

    `at` is when it was made, ISO 8601.
    """

    call: str
    turn: int
    judgement: Judgement
    expect: tuple[str, ...] = ()
    said: str = ""
    at: str = ""


def marks_path(journal: Path) -> Path:
    """Where the marks of this journal's call lie."""
    return journal.with_suffix(SUFFIX)


def check_mark(mark: Mark) -> Mark:
    """The mark itself. Raises InputError if it contradicts itself or names an impossible passage."""
    if mark.judgement == "should_have_refused" and mark.expect:
        raise InputError("--expect: a turn that should have been refused has no passage; leave it out")
    for passage in mark.expect:
        if not _PASSAGE_ID.fullmatch(passage):
            raise InputError(f"--expect {passage!r}: no passage id; `inspect CALL --turn N` shows the ids")
    return mark


def add_mark(journal: Path, mark: Mark) -> None:
    """Appends the mark. Raises InputError if it may not be, or cannot be written."""
    line = json.dumps(asdict(check_mark(mark)), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    path = marks_path(journal)
    try:
        with open(path, "ab+", buffering=0, opener=_private) as file:
            size = file.seek(0, os.SEEK_END)
            torn = size > 0 and os.pread(file.fileno(), 1, size - 1) != b"\n"
            file.write(b"\n" + line if torn else line)
    except OSError as e:
        raise InputError(f"{path}: cannot be written ({e.strerror}); mind the folder's rights") from e


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, _OWNER_ONLY)


def marks_of(journal: Path) -> dict[int, Mark]:
    """The mark that holds for each turn; none if nobody marked. A torn or foreign line is left out."""
    try:
        data = marks_path(journal).read_bytes()
    except OSError:
        return {}
    marks = [mark for line in data.split(b"\n") if (mark := _mark(line)) is not None]
    return {mark.turn: mark for mark in marks}


def marks_in(directory: Path) -> tuple[Mark, ...]:
    """The marks of a folder that have a journal, by call and turn."""
    marked = (path.name.removesuffix(SUFFIX) for path in directory.glob(f"*{SUFFIX}"))
    journals = sorted(directory / f"{call}.jsonl" for call in marked)
    found = [mark for path in journals if path.is_file() for mark in marks_of(path).values()]
    return tuple(sorted(found, key=lambda mark: (mark.call, mark.turn)))


def _mark(line: bytes) -> Mark | None:
    try:
        row = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, Mapping):
        return None
    judgement = next((one for one in JUDGEMENTS if one == row.get("judgement")), None)
    turn = integer(row, "turn")
    if judgement is None or turn is None or not optional(row, "call"):
        return None
    return Mark(text(row, "call"), turn, judgement, texts(row, "expect"), text(row, "said"), text(row, "at"))


def agreement(marks: Iterable[Mark]) -> Rate:
    """The share of marked turns that were marked right, with its exact bounds."""
    listed: Sequence[Mark] = list(marks)
    return rate(sum(mark.judgement == "right" for mark in listed), len(listed))
