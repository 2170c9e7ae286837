"""Whether requests should be sent here: everything warm and reachable, and no shutdown begun."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import date
from typing import Literal

from retrieval.search import make_query
from voice_agent.call.threads import Worker
from voice_agent.config import Config
from voice_agent.reply.llm import LlmError
from voice_agent.reply.servers import models_served
from voice_agent.service.shapes import Readiness
from voice_agent.service.shelf import Shelf

PROBED_FOR_S = 5.0
"""How long one look at a language model's server holds."""

_QUESTION = "退款多久到账"
# Any will do: whether the store answers is what is asked.

Reach = Literal["reachable", "unreachable"]


class Watch:
    """Readiness of one process. `draining` is set once, before its last requests are finished."""

    def __init__(self, shelf: Shelf, config: Config) -> None:
        self._shelf = shelf
        self._config = config
        self._prober = Worker("probing")
        self._llm = _Probe(lambda: _answers(config))
        self._store = _Probe(self._is_searched)
        self.draining = False

    def close(self) -> None:
        """Ends the probing thread."""
        self._prober.close()

    async def look(self, calls_free: int) -> Readiness:
        """Every part as it is now; a server that is asked has a few seconds to answer."""
        knowledge, last = self._shelf.knowledge, self._shelf.last
        llm: Reach | Literal["off"] = "off"
        store: Reach | Literal["embedded"] = "embedded"
        if self._uses_llm:
            llm = await self._prober.run(self._llm.look)
        if self._config.retrieval.store != "embedded":
            with self._shelf.reading():
                store = await self._prober.run(self._store.look)
        failed = last.why if last and last.why else None
        return Readiness(
            ready=not self.draining and "unreachable" not in (llm, store),
            draining=self.draining,
            models="warm",
            passages=len(knowledge.corpus.passages),
            kb_version=knowledge.corpus.version,
            calibration=knowledge.gating.state,
            llm=llm,
            store=store,
            calls_free=calls_free,
            reloaded_at=last.at.isoformat(timespec="seconds") if last else None,
            reload_failed=failed,
        )

    def _is_searched(self) -> bool:
        """By a search, because a server may be up and its collection not loaded."""
        searcher = self._shelf.knowledge.answerer.searcher
        return not searcher.search(make_query(_QUESTION), date.today()).down

    @property
    def _uses_llm(self) -> bool:
        rewrite = self._config.rewrite
        rewrites = rewrite.standalone or rewrite.hyde or rewrite.multi_query or rewrite.step_back
        return self._config.answer.generator != "extractive" or bool(rewrites)


class _Probe:
    """One look kept for a while, so that a busy load balancer does not ask a server each time. On one thread."""

    def __init__(self, look: Callable[[], bool]) -> None:
        self._look = look
        self._until = 0.0
        self._found = False

    def look(self) -> Reach:
        if time.monotonic() >= self._until:
            self._found = self._look()
            self._until = time.monotonic() + PROBED_FOR_S
        return "reachable" if self._found else "unreachable"


def _answers(config: Config) -> bool:
    try:
        models_served(config)
    except LlmError:
        return False
    return True
