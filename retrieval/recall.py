"""The channels of one search in parallel, a deadline each: what every one found, and which gave nothing and why."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from functools import partial
from typing import Protocol, runtime_checkable

from retrieval.conditions import Conditions
from retrieval.filters import OpenRows
from retrieval.narrowing import Opened
from retrieval.query import make_query
from retrieval.types import Channel, Cut, Query, Ranking, Stage
from retrieval.workers import ChannelWorker, Ranked


class RecallChannel(Protocol):
    """What every channel is: a query to its ranking of the open rows."""

    def rank(self, query: Query, limit: int, allowed: OpenRows) -> Ranking: ...


@runtime_checkable
class RemoteChannel(Protocol):
    """A channel that cannot be handed the open rows cheaply: it filters by the conditions, and by the rows last."""

    def rank_where(self, query: Query, limit: int, allowed: OpenRows, conditions: Conditions) -> Ranking: ...


Channels = Mapping[Channel, RecallChannel | RemoteChannel]


@dataclass(frozen=True, slots=True)
class Recalled:
    """Each channel that answered with its ranking and its time; each that did not, with the cause."""

    rankings: Mapping[Channel, Ranking]
    down: Mapping[Stage, str]
    timings_ms: Mapping[str, float]
    reworded: Sequence[tuple[Channel, Ranking, float]]
    """What the channels found for the question's other wordings, with the weight of each wording."""


class Recall:
    """One worker thread a channel. Close it; a search after that finds every channel down."""

    def __init__(self, channels: Channels, limit: int, deadline_ms: float, cut: Cut) -> None:
        """At most `limit` passages a channel; `cut` is the tokenizer of other wordings."""
        self.channels = channels
        self._limit = limit
        self._deadline_ms = deadline_ms
        self._cut = cut
        self._workers = {name: ChannelWorker(f"recall-{name}") for name in channels}

    def close(self) -> None:
        """Ends the channels' threads."""
        for worker in self._workers.values():
            worker.close()

    def run(self, query: Query, opened: Opened) -> Recalled:
        """Asks every channel at once. All share one deadline, counted from here."""
        began = time.perf_counter()
        rankings: dict[Channel, Ranking] = {}
        down: dict[Stage, str] = {}
        timings: dict[str, float] = {}
        for name, job in self._jobs(query, opened).items():
            outcome = _await(job, self._deadline_ms, began)
            if isinstance(outcome, str):
                down[name] = outcome
            else:
                rankings[name], timings[name] = outcome.ranking, outcome.ms
        return Recalled(rankings, down, timings, self._reworded(query, opened, began))

    def _jobs(self, query: Query, opened: Opened) -> dict[Channel, Future[Ranked]]:
        jobs = {}
        for name, channel in self.channels.items():
            parts = query, self._limit, opened.rows
            if isinstance(channel, RemoteChannel):
                run = partial(channel.rank_where, *parts, opened.conditions)
            else:
                run = partial(channel.rank, *parts)
            jobs[name] = self._workers[name].submit(run)
        return jobs

    def _reworded(
        self, query: Query, opened: Opened, began: float
    ) -> Sequence[tuple[Channel, Ranking, float]]:
        """One wording at a time, so that they never fill a channel's queue; what fails or is late is left out."""
        found = []
        for wording in query.also:
            for name, job in self._jobs(make_query(wording.text, cut=self._cut), opened).items():
                outcome = _await(job, self._deadline_ms, began)
                if isinstance(outcome, Ranked):
                    found.append((name, outcome.ranking, wording.weight))
        return found


def _await(job: Future[Ranked], deadline_ms: float, began: float) -> Ranked | str:
    """What the job found, or in one line why there is nothing."""
    waited_ms = (time.perf_counter() - began) * 1000.0
    try:
        return job.result(max(deadline_ms - waited_ms, 0.0) / 1000.0)
    except TimeoutError:
        job.cancel()
        return f"late: nothing after {deadline_ms:.0f} ms"
    except CancelledError:
        return "closed: the searcher takes no more searches"
    except Exception as fault:  # noqa: BLE001 - the recall channel's boundary: whatever broke it becomes a coded value
        return cause_of(fault)


def cause_of(fault: Exception) -> str:
    """Kind and first line of a fault."""
    return f"{type(fault).__name__}: {fault}".splitlines()[0]
