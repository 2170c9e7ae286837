"""How long calls are kept: whole calls go, the oldest first, and never one that is still being written."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from voice_agent.errors import AgentError
from voice_agent.record.call_files import erase, files_of
from voice_agent.record.journal import is_open

DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Limits:
    """None: without that limit. `max_mb` counts every file of every call, in millions of bytes."""

    keep_days: int | None = None
    max_mb: int | None = None


@dataclass(frozen=True, slots=True)
class _Kept:
    """A call on disk: when it was last written to (seconds of the epoch) and its size in bytes."""

    ended_s: float
    call: str
    bytes: int


def sweep(calls: Path, limits: Limits, now_s: float) -> list[str]:
    """Erases what is beyond the limits; returns the calls that went, oldest first. A call whose files cannot be erased
    stays. Safe beside running calls and other sweeps."""
    kept = sorted(
        (known for path in calls.glob("*.jsonl") if (known := _known(path))), key=lambda k: k.ended_s
    )
    left = sum(known.bytes for known in kept)
    gone = []
    for known in kept:
        old = limits.keep_days is not None and now_s - known.ended_s > limits.keep_days * DAY_S
        too_much = limits.max_mb is not None and left > limits.max_mb * 1_000_000
        if (old or too_much) and _erased(calls, known.call):
            left -= known.bytes
            gone.append(known.call)
    return gone


def _known(journal: Path) -> _Kept | None:
    """None for a call that is being written, is gone meanwhile, or is none of ours by its name."""
    try:
        if is_open(journal):
            return None
        files = files_of(journal.parent, journal.stem).files
        return _Kept(journal.stat().st_mtime, journal.stem, sum(path.stat().st_size for path in files))
    except (AgentError, OSError):
        return None


def _erased(calls: Path, call: str) -> bool:
    with suppress(AgentError):
        erase(files_of(calls, call))
        return True
    return False
