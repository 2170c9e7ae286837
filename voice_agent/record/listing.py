"""The calls of a folder in brief, fast: what was read once is kept beside the journals until a journal changes.

The file holds numbers and codes only, no word of a call, and may be deleted at any time: it only saves reading again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from voice_agent.errors import InputError
from voice_agent.record.inspection import call_of
from voice_agent.record.lines import journal_bytes, lines_of
from voice_agent.record.schema import SCHEMA_VERSION
from voice_agent.record.summary import CallSummary, TurnSummary, summarise

CACHE: Final = ".summaries.json"

_VERSION: Final = f"{SCHEMA_VERSION}.1"
"""Of what is kept; another one is read anew. Count it up when a summary is made otherwise."""

_UNUSED: Final = tuple(
    b'{"type":"%s"' % kind for kind in (b"fusion", b"rerank", b"query", b"partial", b"prompt", b"shadow")
)
_NOTHING_DOWN: Final = b'"down":{}}'
_OWNER_ONLY: Final = 0o600

Key = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Listed:
    """The calls, oldest first, and how many files are no journal."""

    calls: tuple[CallSummary, ...]
    unread: int


def list_summaries(directory: Path) -> Listed:
    """Every journal of a folder. Raises InputError if there is no such folder."""
    if not directory.is_dir():
        raise InputError(f"{directory}: no such folder; give the folder of the journals with --logs")
    known = _kept(directory / CACHE)
    now: dict[str, tuple[Key, CallSummary | None]] = {}
    for path in directory.glob("*.jsonl"):
        key = _key(path)
        before = known.get(path.name)
        now[path.name] = before if before and before[0] == key else (key, _read(path))
    if now != known:
        _keep(directory / CACHE, now)
    calls = [call for _, call in now.values() if call is not None]
    calls.sort(key=lambda call: (call.started, call.call))
    return Listed(tuple(calls), len(now) - len(calls))


def _key(path: Path) -> Key:
    """What changes with every event. A journal that is gone meanwhile has none and is not readable either."""
    with suppress(OSError):
        told = path.stat()
        return told.st_size, told.st_mtime_ns
    return 0, 0


def _read(path: Path) -> CallSummary | None:
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


def _kept(path: Path) -> dict[str, tuple[Key, CallSummary | None]]:
    """What was kept; nothing if it was kept by another version, or by nobody."""
    try:
        kept = json.loads(path.read_bytes())
        if kept["version"] != _VERSION:
            return {}
        return {name: ((size, at), _summary(call)) for name, (size, at, call) in kept["calls"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _summary(kept: Mapping[str, Any] | None) -> CallSummary | None:
    if kept is None:
        return None
    turns = tuple(TurnSummary(**turn) for turn in kept["turns"])
    return CallSummary(**{**kept, "turns": turns, "problems": tuple(kept["problems"])})


_CALL: Final = tuple(field.name for field in fields(CallSummary))
_TURN: Final = tuple(field.name for field in fields(TurnSummary))


def _facts(call: CallSummary) -> dict[str, Any]:
    """Like `asdict`, which copies what it need not and takes a third of the time of a first list."""
    turns = [{name: getattr(turn, name) for name in _TURN} for turn in call.turns]
    return {**{name: getattr(call, name) for name in _CALL}, "turns": turns}


def _keep(path: Path, calls: Mapping[str, tuple[Key, CallSummary | None]]) -> None:
    """Replaced as a whole. A folder that cannot be written is read anew the next time, and that is all."""
    rows = {name: [*key, None if call is None else _facts(call)] for name, (key, call) in calls.items()}
    whole = json.dumps({"version": _VERSION, "calls": rows}, ensure_ascii=False, separators=(",", ":"))
    beside = path.with_suffix(f".{os.getpid()}.tmp")
    with suppress(OSError):
        with open(beside, "w", encoding="utf-8", opener=_private) as file:
            file.write(whole)
        os.replace(beside, path)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, _OWNER_ONLY)
