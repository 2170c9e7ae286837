"""The ways to rank that are compared: single channels, fusions of them, and rerankers over a fusion."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from retrieval.bm25 import Bm25
from retrieval.code_book import CodeBook
from retrieval.dense import Dense
from retrieval.filters import OpenRows
from retrieval.fusion import best_first, rrf, weighted_min_max, weighted_relative, weighted_rrf
from retrieval.phonetic import Phonetic
from retrieval.query import voices
from retrieval.rerank import MAX_CANDIDATES, Reranker
from retrieval.surfaces import document_text
from retrieval.types import Passage, PassageId, Query, Ranking
from voice_agent.knowledge import Knowledge

RECALL = 50
"""Candidates of a channel, as shipped."""

Rankings = Mapping[str, Ranking]
Fuse = Callable[[Rankings], Ranking]


def _weighed(fuse: Callable[[Iterator[tuple[Ranking, float]]], Ranking], **weights: float) -> Fuse:
    return lambda found: fuse((found[name], weight) for name, weight in weights.items())


FUSIONS: dict[str, Fuse] = {
    "RRF b+d": lambda found: rrf([found["bm25"], found["dense"]]),
    "RRF b+d+p": lambda found: rrf([found["bm25"], found["dense"], found["phonetic"]]),
    "weighted RRF b1 d2": _weighed(weighted_rrf, bm25=1.0, dense=2.0),
    "weighted RRF b1 d2 p.5": _weighed(weighted_rrf, bm25=1.0, dense=2.0, phonetic=0.5),
    "weighted RRF b2 d2 p1": _weighed(weighted_rrf, bm25=2.0, dense=2.0, phonetic=1.0),
    "min-max b1 d1": _weighed(weighted_min_max, bm25=1.0, dense=1.0),
    "min-max b1 d1 p.5": _weighed(weighted_min_max, bm25=1.0, dense=1.0, phonetic=0.5),
    "relative b1 d1": _weighed(weighted_relative, bm25=1.0, dense=1.0),
    "relative b1 d1 p.5": _weighed(weighted_relative, bm25=1.0, dense=1.0, phonetic=0.5),
}

POOLS = ("RRF b+d", "RRF b+d+p")
"""The fusions whose best MAX_CANDIDATES are reranked."""

BLENDS: dict[str, dict[str, float]] = {
    "": {},
    " + b.2 d.2": {"bm25": 0.2, "dense": 0.2},
    " + b.4 d.2": {"bm25": 0.4, "dense": 0.2},
    " + b.6 d.2": {"bm25": 0.6, "dense": 0.2},
    " + b.4 d.4": {"bm25": 0.4, "dense": 0.4},
    " + b.4 d.2 p.2": {"bm25": 0.4, "dense": 0.2, "phonetic": 0.2},
}
"""What the channels' scaled scores add to the reranker's 1 in the final order."""


@dataclass(frozen=True)
class Outcome:
    """One system's ids for one question, best first, and the processor time of its channels, fusion and reranker.

    Processor and not wall time: it does not measure what else the machine is doing. On an idle core they are the same
    but that channels run beside each other in a call and are added here.
    """

    ids: tuple[str, ...]
    ms: float


@dataclass
class Systems:
    """Every way to rank over one opened knowledge base. `rerankers` make a model each time they are called."""

    knowledge: Knowledge
    rerankers: Mapping[str, Callable[[], Reranker]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        index = self.knowledge.index
        searcher = self.knowledge.answerer.searcher
        self._codes: CodeBook = searcher.codes
        self._passages: dict[PassageId, Passage] = {p.id: p for p in index.passages}
        # One a pool: what a reranker remembers of a question must not make the second pool look faster.
        self._models = {pool: {name: made() for name, made in self.rerankers.items()} for pool in POOLS}
        words: Bm25 = searcher.words
        self._channels = {
            "bm25": words,
            "dense": Dense(self.knowledge.encoder, index.ids, index.vectors, index.starts),
            "phonetic": Phonetic(index.passages),
        }

    def channels(self, query: Query, allowed: OpenRows) -> tuple[dict[str, Ranking], dict[str, float]]:
        """Each channel's ranking and its milliseconds of processor time."""
        found: dict[str, Ranking] = {}
        spent: dict[str, float] = {}
        for name, channel in self._channels.items():
            began = time.process_time()
            found[name] = channel.rank(query, RECALL, allowed)
            spent[name] = _ms_since(began)
        return found, spent

    def outcomes(self, query: Query, allowed: OpenRows) -> Iterator[tuple[str, Outcome]]:
        """Every system by its name. Passages with the asked codes come first wherever there is a fusion."""
        found, spent = self.channels(query, allowed)
        for name, ranking in found.items():
            yield name, Outcome(tuple(pid for pid, _ in ranking), spent[name])
        for name, fuse in FUSIONS.items():
            began = time.process_time()
            ids = self._codes.arranged([pid for pid, _ in fuse(found)], query.codes)
            recall = sum(ms for channel, ms in spent.items() if channel != "phonetic" or _hears(name))
            ms = recall + _ms_since(began)
            yield name, Outcome(tuple(ids), ms)
            if name in POOLS:
                yield from self._reranked(query, name, ids, found, ms)

    def _reranked(
        self, query: Query, pool: str, ids: Sequence[PassageId], found: Rankings, ms: float
    ) -> Iterator[tuple[str, Outcome]]:
        candidates = ids[:MAX_CANDIDATES]
        texts = [document_text(self._passages[pid]) for pid in candidates]
        for reranker, model in self._models[pool].items():
            began = time.process_time()
            scores = dict(zip(candidates, _scores(model, query, texts), strict=True))
            spent = ms + _ms_since(began)
            for blend, weights in BLENDS.items():
                if "phonetic" in weights and not _hears(pool):
                    continue
                parts = [(best_first(scores), 1.0)]
                for name, weight in weights.items():
                    parts.append(([(pid, score) for pid, score in found[name] if pid in scores], weight))
                ranked = [pid for pid, _ in weighted_min_max(parts)]
                order = self._codes.arranged(
                    [*ranked, *(pid for pid in candidates if pid not in ranked)], query.codes
                )
                yield f"{pool} > {reranker}{blend}", Outcome(tuple(order), spent)


def _scores(model: Reranker, query: Query, texts: Sequence[str]) -> list[float]:
    """The question's own scores, and those of the turn before by their share, as the searcher mixes them."""
    total = [0.0] * len(texts)
    for text, share in voices(query):
        total = [sum_ + share * score for sum_, score in zip(total, model.scores(text, texts), strict=True)]
    return total


def _hears(name: str) -> bool:
    return "+p" in name or " p" in name


def _ms_since(began: float) -> float:
    return (time.process_time() - began) * 1000.0
