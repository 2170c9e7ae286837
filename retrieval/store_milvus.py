"""The recall channels over Milvus: the same rankings from a server that can be sharded and copied. Optional extra.

`pymilvus` speaks to Milvus Lite (a path ending in .db, or its own server), to Milvus Standalone and to a cluster alike.
An index is stored as a collection of its own, named after its fingerprint, and the alias moves to it only when every
row is there and was searched: a build that fails leaves the alias and the collection before where they are. Every row
is written again, for the mean length of the corpus is part of each word weight: a collection mended row by row would
rank otherwise than the index does.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from retrieval.errors import StoreError
from retrieval.milvus_rows import NOWHERE, Collection, Sparse
from retrieval.types import PassageId
from retrieval.waking import Waking

ROWS_AT_ONCE = 500
"""Rows of one insert: about 2 MB, well below what a server takes in one message."""

MOST_HITS = 16_384
"""More a Milvus server does not return for one search."""

LINE = {
    "grpc.keepalive_time_ms": 300_000,
    "grpc.keepalive_permit_without_calls": 0,
    "grpc.initial_reconnect_backoff_ms": 200,
    "grpc.min_reconnect_backoff_ms": 200,
    "grpc.max_reconnect_backoff_ms": 1_000,
}
"""The client's own ping every 10 s is more than a gRPC server allows by default: it hangs up on an idle line. And gRPC
by default waits up to two minutes before it tries a server again that was away, new connections included.
"""

PATIENCE_S = 300.0
"""For each request that writes or loads. Milvus Lite sorts 20,000 passages for the first search by sound in 12 s."""

LOAD_AGAIN_S = 2.0
LOOK_AGAIN_S = 0.02

UNLOADED = 101
"""Milvus's code for a collection that it holds on disk only, as after a restart."""

SPARSE = ("words", "sounds")

NAME_LENGTH = 512
TAG_LENGTH = 256
MOST_TAGS = 128


@dataclass(frozen=True, slots=True)
class Place:
    """Where the collection is. `uri` http://host:19530, or a path ending in .db for Milvus Lite within this process;
    `collection` names the alias; the timeout holds for connecting and for each request. `token` comes from the
    environment, never from a file.
    """

    uri: str
    collection: str = "voice_agent"
    timeout_s: float = 1.0
    token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Hits:
    """How many rows came back, and the best score of each passage among them."""

    rows: int
    scores: Mapping[PassageId, float]


