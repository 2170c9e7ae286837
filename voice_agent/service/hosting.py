"""The calls of remote callers, whatever door they come in by: admitted, held, and ended in order when the service goes.

A call keeps the agent that it began with while another is loaded. Whoever is not admitted is told so at once.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import date
from typing import Protocol

from voice_agent.config import Config, Service
from voice_agent.keeping import sweep_calls
from voice_agent.live_call import FarEnd, Kept, LiveCall, Plan, named, open_call
from voice_agent.record.measures import Data
from voice_agent.record.telemetry import Telemetry
from voice_agent.service.problem import Problem
from voice_agent.service.shelf import Shelf

CALL_AGAIN_S = 30
"""Retry-After where every place is taken: calls last minutes, and one of several ends sooner."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a remote caller came with. `door` names the kind of line and begins the call's name.

    `record` keeps the call's sound; `agreed` says who agreed to that: the caller on a page, the operator of a line.
    """

    door: str
    client: str
    record: bool = False
    agreed: str = "operator"
    as_of: date | None = None


class Onlooker(Protocol):
    """Sees a remote call as it goes on. On the event loop."""

    def begin(self, call: LiveCall) -> None:
        """It is about to run."""
        ...

    def saw(self, kind: str, t: float, turn: int, data: Data) -> None:
        """An event, after it is in the journal, with the caller's own words."""
        ...


class Host:
    """Holds calls; one a process, on one event loop. `refused` is told the reason whenever somebody is not let in."""

    def __init__(
        self,
        shelf: Shelf,
        config: Config,
        telemetry: Telemetry,
        refused: Callable[[str], None] = lambda reason: None,
    ) -> None:
        self._shelf = shelf
        self._config = config
        self._telemetry = telemetry
        self._under_way: dict[str, LiveCall] = {}
        self._refused = refused
        self.taken = 0
        self.draining = False

    @property
    def settings(self) -> Service:
        """What the doors are told by the configuration."""
        return self._config.service

    @property
    def resume_s(self) -> float:
        """How long a call waits for a caller whose connection broke."""
        return self._config.service.resume_s

    @property
    def free(self) -> int:
        """How many more callers would be let in."""
        return 0 if self.draining else max(0, self._config.service.calls - self.taken)

    @contextmanager
    def place(self) -> Iterator[None]:
        """Held from before the caller is let in to the end of the call. Raises Problem when there is none."""
        if why := self._closed():
            self._refused(why.kind)
            raise why
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1

    async def hold(self, far: FarEnd, terms: Terms, onlooker: Onlooker) -> Kept:
        """Holds the call to its end, in a place. When it returns, the last sound has been handed to `far`.

        A caller who goes ends it by `far.devices` being dead. Raises AgentError, AudioError; Problem without an agent.
        """
        stem = f"{named(terms.door)}-{secrets.token_hex(4)}"
        facts: Mapping[str, object] = {"door": terms.door, "client": terms.client}
        plan = Plan(stem, terms.as_of or date.today(), terms.record, terms.agreed, facts)
        with self._shelf.calling() as shared:
            agent = replace(shared, telemetry=self._telemetry)
            with open_call(agent, far, plan, onlooker) as call, self._known(call):
                onlooker.begin(call)
                await call.session.run()
            with suppress(TimeoutError):  # what is left over goes after the next call
                await agent.parts.workers.delivering.run(sweep_calls, self._config)
        return call.kept

    def drain(self) -> None:
        """Nobody is let in any more; every call ends its sentence, and its caller is handed to a person."""
        self.draining = True
        for call in self._under_way.values():
            call.session.hand_over()

    def hang_up(self) -> None:
        """Every call ends now, in order."""
        for call in self._under_way.values():
            call.caller.hang_up()

    @contextmanager
    def _known(self, call: LiveCall) -> Iterator[None]:
        self._under_way[call.name] = call
        if self.draining:
            call.session.hand_over()
        try:
            yield
        finally:
            del self._under_way[call.name]

    def _closed(self) -> Problem | None:
        if self.draining:
            return Problem("draining", "the service is about to restart", CALL_AGAIN_S)
        most = self._config.service.calls
        if not most:
            return Problem("no-calls", "this service answers typed questions only; see service.calls")
        if self.taken >= most:
            return Problem(
                "calls-full", f"{self.taken} calls are under way, and no more can be", CALL_AGAIN_S
            )
        return None
