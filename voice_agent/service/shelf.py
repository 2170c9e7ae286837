"""The knowledge in use, which can be taken for a newer one while it is read: requests in hand finish with theirs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from retrieval.errors import RetrievalError
from voice_agent.call.threads import Worker
from voice_agent.errors import AgentError
from voice_agent.knowledge import Knowledge
from voice_agent.service.problem import Problem

if TYPE_CHECKING:
    from voice_agent.build import Agent


@dataclass(frozen=True, slots=True)
class Stock:
    """What the service answers from. `agent` speaks and listens over the same knowledge; None: no calls are taken."""

    knowledge: Knowledge
    agent: Agent | None = None


Opening = Callable[[], AbstractContextManager[Stock]]

LOAD_LIMIT_S = 3600.0
"""A large knowledge base is encoded for many minutes; the old one serves meanwhile."""


@dataclass(frozen=True, slots=True)
class Reloaded:
    """What became of the last reload. `why` is empty when the new knowledge base is in use."""

    at: datetime
    kb_version: str
    why: str = ""


@dataclass(slots=True)
class _Volume:
    stock: Stock
    parts: ExitStack
    readers: int = 0
    replaced: bool = False
    closed: bool = field(default=False)

    def close_if_unread(self) -> None:
        if self.replaced and not self.readers and not self.closed:
            self.closed = True
            self.parts.close()


class Shelf:
    """One volume at a time, opened on a thread of its own. Use within `with`, and from one event loop."""

    def __init__(self, opening: Opening) -> None:
        """Opens the first volume. Blocking. Raises RetrievalError or AgentError."""
        self._opening = opening
        self._loader = Worker("loading", LOAD_LIMIT_S)
        self._volume = self._open()
        self._loading = asyncio.Lock()
        self.last: Reloaded | None = None

    def __enter__(self) -> Shelf:
        return self

    def __exit__(self, *fault: object) -> None:
        self._loader.close()
        self._volume.replaced = True
        self._volume.close_if_unread()

    @property
    def knowledge(self) -> Knowledge:
        """What a request that begins now would be answered from. To read its facts only; see `reading`."""
        return self._volume.stock.knowledge

    @contextmanager
    def reading(self) -> Iterator[Knowledge]:
        """The knowledge of one request, which stays open until the block ends, whatever is loaded meanwhile."""
        with self._open_volume() as stock:
            yield stock.knowledge

    @contextmanager
    def calling(self) -> Iterator[Agent]:
        """The agent of one call, likewise. Raises Problem where no calls are taken."""
        with self._open_volume() as stock:
            if stock.agent is None:
                raise Problem("no-calls", "no agent was loaded; see service.calls")
            yield stock.agent

    async def reload(self) -> Reloaded:
        """Opens the knowledge base anew and swaps it in; one that cannot be used changes nothing and says why.

        Raises Problem while another reload is under way.
        """
        if self._loading.locked():
            raise Problem("reloading", "the knowledge base is being loaded; wait for it")
        async with self._loading:
            try:
                volume = await self._loader.run(self._open)
            except (RetrievalError, AgentError, TimeoutError) as e:
                why = str(e) or "it was not ready in time"
                self.last = Reloaded(_now(), self.knowledge.corpus.version, why)
                return self.last
            before, self._volume = self._volume, volume
            before.replaced = True
            before.close_if_unread()
            self.last = Reloaded(_now(), volume.stock.knowledge.corpus.version)
            return self.last

    @contextmanager
    def _open_volume(self) -> Iterator[Stock]:
        volume = self._volume
        volume.readers += 1
        try:
            yield volume.stock
        finally:
            volume.readers -= 1
            volume.close_if_unread()

    def _open(self) -> _Volume:
        with ExitStack() as parts:
            stock = parts.enter_context(self._opening())
            return _Volume(stock, parts.pop_all())


def _now() -> datetime:
    return datetime.now().astimezone()
