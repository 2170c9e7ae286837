"""The messages of one call to its caller, numbered from 1: each goes out once over whichever connection there is.

Those already sent are kept for a while, so that another connection can go on where the last one was cut off.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from voice_agent.service.problem import Problem

Message = str | bytes

MOST_WAITING = 1000
"""Not yet sent: twenty seconds of speech. Whoever reads more slowly has left the call."""

MOST_KEPT = 1500
"""Sent and waiting together: about half a minute, under a megabyte."""


class Outbox:
    """One a call, on its event loop. `overflowed`: more waits than may, and what is put is no longer taken."""

    def __init__(self) -> None:
        self._kept: deque[Message] = deque()
        self._forgotten = 0
        self._sent = 0
        self._changed = asyncio.Event()
        self.overflowed = False

    @property
    def put_so_far(self) -> int:
        """The number of the last message."""
        return self._forgotten + len(self._kept)

    @property
    def waiting(self) -> int:
        """Messages not sent yet."""
        return self.put_so_far - self._sent

    def put(self, message: Message) -> None:
        """One more."""
        self.overflowed = self.overflowed or self.waiting >= MOST_WAITING
        if self.overflowed:
            return
        self._kept.append(message)
        while len(self._kept) > MOST_KEPT and self._forgotten < self._sent:
            self._kept.popleft()
            self._forgotten += 1
        self.wake()

    def wake(self) -> None:
        """Whoever waits for a message looks again whether to go on."""
        self._changed.set()

    def rewind(self, received: int) -> int:
        """What comes after the first `received` messages goes out (again); how many those are. Raises Problem."""
        if not self._forgotten <= received <= self._sent:
            raise Problem("no-resume", f"{received} messages cannot have come, or what came after is gone")
        self._sent = received
        self.wake()
        return self.put_so_far - received

    async def next(self, enough: Callable[[], bool]) -> Message | None:
        """The next message to send, waited for; None as soon as `enough` says so."""
        while True:
            if enough():
                return None
            if self.waiting:
                self._sent += 1
                return self._kept[self._sent - self._forgotten - 1]
            self._changed.clear()
            await self._changed.wait()
