"""Marks in what we send: when one comes back, everything before it was played. Pure.

They tell how long the far side holds our sound back, and when the last word was heard. A cleared mark comes back too,
but nobody heard what stood before it.
"""

from __future__ import annotations

MAX_OPEN = 32
"""Marks that may be out. A side that never returns them is asked no more, and is taken to hold nothing back."""

KEPT = 0.8
"""Of the delay known so far, when a new one is measured: one late packet is not the line."""


class Marks:
    """One a call. `delay_s` is how long our sound takes to be heard and told of, 0 until it is known."""

    def __init__(self) -> None:
        self._open: dict[str, float] = {}
        self._count = 0
        self.delay_s = 0.0

    @property
    def waiting(self) -> bool:
        """Something that was sent has not been heard yet."""
        return bool(self._open)

    def place(self, now_s: float) -> str | None:
        """The name of the next mark; None while too many are out."""
        if len(self._open) >= MAX_OPEN:
            return None
        self._count += 1
        name = f"m{self._count}"
        self._open[name] = now_s
        return name

    def reached(self, name: str, now_s: float) -> bool:
        """A mark came back; False for one that is not out. Those before it have been passed over: they are in too."""
        sent_s = self._open.get(name)
        if sent_s is None:
            return False
        for earlier in list(self._open):
            del self._open[earlier]
            if earlier == name:
                break
        taken_s = max(0.0, now_s - sent_s)
        self.delay_s = KEPT * self.delay_s + (1 - KEPT) * taken_s if self.delay_s else taken_s
        return True

    def clear(self) -> None:
        """Nothing of what is out will be heard; when its marks come back they say nothing."""
        self._open.clear()
