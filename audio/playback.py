"""What is being played, counted to the sample: items in order, duck, pause and resume, and what of each was heard.

Pure: a device or a replay asks for the next samples with `take` and learns what began and what ended in them.

A pause that follows a duck goes back to where the item was ducked: a voice lay over those 0.2 s and they were low, so
after `resume` they are said again in full. With the stretch from the duck to the resume taken out, the item is then
sample for sample what it would have been without them.
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


DUCKED = 0.25
"""Gain under a voice, -12 dB: the agent is still to be followed, and its echo seldom hides the caller."""

RAMP_S = 0.01
"""From full level to ducked and back: short for the ear, long enough not to click."""


@dataclass(slots=True)
class _Item:
    number: int
    blocks: deque[Samples] = field(default_factory=deque)
    complete: bool = False
    heard: int = 0
    started: bool = False


class Playback:
    """The agent's side of the line. Items are numbered by their owner and played in the order they were begun.

    Checked speech is never dropped: the queue's bound is the owner's duty (`seconds queued` tells how full it is).
    """

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._items: deque[_Item] = deque()
        self._paused = False
        self._gain = self._target = 1.0
        self._ducked: list[Samples] = []
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

    @property
    def gain(self) -> float:
        """Of the last sample taken: 1, DUCKED, or between."""
        return self._gain

    def sounding(self) -> tuple[int, float, float | None] | None:
        """The item being played, the seconds of it heard, and its length, None while more of it is to come.

        None when nothing is sounding or it is paused.
        """
        if self._paused or not self._items or not self._items[0].heard:
            return None
        item = self._items[0]
        whole = (item.heard + sum(map(len, item.blocks))) / self._rate_hz if item.complete else None
        return item.number, item.heard / self._rate_hz, whole

    def duck(self) -> None:
        """Lowers the voice, within RAMP_S."""
        self._target = DUCKED

    def unduck(self) -> None:
        """Raises it again."""
        self._target = 1.0

    def pause(self) -> None:
        """Falls silent. What was ducked of the item being played will be said again."""
        self._paused = True
        if self._items and self._ducked:
            item = self._items[0]
            item.blocks.extendleft(reversed(self._ducked))
            item.heard -= sum(map(len, self._ducked))
        self._forget_duck()

    def resume(self) -> None:
        self._paused = False

    def drop_unstarted(self) -> tuple[int, ...]:
        """Forgets every item of which nothing was heard yet; returns their numbers."""
        dropped = tuple(item.number for item in self._items if not item.started)
        self._items = deque(item for item in self._items if item.started)
        return dropped

    def silence(self) -> dict[int, float]:
        """Forgets everything, now. Returns the seconds heard of each item that was queued."""
        heard = {item.number: item.heard / self._rate_hz for item in self._items}
        self._items.clear()
        self._paused = False
        self._forget_duck()
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
                self._pop(facts, filled)
            else:
                self.underruns += 1
                break
        self._finish(facts, filled)
        self._level(out)
        return out, facts

    def _copy(self, item: _Item, out: Samples, filled: int, facts: list[Played]) -> int:
        block = item.blocks.popleft()
        room = len(out) - filled
        if len(block) > room:
            item.blocks.appendleft(block[room:])
            block = block[:room]
        if not item.started and len(block):
            item.started = True
            facts.append(Started(item.number, filled))
        if self._target < 1.0 or self._gain < 1.0:
            self._ducked.append(block)
        out[filled : filled + len(block)] = block
        item.heard += len(block)
        return len(block)

    def _finish(self, facts: list[Played], filled: int) -> None:
        """An item whose last sample was just taken is finished now, not at the next block."""
        while self._items and not self._paused and self._items[0].complete and not self._items[0].blocks:
            self._pop(facts, filled)

    def _pop(self, facts: list[Played], filled: int) -> None:
        item = self._items.popleft()
        self._ducked.clear()  # what has ended is not begun again
        if item.started:
            facts.append(Finished(item.number, filled))

    def _level(self, out: Samples) -> None:
        """Puts the gain on, moving it towards its target."""
        if self._gain == self._target == 1.0:
            return
        change = (1.0 - DUCKED) / (RAMP_S * self._rate_hz)
        steps = np.arange(1, len(out) + 1, dtype=np.float32) * np.float32(change)
        if self._target < self._gain:
            gains = np.maximum(self._gain - steps, self._target)
        else:
            gains = np.minimum(self._gain + steps, self._target)
        out *= gains
        self._gain = float(gains[-1])
        if self._gain == self._target == 1.0:
            self._ducked.clear()

    def _forget_duck(self) -> None:
        self._ducked.clear()
        self._gain = self._target = 1.0
