"""The summaries kept beside the journals of a folder, one JSON array a line, so that a list need not read the calls.

A call adds its line as it ends; a list that had to read more replaces the file; an erased call's line goes with it.
The file holds numbers and codes only, no word of a call, and may be deleted at any time: it only saves reading again.
Two who write at once may lose a line, which costs the next list one reading and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import orjson

from voice_agent.record.schema import SCHEMA_VERSION
from voice_agent.record.summary import CallSummary, TurnSummary

CACHE: Final = ".summaries.json"

_VERSION: Final = f"{SCHEMA_VERSION}.2"
"""Of what is kept; a line of another one is read anew. Count it up when a summary is made otherwise."""

_OWNER_ONLY: Final = 0o600

_CALL: Final = tuple(field.name for field in fields(CallSummary))
_TURN: Final = tuple(field.name for field in fields(TurnSummary))


@dataclass(frozen=True, slots=True)
class Kept:
    """What a journal of `size` bytes, last written at `at_ns`, told; None if it is no journal of a call."""

    size: int
    at_ns: int
    call: CallSummary | None

    def is_of(self, path: Path) -> bool:
        """Whether the journal is still the one that was read: both change with every event."""
        return (self.size, self.at_ns) == mark(path)


def mark(path: Path) -> tuple[int, int]:
    """Size and time of a journal. One that is gone meanwhile has none and is not readable either."""
    with suppress(OSError):
        told = path.stat()
        return told.st_size, told.st_mtime_ns
    return 0, 0


def kept_in(folder: Path) -> dict[str, Kept]:
    """By the journal's name; of two lines the later. What another version wrote, or nobody, is left out."""
    with suppress(OSError):
        return dict(_rows((folder / CACHE).read_bytes()))
    return {}


def _rows(data: bytes) -> Iterator[tuple[str, Kept]]:
    for line in data.split(b"\n"):
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            name, version, size, at_ns, call = orjson.loads(line)
            if version == _VERSION:
                yield name, Kept(size, at_ns, _summary(call))


def _summary(kept: Mapping[str, Any] | None) -> CallSummary | None:
    if kept is None:
        return None
    turns = tuple(TurnSummary(**turn) for turn in kept["turns"])
    return CallSummary(**{**kept, "turns": turns, "problems": tuple(kept["problems"])})


def replace(folder: Path, calls: Mapping[str, Kept]) -> None:
    """Keeps these and no others. A folder that cannot be written is read anew the next time, and that is all."""
    _replace(folder / CACHE, b"".join(_row(name, kept) for name, kept in calls.items()))


def add(folder: Path, name: str, kept: Kept) -> None:
    """Adds one line at the end."""
    with suppress(OSError), open(folder / CACHE, "ab", buffering=0, opener=_private) as file:
        file.write(_row(name, kept))


def drop(folder: Path, name: str) -> None:
    """Takes the lines of one journal out, and with the last one the file."""
    path, start = folder / CACHE, _start(name)
    with suppress(OSError):
        lines = path.read_bytes().splitlines(keepends=True)
        _replace(
            path, b"".join(line for line in lines if line.startswith(b"[") and not line.startswith(start))
        )


def _row(name: str, kept: Kept) -> bytes:
    call = None if kept.call is None else _facts(kept.call)
    return orjson.dumps([name, _VERSION, kept.size, kept.at_ns, call]) + b"\n"


def _start(name: str) -> bytes:
    return orjson.dumps([name])[:-1] + b","


def _facts(call: CallSummary) -> dict[str, Any]:
    """Like `asdict`, which copies what it need not and takes a third of the time of a first list."""
    turns = [{name: getattr(turn, name) for name in _TURN} for turn in call.turns]
    return {**{name: getattr(call, name) for name in _CALL}, "turns": turns}


def _replace(path: Path, whole: bytes) -> None:
    beside = path.with_suffix(f".{os.getpid()}.tmp")
    with suppress(OSError):
        if not whole:
            path.unlink(missing_ok=True)
            return
        with open(beside, "wb", opener=_private) as file:
            file.write(whole)
        os.replace(beside, path)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, _OWNER_ONLY)
