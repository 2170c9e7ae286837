"""The calls of a folder in brief, fast: what a call told at its end, or an earlier list read, is not read again."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from voice_agent.errors import InputError
from voice_agent.record import kept
from voice_agent.record.inspection import call_of
from voice_agent.record.kept import Kept, mark
from voice_agent.record.lines import journal_bytes, lines_of
from voice_agent.record.summary import CallSummary, summarise

_UNUSED: Final = tuple(
    b'{"type":"%s"' % kind for kind in (b"fusion", b"rerank", b"query", b"partial", b"prompt", b"shadow")
)
_NOTHING_DOWN: Final = b'"down":{}}'


@dataclass(frozen=True, slots=True)
class Listed:
    """The calls, oldest first, and how many files are no journal."""

    calls: tuple[CallSummary, ...]
    unread: int


def list_summaries(directory: Path) -> Listed:
    """Every journal of a folder. Raises InputError if there is no such folder."""
    if not directory.is_dir():
        raise InputError(f"{directory}: no such folder; give the folder of the journals with --logs")
    known = kept.kept_in(directory)
    now: dict[str, Kept] = {}
    for path in directory.glob("*.jsonl"):
        before = known.get(path.name)
        now[path.name] = before if before is not None and before.is_of(path) else _read(path)
    if now != known:
        kept.replace(directory, now)
    calls = [row.call for row in now.values() if row.call is not None]
    calls.sort(key=lambda call: (call.started, call.call))
    return Listed(tuple(calls), len(now) - len(calls))


def keep_summary(journal: Path) -> None:
    """Keeps what a call that has just ended tells, for the next list. The call itself does not hang on it: where it
    cannot be kept, that list reads the journal."""
    kept.add(journal.parent, journal.name, _read(journal))


def _read(path: Path) -> Kept:
    size, at_ns = mark(path)  # before reading: what is written meanwhile makes it read again
    return Kept(size, at_ns, _summary_of(path))


def _summary_of(path: Path) -> CallSummary | None:
    with suppress(InputError):
        data = journal_bytes(path)
        with suppress(InputError):
            return summarise(call_of(lines_of(path, lean(data))))
        return summarise(call_of(lines_of(path, data)))
    return None


def lean(data: bytes) -> bytes:
    """The journal without the events that a summary does not need: rankings, most of all."""
    return b"\n".join(line for line in data.split(b"\n") if not _is_unused(line))


def _is_unused(line: bytes) -> bool:
    if line.startswith(_UNUSED):
        return line.endswith(b"}")
    # Where a channel was down, or none found anything, the stage of a failure hangs on it.
    return line.startswith(b'{"type":"recall"') and line.endswith(_NOTHING_DOWN) and b'"rank":1' in line
