"""`voice-agent inspect … --html FILE`: calls as one page; journals and recordings read, the page written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from voice_agent.errors import InputError
from voice_agent.record.inspection import call_of
from voice_agent.record.lines import read_lines
from voice_agent.record.report import html_report
from voice_agent.record.report_call import CallView
from voice_agent.record.report_sound import MOST_BYTES, read_sound
from voice_agent.record.waterfall import waterfalls

MOST_TURNS = 2000
"""Turns of a page: some 40 MB of text. Who wants more days chooses among them with the filters of the list."""

_OWNER_ONLY = 0o600


@dataclass(frozen=True, slots=True)
class Written:
    """What the page holds."""

    calls: int
    turns: int
    recordings: int
    left_out: int


def write_report(journals: Sequence[Path], file: Path) -> Written:
    """One page of these calls, the newest kept if they are too many. Raises InputError if it cannot be written."""
    views = _views(journals)
    left = len(journals) - len(views)
    why = (
        f"另有 {left} 通没有放入：一页至多 {MOST_TURNS} 轮，读不出的也不在内；用筛选缩小范围" if left else ""
    )
    _write(file, html_report(views, why))
    turns = sum(len(view.record.turns) for view in views)
    return Written(len(views), turns, sum(bool(view.sound.address) for view in views), left)


def _views(journals: Iterable[Path]) -> list[CallView]:
    """In the order given, oldest first; recordings are kept from the newest back while there is room."""
    found: list[CallView] = []
    turns, room = 0, MOST_BYTES
    for path in reversed(list(journals)):
        view = _view(path, room)
        if view is None:
            continue
        turns += len(view.record.turns)
        if found and turns > MOST_TURNS:
            break
        room -= view.sound.size
        found.append(view)
    return found[::-1]


def _view(path: Path, room: int) -> CallView | None:
    """None if it is no journal, or is gone since it was listed."""
    with suppress(InputError):
        lines = read_lines(path)
        sound = read_sound(path.with_suffix(".wav"), room)
        return CallView(call_of(lines), waterfalls(lines.events), sound)
    return None


def _write(file: Path, page: str) -> None:
    """As private as the journals are, and whole or not at all."""
    beside = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        with open(beside, "w", encoding="utf-8", opener=_private) as out:
            out.write(page)
        os.replace(beside, file)
    except OSError as e:
        with suppress(OSError):
            beside.unlink()
        raise InputError(f"{file}: cannot be written ({e.strerror}); give another --html FILE") from e


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, _OWNER_ONLY)
