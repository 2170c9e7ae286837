"""The files of one call, wherever they lie: all of them or none are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from voice_agent.errors import AgentError, InputError
from voice_agent.record import kept
from voice_agent.record.journal import check_call_id, is_open

BESIDE = (".wav", ".vault", ".marks.json", ".html")
"""What may lie beside a call's journal: its sound, what its placeholders stand for, an operator's marks, its report."""

_HANDOFF = ("handoff", "handoff/spool", "handoff/spool/refused")
_PACKETS = (".json", ".tmp")


@dataclass(frozen=True, slots=True)
class Erasure:
    """A call's files in the order they go: the journal last, so that an erasure cut short can be asked for again.

    `calls` is the folder of its journal, where the list keeps the call's summary.
    """

    call: str
    calls: Path
    files: tuple[Path, ...]


def files_of(calls: Path, call: str) -> Erasure:
    """Every file of a call whose journal lies in the folder `calls`. Raises InputError if it has none."""
    found = tuple(path for path in _places(calls, check_call_id(call)) if path.is_file())
    if not found:
        raise InputError(f"{call}: no such call in {calls}; `voice-agent inspect` lists the calls")
    return Erasure(call, calls, found)


def erase(erasure: Erasure) -> None:
    """Removes them, and what the list kept of the call. Raises InputError while the call is still being written,
    AgentError naming what could not go."""
    journals = [path for path in erasure.files if path.suffix == ".jsonl"]
    if any(map(is_open, journals)):
        raise InputError(f"{erasure.call}: the call is still running; hang up first")
    for path in erasure.files:
        try:
            path.unlink(missing_ok=True)
        except OSError as e:
            raise AgentError(f"{path}: cannot be erased ({e.strerror}); remove it by hand") from e
    kept.drop(erasure.calls, f"{erasure.call}.jsonl")


def _places(calls: Path, call: str) -> Iterator[Path]:
    yield from (calls / f"{call}{suffix}" for suffix in BESIDE)
    yield calls.parent / "recordings" / f"{call}.wav"
    for root in (calls, calls.parent):  # beside the journals of a replay's --out, else beside their folder
        yield from (root / folder / f"{call}{suffix}" for folder in _HANDOFF for suffix in _PACKETS)
    yield calls / f"{call}.jsonl"
