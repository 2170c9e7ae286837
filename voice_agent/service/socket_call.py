"""A call whose caller is behind a WebSocket, as its messages tell it: what the page sends, and what it is shown."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import cast

from pydantic import BaseModel

from voice_agent.floor.duties import Ending
from voice_agent.live_call import LiveCall
from voice_agent.record.measures import Data
from voice_agent.service.call_events import STATES, shown
from voice_agent.service.call_shapes import (
    Ended,
    EventTold,
    Flush,
    HangUp,
    PlayedTo,
    Ready,
    Resumed,
    Start,
    StateTold,
    read_later,
)
from voice_agent.service.outbox import Outbox
from voice_agent.service.problem import Problem
from voice_agent.service.socket_line import SocketLine

TEXTS_A_SECOND, TEXTS_AT_FIRST = 20, 100
"""Text messages that a page may send: it tells four times a second how far it has played."""


class SocketCall:
    """One a call, on its event loop. `fault` is why it ends out of order; `over` that it has ended either way."""

    def __init__(self, start: Start, client: str, resume_s: float, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began_s = clock()
        self._texts = 0
        self._call: LiveCall | None = None
        self._state = ""
        self._ending: Ending = "hung_up"
        self._close: Callable[[Problem], None] = lambda problem: None
        self.recorded = start.record
        self.client = client
        self.token = secrets.token_urlsafe(24)
        self.outbox = Outbox()
        self.line = SocketLine(start, resume_s, self._put, clock)
        self.line.beat = self._beat
        self.fault: Problem | None = None
        self.over = False

    def begin(self, call: LiveCall) -> None:
        """As Onlooker says."""
        self._call = call
        self._put(Ready(call=call.name, resume=self.token, greeting=call.greeting, recorded=self.recorded))

    def saw(self, kind: str, t: float, turn: int, data: Data) -> None:
        """As Onlooker says."""
        if kind == "call_ended":
            self._ending = cast(Ending, data["reason"])
        facts = shown(kind, data)
        if facts is not None and self._call is not None:
            self._put(EventTold(kind=kind, t=round(t, 3), turn=turn, data=facts))

    def sound(self, data: bytes) -> None:
        """A message of sound. Raises Problem."""
        self.line.sound(data)

    def told(self, text: str) -> None:
        """A text message. Raises Problem."""
        self._texts += 1
        if self._texts > TEXTS_AT_FIRST + TEXTS_A_SECOND * (self._clock() - self._began_s):
            raise Problem("too-fast", f"at most {TEXTS_A_SECOND} text messages a second")
        match read_later(text):
            case PlayedTo(samples=samples):
                self.line.played(samples)
            case HangUp():
                self.line.hang_up()

    def resumed(self, received: int) -> Resumed:
        """Another connection is about to go on after so many messages; the one before is closed. Raises Problem."""
        again = self.outbox.rewind(received)
        self.over_to(lambda problem: None)
        return Resumed(call=self._call.name if self._call else "", replayed=again)

    def over_to(self, close: Callable[[Problem], None]) -> None:
        """The connection that is closed by `close` is now the call's; the one before it is closed."""
        self._close(Problem("taken-over", "the call goes on over another connection"))
        self._close = close
        self.outbox.wake()

    def fail(self, problem: Problem) -> None:
        """The call ends out of order; the first reason counts."""
        self.fault = self.fault or problem
        self.line.hang_up()
        self.outbox.wake()

    def end(self) -> None:
        """The call has ended; what is still to be sent is sent."""
        self._put(Ended(reason=self._ending))
        self.over = True
        self.outbox.wake()

    def _beat(self) -> None:
        """Once a frame."""
        assert self._call is not None
        state = STATES[self._call.state.floor]
        if state != self._state:
            self._state = state
            self._put(StateTold(state=state))
        if self.line.idle:
            self.fail(Problem("idle", "send sound all the time, silence too"))
        if self.outbox.overflowed:
            self.fail(Problem("slow-reader", "read messages as they come"))

    def _put(self, message: bytes | Flush | BaseModel) -> None:
        self.outbox.put(message if isinstance(message, bytes) else message.model_dump_json())
