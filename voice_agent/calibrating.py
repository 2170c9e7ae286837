"""A calibration from labelled questions: fusion tuned, thresholds chosen, channels left out one by one to see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from functools import partial

from retrieval import calibrate
from retrieval.calibrate import Example, Wanted
from retrieval.calibration import Calibration, features_sha
from retrieval.errors import StoreError
from retrieval.filters import OpenRows
from retrieval.gate import WITHOUT, GateModel, Thresholds, thresholds_for
from retrieval.metrics import Rate, rate
from retrieval.recall import Channels
from retrieval.rerank import MAX_CANDIDATES
from retrieval.search import Searcher, SearchSettings
from retrieval.tuning import Case, Tuned, tune
from retrieval.types import Channel, PassageId, Query, Ranking
from voice_agent.errors import InputError
from voice_agent.evaluation.questions import Question
from voice_agent.knowledge import Knowledge, Report
from voice_agent.reply.answer import Answerer

OPTIONAL: tuple[Channel, ...] = ("phonetic",)
"""Channels that the gate can decide without: none of its features is theirs."""

WRONG_PASSAGE = 0.01
"""Most answers from a wrong passage, as a share of answerable questions, with which a channel may be missing."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The calibration, what fusion came to, and the rates over all questions: the thresholds were chosen on half of
    them and fusion on all, so these two are optimistic; `calibration.bound` is the figure to trust.
    """

    calibration: Calibration
    tuned: Tuned
    false_accept: Rate
    false_reject: Rate
    asked_back: Rate


@dataclass(frozen=True, slots=True)
class Calibrator:
    """Asks labelled questions of one knowledge base."""

    questions: Sequence[Question]
    knowledge: Knowledge
    wanted: Wanted
    report: Report

    def run(self, settings: SearchSettings) -> Calibrated:
        """Every question three times: for fusion, for thresholds, and without what may be missing.

        Raises InputError when the questions do not do, and what a search raises.
        """
        if len({q.must_refuse for q in self.questions}) < 2:
            raise InputError(
                "calibrate: needs questions with an answer and questions to refuse; add the other kind"
            )
        tuned = tune(self._cases(settings), settings.rrf_k)
        settings = replace(settings, weights=tuned.weights, blend=tuned.blend)
        base = self._shipped()
        examples = self._examples("门限", settings, base)
        try:
            chosen, bound = calibrate.choose(examples, base, self.wanted)
        except ValueError as e:
            raise InputError(f"calibrate: {e}; add questions") from e
        decided = {**base, **chosen}
        without = {
            f"{WITHOUT}{name}": 1.0 for name in OPTIONAL if self._holds_without(name, settings, decided)
        }
        knowledge, reader = self.knowledge, self.knowledge.gating.reader
        calibration = Calibration(
            reranker=knowledge.reranker.id,
            scale=knowledge.reranker.scale,
            encoder=knowledge.encoder.id,
            features=features_sha(base, reader.id if reader else ""),
            corpus=knowledge.corpus.sha,
            made=date.today().isoformat(),
            thresholds={**chosen, **without},
            bound=bound,
            weights=tuned.weights,
            blend=tuned.blend,
        )
        accepted, rejected = calibrate.accepted(examples, decided), calibrate.rejected(examples, decided)
        asked_back = calibrate.asked_back(examples, decided)
        return Calibrated(calibration, tuned, rate(*accepted), rate(*rejected), rate(*asked_back))

    def _cases(self, settings: SearchSettings) -> list[Case]:
        """What channels and reranker said of each answerable question, all candidates of it."""
        cases = []
        answerable = [q for q in self.questions if not q.must_refuse]
        with self._answering(settings) as answerer:
            searcher = answerer.searcher
            for done, question in enumerate(answerable, start=1):
                query = answerer.look(question.asked).found.query
                found = searcher.search(query, question.asked.as_of, MAX_CANDIDATES)
                judged = {e.passage.id: e.rerank for e in found.evidence if e.rerank is not None}
                arrange = partial(_arranged, searcher, query)
                expected = frozenset(PassageId(one) for one in question.expect)
                cases.append(Case(found.rankings, judged, expected, arrange))
                self.report("融合", done, len(answerable))
        return cases

    def _examples(
        self, what: str, settings: SearchSettings, base: Thresholds, down: Channel | None = None
    ) -> list[Example]:
        examples = []
        with self._answering(settings, base, down) as answerer:
            for done, question in enumerate(self.questions, start=1):
                looked = answerer.look(question.asked)
                evidence = looked.found.evidence
                right = bool(evidence) and evidence[0].passage.id in question.expect
                examples.append(Example(question.id, looked.gate.features, question.must_refuse, right))
                self.report(what, done, len(self.questions))
        return examples

    def _holds_without(self, channel: Channel, settings: SearchSettings, decided: Thresholds) -> bool:
        """Whether the rates still hold when the channel is down. A channel that is not used cannot be down."""
        if settings.weights.get(channel) is None:
            return False
        allowed = {**decided, f"{WITHOUT}{channel}": 1.0}
        examples = self._examples(f"缺 {channel}", settings, allowed, channel)
        return calibrate.survives(examples, allowed, self.wanted.max_false_accept, WRONG_PASSAGE)

    def _shipped(self) -> Thresholds:
        knowledge = self.knowledge
        examples = knowledge.answerer.searcher.known.examples is not None
        return thresholds_for(knowledge.reranker, knowledge.encoder.id, examples)

    @contextmanager
    def _answering(
        self, settings: SearchSettings, base: Thresholds | None = None, down: Channel | None = None
    ) -> Iterator[Answerer]:
        """The knowledge base's answerer with another search, and one channel broken if asked."""
        knowledge, cut = self.knowledge, self.knowledge.answerer.cut
        channels: Channels = knowledge.answerer.searcher.channels
        if down is not None:
            channels = {**channels, down: _Broken()}
        where = knowledge.index, knowledge.encoder, knowledge.reranker
        with Searcher(*where, settings, channels, cut) as searcher:
            gate = GateModel(
                searcher.known, knowledge.reranker, base or self._shipped(), knowledge.gating.reader
            )
            yield replace(knowledge.answerer, searcher=searcher, gate=gate, shadow=None)


class _Broken:
    """A channel that is down."""

    def rank(self, query: Query, limit: int, allowed: OpenRows) -> Ranking:
        raise StoreError("left out to see what the gate does without it")


def _arranged(searcher: Searcher, query: Query, ids: Sequence[PassageId]) -> Sequence[PassageId]:
    return searcher.codes.arranged(ids, query.codes)
