"""The chain built up layer by layer over one opened knowledge base, by the shipped parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from retrieval.bm25 import Bm25
from retrieval.dense import Dense
from retrieval.examples import ExampleSearch
from retrieval.filters import Filters, OpenRows
from retrieval.fusion import best_first, rrf, weighted_min_max
from retrieval.homophones import Repairer
from retrieval.phonetic import Phonetic
from retrieval.query import make_query, voices
from retrieval.rerank import MAX_CANDIDATES
from retrieval.search import SearchSettings
from retrieval.surfaces import document_text
from retrieval.types import Channel, PassageId, Query, Ranking
from voice_agent.evaluation.questions import Question
from voice_agent.knowledge import Knowledge
from voice_agent.reply.rewrite import leaned_on


@dataclass(frozen=True)
class Layers:
    """What is switched on. Fewer than two channels need no fusion."""

    channels: tuple[Channel, ...]
    codes_first: bool = False
    history: bool = False
    repair: bool = False
    rerank: bool = False
    blend: bool = False


STEPS: dict[str, Layers] = {
    "BM25 only": Layers(("bm25",)),
    "dense only": Layers(("dense",)),
    "RRF of both": (both := Layers(("bm25", "dense"))),
    "+ codes first": (coded := replace(both, codes_first=True)),
    "+ history": (historied := replace(coded, history=True)),
    "+ repair": (repaired := replace(historied, repair=True)),
    "+ phonetic channel": (heard := replace(repaired, channels=("bm25", "dense", "phonetic"))),
    "+ rerank": (reranked := replace(heard, rerank=True)),
    "+ blend": (blended := replace(reranked, blend=True)),
    "+ example questions": replace(blended, channels=("bm25", "dense", "phonetic", "examples")),
}
"""Each step adds one layer to the one before; the gate comes last and is the shipped chain itself."""


class Chain:
    """Ranks by any choice of layers."""

    def __init__(self, knowledge: Knowledge, recall: int = 50) -> None:
        index = knowledge.index
        self._recall = recall
        self._blend: Mapping[Channel, float] = SearchSettings().blend
        self._filters = Filters(index.passages)
        self._texts = {p.id: document_text(p) for p in index.passages}
        self._rows = {pid: row for row, pid in enumerate(index.ids)}
        self._codes = knowledge.answerer.searcher.codes
        self._ranked: dict[tuple[Channel, Query], Ranking] = {}
        self._scored: dict[tuple[Query, tuple[PassageId, ...]], dict[PassageId, float]] = {}
        self._repairer = Repairer(index.passages)
        self._reranker = knowledge.reranker
        searcher = knowledge.answerer.searcher
        self._channels: dict[Channel, Bm25 | Dense | Phonetic | ExampleSearch] = {
            "bm25": searcher.words,
            "dense": Dense(knowledge.encoder, index.ids, index.vectors, index.starts),
            "phonetic": Phonetic(index.passages),
        }
        told = searcher.channels.get("examples")
        if isinstance(told, ExampleSearch):
            self._channels["examples"] = told

    def ids(self, question: Question, layers: Layers) -> list[PassageId]:
        """Best first."""
        query = self._query(question, layers)
        allowed = self._filters.open_rows(question.asked.as_of)
        found = {
            name: self._ranking(name, query, allowed) for name in layers.channels if name in self._channels
        }
        order = [pid for pid, _ in rrf(found.values())]
        if layers.codes_first:
            order = self._coded(order, query, allowed)
        return self._reranked(order, query, found, layers) if layers.rerank else order

    def forget(self) -> None:
        """Before the next question: steps that ask the same share what was found, questions share nothing."""
        self._ranked.clear()
        self._scored.clear()

    def _ranking(self, name: Channel, query: Query, allowed: OpenRows) -> Ranking:
        key = name, query
        if key not in self._ranked:
            self._ranked[key] = self._channels[name].rank(query, self._recall, allowed)
        return self._ranked[key]

    def _scores(self, query: Query, candidates: tuple[PassageId, ...]) -> dict[PassageId, float]:
        key = query, candidates
        if key not in self._scored:
            scores = dict.fromkeys(candidates, 0.0)
            for text, share in voices(query):
                each = self._reranker.scores(text, [self._texts[pid] for pid in candidates])
                for pid, score in zip(candidates, each, strict=True):
                    scores[pid] += share * score
            self._scored[key] = scores
        return self._scored[key]

    def _query(self, question: Question, layers: Layers) -> Query:
        words = question.asked.question
        if layers.repair:
            words = self._repairer.repair(words, question.asked.confidence).text
        before = leaned_on(words, question.asked.history) if layers.history else None
        query = make_query(words, (before.question, before.answer) if before else ())
        return replace(query, codes=self._codes.resolve(query.codes))

    def _coded(self, order: Sequence[PassageId], query: Query, allowed: OpenRows) -> list[PassageId]:
        holders = (pid for pid in self._codes.holders(query.codes) if allowed[self._rows[pid]])
        return self._codes.arranged(list(dict.fromkeys((*order, *holders))), query.codes)

    def _reranked(
        self, order: Sequence[PassageId], query: Query, found: Mapping[Channel, Ranking], layers: Layers
    ) -> list[PassageId]:
        scores = self._scores(query, tuple(order[:MAX_CANDIDATES]))
        parts = [(best_first(scores), 1.0)]
        for name, ranking in found.items() if layers.blend else ():
            parts.append(([(p, s) for p, s in ranking if p in scores], self._blend.get(name, 0.0)))
        return self._codes.arranged([pid for pid, _ in weighted_min_max(parts)], query.codes)
