"""The calls over WebSockets that can be gone on with, found by the token that only their page was told."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from contextlib import contextmanager

from voice_agent.service.problem import Problem
from voice_agent.service.socket_call import SocketCall


class Switchboard:
    """One a process, on one event loop. `calls` are those under way."""

    def __init__(self) -> None:
        self.calls: list[SocketCall] = []

    @contextmanager
    def known(self, call: SocketCall) -> Iterator[None]:
        """The call can be found until the block ends."""
        self.calls.append(call)
        try:
            yield
        finally:
            self.calls.remove(call)

    def find(self, token: str, client: str) -> SocketCall:
        """The call of this token, if it is this client's. Raises Problem, the same for every reason."""
        given = token.encode("utf-8", "surrogateescape")
        for call in self.calls:
            if hmac.compare_digest(call.token.encode(), given) and call.client == client and not call.over:
                return call
        raise Problem("no-resume", "the call has ended, or was another's; begin a new one")
