"""Who may use the cores first. One gate a process for all model work: what a caller waits for goes before the rest.

A model takes its thread for a whole chunk and cannot be interrupted, so the gate holds work back before it begins:
nothing begins while something more urgent is running. Work of one rank runs side by side. Nothing is held back longer
than `patience_s`, so a model that hangs does not silence the others.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import IntEnum


class Priority(IntEnum):
    """Most urgent first."""

    FINAL = 0
    FIRST_CLAUSE = 1
    CHECK = 2
    NEXT_CLAUSE = 3
    SPECULATION = 4
    PARTIAL = 5
    PRERENDER = 6


_rank: ContextVar[Priority] = ContextVar("rank", default=Priority.CHECK)


def rank() -> Priority:
    """Of the work that the running task asks for; search, gate, generation and check go by the default."""
    return _rank.get()


@contextmanager
def ranked(priority: Priority) -> Iterator[None]:
    """What is asked of a worker inside the block has this rank."""
    before = _rank.set(priority)
    try:
        yield
    finally:
        _rank.reset(before)


class Cores:
    """The gate. Its users hold `changed` while they ask, begin and end, and wait on it for their turn."""

    def __init__(self, patience_s: float = 2.0) -> None:
        self.patience_s = patience_s
        self.changed = threading.Condition()
        self._running: Counter[Priority] = Counter()

    def may_begin(self, priority: Priority) -> bool:
        """Whether nothing more urgent is running."""
        return not any(count and other < priority for other, count in self._running.items())

    def begin(self, priority: Priority) -> None:
        self._running[priority] += 1

    def end(self, priority: Priority) -> None:
        self._running[priority] -= 1
        self.changed.notify_all()
