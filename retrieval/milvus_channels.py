"""The three recall channels as questions to one Milvus collection; each fits where an embedded channel stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from retrieval.bm25 import Bm25
from retrieval.conditions import Conditions
from retrieval.dense import query_vector
from retrieval.encoder import Encoder
from retrieval.filters import OpenRows
from retrieval.fusion import best_first
from retrieval.index import Index
from retrieval.milvus_rows import Collection, Sparse, expression
from retrieval.phonetic import Phonetic
from retrieval.query import voices
from retrieval.store_milvus import MOST_HITS, MilvusStore
from retrieval.types import Channel, PassageId, Query, Ranking

WIDER = 4
"""How much more is asked for when conditions that only the index knows closed too many of the hits."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class MilvusChannel:
    """One vector field. `asked` makes a query's vector, empty when it has nothing to look for; a passage has at most
    `surfaces` rows in this field. `rows` are those of the index, which has the last word on what is open.
    """

    store: MilvusStore
    collection: str
    field: str
    asked: Callable[[Query], Sequence[float] | Sparse]
    rows: Mapping[PassageId, int]
    surfaces: int = 1

    def rank_where(self, query: Query, limit: int, allowed: OpenRows, conditions: Conditions) -> Ranking:
        """The best `limit` open passages, best first, ties by id. Day, tags and version are filtered by the server,
        what else closes a row by `allowed`. Raises StoreError, and ModelError from the encoder.
        """
        vector = self.asked(query)
        if not len(vector) or limit <= 0 or not allowed.any():
            return []
        wanted = min(limit * self.surfaces, MOST_HITS)
        while True:
            hits = self.store.nearest(self.collection, self.field, vector, wanted, expression(conditions))
            found = {pid: score for pid, score in hits.scores.items() if allowed[self.rows[pid]]}
            if len(found) >= limit or hits.rows < wanted or wanted >= MOST_HITS:
                return best_first(found, limit)
            wanted = min(wanted * WIDER, MOST_HITS)


def milvus_channels(
    store: MilvusStore, index: Index, encoder: Encoder, words: Bm25, progress: Progress | None = None
) -> dict[Channel, MilvusChannel]:
    """Stores the index unless it is there already, and opens its channels. Raises StoreError."""
    collection = Collection(index, words, Phonetic(index.passages))
    name = store.sync(collection, progress)
    rows = {pid: row for row, pid in enumerate(index.ids)}

    def dense(query: Query) -> list[float]:
        vector: list[float] = np.asarray(query_vector(encoder, query), dtype=np.float32).tolist()
        return vector

    return {
        "bm25": MilvusChannel(store, name, "words", _voiced(collection.asked_words), rows),
        "dense": MilvusChannel(store, name, "dense", dense, rows, collection.most_surfaces),
        "phonetic": MilvusChannel(store, name, "sounds", _voiced(collection.asked_sounds), rows),
    }


def _voiced(asked: Callable[[str], Sparse]) -> Callable[[Query], Sparse]:
    """The sparse vectors of what is searched together, by their shares."""

    def together(query: Query) -> Sparse:
        total: Sparse = {}
        for text, share in voices(query):
            for dimension, weight in asked(text).items():
                total[dimension] = total.get(dimension, 0.0) + share * weight
        return total

    return together
