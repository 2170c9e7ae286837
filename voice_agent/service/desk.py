"""One typed question from the queue to its journal: the road that POST /ask and its stream share."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, aclosing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from retrieval.errors import RetrievalError
from voice_agent.call.clock import WallClock
from voice_agent.config import Config
from voice_agent.errors import AgentError
from voice_agent.knowledge import Knowledge
from voice_agent.record.journal import Journal, Recorder
from voice_agent.record.telemetry import Telemetry
from voice_agent.record.vault import masking
from voice_agent.reply.answer import Asked, Checked
from voice_agent.reply.asked import Answered, answered
from voice_agent.service.admission import Queue
from voice_agent.service.cache import AnswerCache, cache_key
from voice_agent.service.problem import Problem
from voice_agent.service.shelf import Reloaded, Shelf
from voice_agent.service.walks import NotedWalk, RecalledWalk, Said, told_to_nobody

TURN = 1
"""A request is a call of one turn."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What was answered, and under which name it is journalled."""

    call: str
    answered: Answered

    def as_json(self) -> dict[str, object]:
        """The shape of `ask --json`, with where to look it up."""
        return {**self.answered.as_json(), "call": self.call, "turn": TURN}


class Desk:
    """Takes questions. Everything a request costs is bounded here: its place, its time, what is kept of it."""

    def __init__(self, shelf: Shelf, config: Config, telemetry: Telemetry) -> None:
        self._shelf = shelf
        self._config = config
        self._telemetry = telemetry
        self.queue = Queue(config.service.at_once, config.service.queue)
        self.cache = AnswerCache(config.service.cache)

    @property
    def calls(self) -> Path:
        """The folder of the journals."""
        return self._config.paths.logs / "calls"

    async def ask(self, asked: Asked, client: str, said: Said = told_to_nobody) -> Reply:
        """The whole answer; `said` gets each sentence as soon as its check is passed. Raises Problem."""
        deadline_s = self._config.service.deadline_s
        try:
            async with asyncio.timeout(deadline_s), self.queue.place():
                with self._shelf.reading() as knowledge:
                    return await self._ask(knowledge, asked, client, said)
        except TimeoutError as e:
            raise Problem("deadline", f"no answer within {deadline_s:g} s", 1) from e
        except (AgentError, RetrievalError) as e:
            raise Problem("unavailable", "the answer could not be worked out or recorded", 5) from e

    async def reload(self) -> Reloaded:
        """Takes the knowledge base anew; what was remembered of the old one is forgotten. Raises Problem."""
        reloaded = await self._shelf.reload()
        if not reloaded.why:
            self.cache.clear()
        return reloaded

    async def _ask(self, knowledge: Knowledge, asked: Asked, client: str, said: Said) -> Reply:
        began = time.perf_counter()
        call = f"ask-{datetime.now():%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
        knowledge = knowledge.of_call(call)
        key = cache_key(asked, knowledge)
        remembered = self.cache.get(key)
        with self._recording(call, knowledge, asked, client, remembered is not None) as record:
            begun = (
                RecalledWalk(remembered)
                if remembered is not None
                else knowledge.answerer.begin(asked, WallClock().job(), record.tell)
            )
            async with aclosing(NotedWalk(begun, record.tell, said)) as walk:
                reply = await answered(walk, began)
            record.ended(reply, walk.checked)
            if remembered is None and reply.status == "answered" and walk.looked is not None:
                self.cache.put(key, walk.looked, tuple(walk.checked))
        return Reply(record.call, reply)

    @contextmanager
    def _recording(
        self, call: str, knowledge: Knowledge, asked: Asked, client: str, recalled: bool
    ) -> Iterator[_Record]:
        header = {**_header(self._config, knowledge), "as_of": asked.as_of}
        header |= {"door": "http", "client": client, "recalled": recalled}
        with ExitStack() as stack:
            masker = stack.enter_context(masking(self._config.privacy.key_env, self.calls, call))
            journal = stack.enter_context(Journal(self.calls, call, header, masker=masker))
            record = _Record(call, stack.enter_context(self._telemetry.watching(call, journal)))
            record.heard(asked.question)
            try:
                yield record
            except Exception as e:
                record.failed(e)
                raise
            finally:
                record.close()


class _Record:
    """The events of one request around those of its answer."""

    def __init__(self, call: str, recorder: Recorder) -> None:
        self.call = call
        self._recorder = recorder
        self._began = time.perf_counter()
        self._outcome = "unfinished"
        self._counts: Mapping[str, Any] = {"generated": 0, "checked": 0, "blocked": {}, "spoken": 0}

    def tell(self, kind: str, **data: object) -> None:
        self._recorder.write(kind, time.perf_counter() - self._began, TURN, **data)

    def heard(self, question: str) -> None:
        times = dict.fromkeys(("voiced_s", "seconds", "start_s", "end_s"), 0.0)
        said = {"text": question, "raw": question, "confidence": None, "dropped": None, "hot_words": ()}
        self.tell("transcript", **said, **times)

    def ended(self, reply: Answered, checked: list[Checked]) -> None:
        blocked: dict[str, int] = {}
        for sentence in checked:
            if not sentence.verdict.passed:
                blocked[str(sentence.verdict.reason)] = blocked.get(str(sentence.verdict.reason), 0) + 1
        self._counts = {
            "generated": len(checked),
            "checked": len(checked),
            "blocked": blocked,
            "spoken": 0,
        }
        self._outcome = "blocked" if blocked else reply.status
        self.tell("timing", stages_ms=reply.timings_ms)

    def failed(self, fault: Exception) -> None:
        self._outcome = "failed"
        self.tell("error", where="reply", message=f"{type(fault).__name__}: {fault}")

    def close(self) -> None:
        """Also for a client that has gone and a deadline that has passed: their turn is unfinished."""
        length_s = round(time.perf_counter() - self._began, 3)
        self.tell("reply_ended", outcome=self._outcome, first_audio_s=None, sentences=self._counts)
        self.tell("call_ended", reason="hung_up", length_s=length_s, turns=TURN, stale_events=0, counters={})


def _header(config: Config, knowledge: Knowledge) -> dict[str, object]:
    models = {
        "encoder": knowledge.encoder.id,
        "reranker": knowledge.reranker.id,
        "generator": knowledge.answerer.writers.first.id,
        "calibration": knowledge.gating.told,
    }
    return {"config_sha": config.sha, "models": models, "kb_version": knowledge.corpus.version}
