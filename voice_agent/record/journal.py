"""The journal of a call: one JSON object a line, on disk before the next thing happens.

Every line is written with one system call and no buffer of ours, so a killed process loses at most the line it was
writing (a power cut may lose more: we do not wait for the disk). Every text of an event is masked before it is
written; the header holds the agent's own facts, not the caller's words, and is written as it is. At the end the
call's summary is kept for the lists of calls.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import threading
from collections.abc import Mapping
from datetime import datetime
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from voice_agent.errors import AgentError, InputError
from voice_agent.record.jsonable import Json, line, plain
from voice_agent.record.listing import keep_summary
from voice_agent.record.privacy import Masker
from voice_agent.record.schema import EVENT_KINDS, SCHEMA_VERSION, UNFINISHED_KINDS

_CALL_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,79}")

_HEADER_KEYS = ("config_sha", "models", "kb_version", "as_of")

_OWNER_ONLY = 0o600


class Recorder(Protocol):
    """Takes the facts of a call."""

    def write(self, kind: str, t: float, turn: int, **data: object) -> None:
        """One event at `t` seconds of the call's clock, in turn `turn`. ValueError if the kind is unknown."""
        ...


class Journal:
    """`<directory>/<call>.jsonl`, open within `with`.

    An existing journal is never overwritten or continued: InputError (see `unused_call_id`). A full disk raises
    AgentError at the event it loses; the file stays readable. Events that come after the end are counted in `late`.
    Safe to write from several threads.
    """

    def __init__(
        self,
        directory: Path,
        call: str,
        header: Mapping[str, object],
        *,
        masker: Masker | None = None,
        started: datetime | None = None,
    ) -> None:
        self.path = directory / f"{check_call_id(call)}.jsonl"
        self.late = 0
        self._first = _header(call, header, started or datetime.now().astimezone())
        self._masker = masker or Masker()
        self._lock = threading.Lock()
        self._file: FileIO | None = None
        self._torn = False

    def __enter__(self) -> Self:
        if self.path.exists():
            raise InputError(f"{self.path}: this call is already recorded; choose another call id")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open(self.path, "xb", buffering=0, opener=_open_private)  # noqa: SIM115 (closed by __exit__)
        except OSError as e:
            raise InputError(f"{self.path}: cannot be written ({e.strerror}); choose another folder") from e
        fcntl.flock(
            self._file, fcntl.LOCK_EX
        )  # falls with the process, so a killed call does not seem to run on
        self._append(line(self._first))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            if self._file is not None:
                try:
                    keep_summary(self.path)  # under the file's lock still: nobody erases the call in between
                finally:
                    self._file.close()
                    self._file = None

    def write(self, kind: str, t: float, turn: int, **data: object) -> None:
        """Masks, bounds and writes one event. ValueError for an unknown kind, AgentError when the disk refuses."""
        _check_kind(kind)
        with self._lock:
            if self._file is None:
                self.late += 1
            else:
                self._append(line(_event(kind, t, turn, data, self._masker)))

    def _append(self, whole: bytes) -> None:
        assert self._file is not None
        # A line cut short by a full disk must not swallow the next one.
        rest = b"\n" + whole if self._torn else whole
        self._torn = True
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as e:
            raise AgentError(f"{self.path}: event lost ({e.strerror}); free some disk space") from e
        self._torn = False


class MemoryJournal:
    """The same events as plain dicts in `events`, masked and bounded alike: for tests and for calls without a file."""

    def __init__(self, call: str = "memory", header: Mapping[str, object] | None = None) -> None:
        self.header = _header(check_call_id(call), header or {}, datetime.now().astimezone())
        self.events: list[dict[str, Json]] = []
        self._masker = Masker()

    def write(self, kind: str, t: float, turn: int, **data: object) -> None:
        """Keeps one event. ValueError for an unknown kind."""
        _check_kind(kind)
        self.events.append(json.loads(line(_event(kind, t, turn, data, self._masker))))

    def of(self, kind: str) -> list[dict[str, Json]]:
        """The events of one kind, in order."""
        return [event for event in self.events if event["type"] == kind]


def check_call_id(call: str) -> str:
    """The id itself, if it can only ever be a file name. Raises InputError."""
    if not _CALL_ID.fullmatch(call):
        raise InputError(f"call id {call[:80]!r}: use 1 to 80 of A-Z a-z 0-9 . _ - and no dot in front")
    return call


def unused_call_id(directory: Path, stem: str) -> str:
    """A call id made from a file's stem, with -2, -3 … when `directory` already holds that call."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "_", stem).lstrip(".")[:70] or "call"
    number, call = 1, safe
    while (directory / f"{call}.jsonl").exists():
        number += 1
        call = f"{safe}-{number}"
    return call


def is_open(path: Path) -> bool:
    """Whether a call is still writing this journal; so is one that holds nothing yet. Raises OSError."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared: two who ask are no writer
        except BlockingIOError:
            return True
        return path.stat().st_size == 0


def _header(call: str, header: Mapping[str, object], started: datetime) -> dict[str, Json]:
    facts = plain(header)
    assert isinstance(facts, dict)
    known = {key: facts.pop(key, None) for key in _HEADER_KEYS}
    fixed: dict[str, Json] = {"type": "call", "schema": SCHEMA_VERSION, "call": call}
    when: dict[str, Json] = {"started": started.isoformat(timespec="seconds")}
    return {**fixed, **known, **when, **{k: v for k, v in facts.items() if k not in fixed}}


def _event(kind: str, t: float, turn: int, data: Mapping[str, object], masker: Masker) -> dict[str, Json]:
    facts = masker.mask_data(plain(data), unfinished=kind in UNFINISHED_KINDS)
    assert isinstance(facts, dict)
    at = plain(t)
    fixed: dict[str, Json] = {
        "type": kind,
        "t": round(at, 3) if isinstance(at, int | float) else None,
        "turn": plain(turn),
    }
    return {**fixed, **{k: v for k, v in facts.items() if k not in fixed}}


def _check_kind(kind: str) -> None:
    if kind not in EVENT_KINDS:
        raise ValueError(f"no such journal event: {kind!r}; the kinds are in voice_agent/record/schema.py")


def _open_private(path: str, flags: int) -> int:
    # Only the operator's own account may read what a caller said.
    return os.open(path, flags, _OWNER_ONLY)
