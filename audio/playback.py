"""What is being played, counted to the sample: items in order, pause and resume, and what of each was heard.

Pure: a device or a replay asks for the next samples with `take` and learns what began and what ended in them.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from audio.types import Samples


@dataclass(frozen=True, slots=True)
class Started:
    """The first sample of `item` lies `offset` samples into the block just taken."""

    item: int
    offset: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The last sample of `item` lay just before `offset` in the block just taken."""

    item: int
    offset: int


Played = Started | Finished


@dataclass(slots=True)
class _Item:
    number: int
    blocks: deque[Samples] = field(default_factory=deque)
    complete: bool = False
    heard: int = 0


class Playback:
    """The agent's side of the line. Items are numbered by their owner and played in the order they were begun.

    Checked speech is never dropped: the queue's bound is the owner's duty (`seconds queued` tells how full it is).
    """

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._items: deque[_Item] = deque()
        self._paused = False
        self.underruns = 0

    @property
    def idle(self) -> bool:
        """Nothing is being played or waits to be."""
        return not self._items

    @property
    def queued_s(self) -> float:
        return sum(len(block) for item in self._items for block in item.blocks) / self._rate_hz

    def add(self, item: int, samples: Samples) -> None:
        """Appends sound to the last item, or begins a new one."""
        if not self._items or self._items[-1].number != item:
            self._items.append(_Item(item))
        self._items[-1].blocks.append(samples)

    def complete(self, item: int) -> None:
        """No more sound will be added to `item`."""
        for queued in self._items:
            if queued.number == item:
                queued.complete = True

    def pause(self) -> None:
        self._paused = True

    def resume(self) -> None:
        self._paused = False

    def drop_unstarted(self) -> tuple[int, ...]:
        """Forgets every item of which nothing was heard yet; returns their numbers."""
        dropped = tuple(item.number for item in self._items if item.heard == 0)
        self._items = deque(item for item in self._items if item.heard)
        return dropped

    def silence(self) -> dict[int, float]:
        """Forgets everything, now. Returns the seconds heard of each item that was queued."""
        heard = {item.number: item.heard / self._rate_hz for item in self._items}
        self._items.clear()
        self._paused = False
        return heard

    def take(self, count: int) -> tuple[Samples, list[Played]]:
        """The next `count` samples, silence where there is nothing to play, and what began and ended in them."""
        out = np.zeros(count, dtype=np.float32)
        facts: list[Played] = []
        filled = 0
        while self._items and not self._paused and filled < count:
            item = self._items[0]
            if item.blocks:
                filled += self._copy(item, out, filled, facts)
            elif item.complete:
                self._items.popleft()
                if item.heard:
                    facts.append(Finished(item.number, filled))
            else:
                self.underruns += 1
                break
        self._finish(facts, filled)
        return out, facts

    def _copy(self, item: _Item, out: Samples, filled: int, facts: list[Played]) -> int:
        block = item.blocks.popleft()
        room = len(out) - filled
        if len(block) > room:
            item.blocks.appendleft(block[room:])
            block = block[:room]
        if item.heard == 0 and len(block):
            facts.append(Started(item.number, filled))
        out[filled : filled + len(block)] = block
        item.heard += len(block)
        return len(block)

    def _finish(self, facts: list[Played], filled: int) -> None:
        """An item whose last sample was just taken is finished now, not at the next block."""
        while self._items and not self._paused and self._items[0].complete and not self._items[0].blocks:
            item = self._items.popleft()
            if item.heard:
                facts.append(Finished(item.number, filled))