class MilvusStore:
    """One connection. Raises StoreError from every method, in one line."""

    def __init__(self, place: Place) -> None:
        self._place = place
        library = _library()
        self._kinds: tuple[type[Exception], ...] = (
            library.MilvusException,
            _line_fault(),
            OSError,
            ValueError,
        )
        self._waking = Waking()
        with self._told("connect"):
            self._client = library.MilvusClient(
                place.uri, token=place.token, timeout=place.timeout_s, grpc_options=LINE
            )

    def close(self) -> None:
        """Gives the connection back."""
        with self._told("close"):
            self._client.close()

    def current(self) -> str | None:
        """The collection that the alias names, None when there is none yet."""
        with self._told("look up the alias"):
            held = self._client.list_aliases(timeout=self._place.timeout_s)
            names = held["aliases"] if isinstance(held, Mapping) else held
            if self._place.collection not in names:
                return None
            found = self._client.describe_alias(self._place.collection, timeout=self._place.timeout_s)
            return str(found["collection_name"])

    def sync(
        self,
        collection: Collection,
        progress: Callable[[int, int], None] | None = None,
        patience_s: float = PATIENCE_S,
    ) -> str:
        """Makes the alias name a collection that holds exactly these rows; returns its name. Nothing is sent when it
        does so already. `progress` is called with (rows sent, rows); `patience_s` is the timeout of each request here,
        for writing takes longer than searching.
        """
        name, before = self.name(collection), self.current()
        if name == before:
            self._wake(name, patience_s)
            return name
        with self._told("write"):
            self._client.drop_collection(name, timeout=patience_s)
            self._create(name, collection.index.vectors.shape[1], patience_s)
            sent = self._fill(name, collection, progress, patience_s)
        self._wake(name, patience_s)
        with self._told("count"):
            counted = self._client.query(name, "", output_fields=["count(*)"], timeout=patience_s)
            held = int(counted[0]["count(*)"])
        if held != sent:
            raise StoreError(f"{self._where}: {held} of {sent} rows arrived in {name}; build again")
        with self._told("switch the alias"):
            switch = self._client.create_alias if before is None else self._client.alter_alias
            switch(name, self._place.collection, timeout=patience_s)
            if before is not None:
                self._client.drop_collection(before, timeout=patience_s)
        return name

    def name(self, collection: Collection) -> str:
        """What the stored form of an index is called."""
        return f"{self._place.collection}_{collection.fingerprint}"

    def nearest(
        self, name: str, vector_field: str, vector: Sequence[float] | Sparse, limit: int, where: str
    ) -> Hits:
        """The best `limit` rows by inner product. A collection that the server has on disk only, as after a restart, is
        made ready beside; until then every search is refused at once.
        """
        if self._waking.under_way:
            raise StoreError(f"{self._where}: cannot search ({name} is being loaded); ask again")
        try:
            with self._told("search"):
                hits = self._searched(
                    name, vector_field, vector, self._place.timeout_s, limit=limit, filter=where
                )
        except StoreError as e:
            if getattr(e.__cause__, "code", None) == UNLOADED:
                self._waking.begin(lambda: self._wake(name, PATIENCE_S))
            raise
        best: dict[PassageId, float] = {}
        for hit in hits:
            passage_id, score = PassageId(hit["entity"]["passage"]), float(hit["distance"])
            best[passage_id] = max(score, best.get(passage_id, score))
        return Hits(len(hits), best)

    def _searched(
        self, name: str, vector_field: str, vector: Sequence[float] | Sparse, timeout_s: float, **bounds: Any
    ) -> Any:
        (hits,) = self._client.search(
            name,
            data=[vector],
            anns_field=vector_field,
            output_fields=["passage"],
            search_params={"metric_type": "IP"},
            timeout=timeout_s,
            **bounds,
        )
        return hits

    def _wake(self, name: str, patience_s: float) -> None:
        """Loads the collection, and searches it once: the first search of a field may build its index, for seconds."""
        with self._told("load"):
            self._load(name, patience_s)
        with self._told("search for the first time"):
            for sparse in SPARSE:
                self._searched(name, sparse, NOWHERE, patience_s, limit=1)

    def _load(self, name: str, patience_s: float) -> None:
        """Asks anew now and then: Milvus Lite, just started, forgets a load that comes together with searches."""
        until, state = time.monotonic() + patience_s, ""
        while state != "Loaded":
            asked = time.monotonic()
            if asked > until:
                raise TimeoutError(f"{name} is {state} after {patience_s:g} s")
            self._client.load_collection(name, timeout=patience_s, _async=True)
            while state != "Loaded" and time.monotonic() < asked + LOAD_AGAIN_S:
                time.sleep(LOOK_AGAIN_S)
                state = self._client.get_load_state(name, timeout=patience_s)["state"].name

    def _create(self, name: str, dim: int, patience_s: float) -> None:
        from pymilvus import DataType, MilvusClient

        schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
        text, day = DataType.VARCHAR, DataType.INT64
        schema.add_field("id", text, is_primary=True, max_length=NAME_LENGTH)
        for name_of_field, length in (
            ("passage", NAME_LENGTH),
            ("sha", NAME_LENGTH),
            ("version", TAG_LENGTH),
        ):
            schema.add_field(name_of_field, text, max_length=length)
        schema.add_field("valid_from", day)
        schema.add_field("valid_to", day)
        schema.add_field(
            "tags", DataType.ARRAY, element_type=text, max_capacity=MOST_TAGS, max_length=TAG_LENGTH
        )
        schema.add_field("dense", DataType.FLOAT_VECTOR, dim=dim)
        indexes = MilvusClient.prepare_index_params()
        indexes.add_index("dense", index_type="FLAT", metric_type="IP")
        for sparse in SPARSE:
            schema.add_field(sparse, DataType.SPARSE_FLOAT_VECTOR)
            indexes.add_index(sparse, index_type="SPARSE_INVERTED_INDEX", metric_type="IP")
        self._client.create_collection(name, schema=schema, index_params=indexes, timeout=patience_s)

    def _fill(
        self,
        name: str,
        collection: Collection,
        progress: Callable[[int, int], None] | None,
        patience_s: float,
    ) -> int:
        sent, total = 0, len(collection.index.vectors)
        for rows in _blocks(collection.rows()):
            self._client.insert(name, rows, timeout=patience_s)
            sent += len(rows)
            if progress is not None:
                progress(sent, total)
        self._client.flush(name, timeout=patience_s)
        return sent

    @property
    def _where(self) -> str:
        return f"Milvus {self._place.uri}"

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """The client's errors as one line of ours. It raises its own kind, and now and then plain ones."""
        try:
            yield
        except self._kinds as e:
            reason = " ".join(str(getattr(e, "message", "") or _details(e) or type(e).__name__).split())
            raise StoreError(
                f"{self._where}: cannot {what} ({reason[:200]}); check milvus.uri and that it runs"
            ) from e


def _library() -> Any:
    """pymilvus, without its habit of writing every refused request to the console."""
    try:
        import pymilvus
    except ImportError as e:
        raise StoreError("Milvus: pymilvus is not installed; run pip install 'voice-agent[milvus]'") from e
    for name in ("pymilvus", "milvus_lite"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return pymilvus


def _line_fault() -> type[Exception]:
    """What gRPC raises where pymilvus lets it through, as for a search past its deadline."""
    import grpc

    fault: type[Exception] = grpc.RpcError
    return fault


def _details(fault: Exception) -> str:
    """A gRPC error shows itself in five lines; its details are one."""
    details = getattr(fault, "details", None)
    return str(details()) if callable(details) else str(fault)


def _blocks(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    waiting = iter(rows)
    while block := list(islice(waiting, ROWS_AT_ONCE)):
        yield block
