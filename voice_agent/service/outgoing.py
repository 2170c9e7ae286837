"""The agent's sound on its way to a remote caller: what is worth sending, and how much of it has been heard by now.

Silence is not sent, so a page that plays whatever it has is never behind for long; pauses inside speech are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from audio.pcm import encode
from audio.types import CALL_RATE_HZ, Samples

PAUSE_S = 0.6
"""Silence after speech that is still sent: longer than any pause inside a sentence."""

FULL_S = 1.0
"""With so much sent and not played, the page does not play: speech waits until it does."""

TRUSTED_S = 0.5
"""A page that tells how far it has played is believed to go on for so long after it told."""


class Outgoing:
    """One a call. Positions are samples at CALL_RATE_HZ of what was sent; `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._at_s = clock()
        self._played = 0
        self._told = False
        self._quiet = round(PAUSE_S * CALL_RATE_HZ)
        self.sent = 0

    def feed(self, samples: Samples) -> bytes | None:
        """The next stretch of the agent's side -> what is to be sent of it, pcm16, or nothing."""
        self._quiet = 0 if np.any(samples) else self._quiet + len(samples)
        if self._quiet > PAUSE_S * CALL_RATE_HZ:
            return None
        if self.position == self.sent:
            self._from(self.sent)
        self.sent += len(samples)
        return encode(samples, "s16")

    def played(self, samples: int) -> None:
        """The page tells how far it has played; beyond what was sent it cannot have."""
        self._told = True
        self._from(min(max(samples, self._played), self.sent))

    def flush(self) -> int | None:
        """Drops what is not played; the position from which sound goes on, None when all of it was."""
        if self.position == self.sent:
            return None
        self._from(self.sent)
        return self.sent

    @property
    def position(self) -> int:
        """How far the page has played, as far as one can tell: it plays in real time what it has."""
        since_s = self._clock() - self._at_s
        if self._told:
            since_s = min(since_s, TRUSTED_S)
        return min(self.sent, self._played + int(since_s * CALL_RATE_HZ))

    @property
    def delay_s(self) -> float | None:
        """Seconds until what is fed now is heard; None when too much waits."""
        waiting_s = (self.sent - self.position) / CALL_RATE_HZ
        return None if waiting_s > FULL_S else waiting_s

    def _from(self, position: int) -> None:
        self._played, self._at_s = position, self._clock()
