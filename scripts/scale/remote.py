"""The same questions put to Milvus Lite as a server of its own, beside the embedded channels in this process."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from retrieval.bm25 import Bm25
from retrieval.conditions import Conditions
from retrieval.dense import Dense
from retrieval.encoder import Encoder
from retrieval.filters import Filters
from retrieval.index import Index
from retrieval.milvus_channels import MilvusChannel, milvus_channels
from retrieval.phonetic import Phonetic
from retrieval.recall import Channels, RecallChannel
from retrieval.rerank import Reranker
from retrieval.search import Searcher, SearchSettings
from retrieval.store_milvus import MilvusStore, Place
from retrieval.types import Channel, Cut, Query

START_S = 180.0
LIMIT = 50
TOP = 10
"""How far rankings are compared; further down equal scores may stand in another order at the cut."""


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """Milvus Lite listening on a free port of this machine; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "milvus_lite", "server", "--data-dir", str(folder), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + START_S
        while not _listening(port):
            if time.monotonic() > deadline or process.poll() is not None:
                raise SystemExit("milvus-lite server did not start; pip install 'voice-agent[milvus]'")
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def _listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@dataclass(frozen=True)
class Task:
    """An index, how its texts are cut, what is asked of it, and how times are summed up."""

    index: Index
    encoder: Encoder
    reranker: Reranker
    cut: Cut
    queries: Sequence[Query]
    day: date
    spans: Callable[[Sequence[float]], dict[str, float]]


def against_milvus(task: Task) -> dict[str, Any]:
    """Time to store, time of each channel and of a whole recall on both sides, and how many rankings are equal."""
    index = task.index
    words = Bm25(index.passages, task.cut)
    here: dict[Channel, RecallChannel] = {
        "bm25": words,
        "dense": Dense(task.encoder, index.ids, index.vectors, index.starts),
        "phonetic": Phonetic(index.passages),
    }
    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as uri:
        store = MilvusStore(Place(uri, timeout_s=60.0))
        began = time.perf_counter()
        there = milvus_channels(store, index, task.encoder, words)
        stored_s = round(time.perf_counter() - began, 1)
        channels = {name: _compared(here[name], there[name], task) for name in here}
        recall = {name: _recall(both, task) for name, both in (("embedded", here), ("milvus", there))}
        store.close()
    return {"rows": len(index.vectors), "stored_s": stored_s, "channels": channels, "recall_ms": recall}


def _compared(here: RecallChannel, there: MilvusChannel, task: Task) -> dict[str, Any]:
    """One channel on both sides."""
    open_rows, conditions = Filters(task.index.passages).open_rows(task.day), Conditions(task.day)
    times: dict[str, list[float]] = {"embedded_ms": [], "milvus_ms": []}
    equal = 0
    for query in task.queries:
        began = time.perf_counter()
        ours = here.rank(query, LIMIT, open_rows)
        middle = time.perf_counter()
        theirs = there.rank_where(query, LIMIT, open_rows, conditions)
        times["embedded_ms"].append((middle - began) * 1000)
        times["milvus_ms"].append((time.perf_counter() - middle) * 1000)
        equal += [pid for pid, _ in ours[:TOP]] == [pid for pid, _ in theirs[:TOP]]
    return {**{name: task.spans(own) for name, own in times.items()}, "same_top": equal / len(task.queries)}


def _recall(channels: Channels, task: Task) -> dict[str, float]:
    settings = SearchSettings(deadline_ms=60_000.0)
    with Searcher(task.index, task.encoder, task.reranker, settings, channels, task.cut) as searcher:
        founds = [searcher.search(query, task.day) for query in task.queries]
    return task.spans([found.timings_ms["recall"] for found in founds])
