"""A journal file as its lines: the events in order, what is no event, and whether the last line is whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voice_agent.errors import InputError

Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Lines:
    """`header` is {} where the first line is lost. `broken` lines within are no event; `torn`: the last is cut off."""

    path: Path
    header: Event
    events: tuple[Event, ...]
    broken: int
    torn: bool

    @property
    def call(self) -> str:
        """The call's id."""
        call = self.header.get("call")
        return call if isinstance(call, str) else self.path.stem


def read_lines(path: Path) -> Lines:
    """Raises InputError if the file cannot be read or holds no event at all."""
    try:
        *lines, rest = path.read_bytes().split(b"\n")
    except OSError as e:
        raise InputError(f"{path}: cannot be read ({e.strerror}); give the journal of a call") from e
    read = [_event(line) for line in lines if line.strip()]
    last = _event(rest) if rest.strip() else None
    whole = [event for event in (*read, last) if event is not None]
    if not whole:
        raise InputError(f"{path}: no journal of a call (no readable event in it)")
    header = next((event for event in whole if event["type"] == "call"), {})
    events = tuple(event for event in whole if event["type"] != "call")
    return Lines(path, header, events, read.count(None), bool(rest.strip()) and last is None)


def _event(line: bytes) -> Event | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and isinstance(event.get("type"), str) else None
