"""A journal file as its lines: the events in order, what is no event, and whether the last line is whole.

A journal may end inside a line (its process was killed) or hold a line that is no JSON (a full disk): both are
counted and told, never fatal.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import orjson

from voice_agent.errors import InputError
from voice_agent.record.fields import Event, text


@dataclass(frozen=True, slots=True)
class Lines:
    """`header` is {} where the first line is lost; `events` are without it, `count` is with it.

    `broken` lines within are no event; `torn`: the last is cut off.
    """

    path: Path
    header: Event
    events: tuple[Event, ...]
    count: int
    broken: int
    torn: bool

    @property
    def call(self) -> str:
        """The call's id."""
        return text(self.header, "call") or self.path.stem


def read_lines(path: Path) -> Lines:
    """Raises InputError if the file cannot be read or holds no event at all."""
    return lines_of(path, journal_bytes(path))


def journal_bytes(path: Path) -> bytes:
    """The file as it is. Raises InputError."""
    try:
        return path.read_bytes()
    except OSError as e:
        raise InputError(f"{path}: cannot be read ({e.strerror}); give the journal of a call") from e


def lines_of(path: Path, data: bytes) -> Lines:
    """The lines of these bytes of the file. Raises InputError if they hold no event at all."""
    *lines, rest = data.split(b"\n")
    read = [_event(line) for line in lines if line.strip()]
    last = _event(rest) if rest.strip() else None
    whole = [event for event in (*read, last) if event is not None]
    if not whole:
        raise InputError(f"{path}: no journal of a call (no readable event in it)")
    header = next((event for event in whole if event["type"] == "call"), {})
    events = tuple(event for event in whole if event["type"] != "call")
    return Lines(path, header, events, len(whole), read.count(None), bool(rest.strip()) and last is None)


def _event(line: bytes) -> Event | None:
    try:
        event = orjson.loads(line)  # half the time of json, which a list of many calls feels
    except orjson.JSONDecodeError:
        return None
    return event if isinstance(event, dict) and isinstance(event.get("type"), str) else None
