"""What an answer needs, wired: corpus, index, search, gate, generator and check. `ask`, `eval` and calls share it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import date

from retrieval.bm25 import Bm25
from retrieval.calibration import Calibration
from retrieval.citable import Citable
from retrieval.corpus import Corpus
from retrieval.cross_encoder import CrossEncoderReranker
from retrieval.encoder import Encoder, OnnxE5Encoder
from retrieval.encoder_hub import SentenceTransformerEncoder
from retrieval.errors import StoreError
from retrieval.gate import GateModel
from retrieval.homophones import NoRepairs, Repairer
from retrieval.index import Index, build_index, open_index
from retrieval.milvus_channels import milvus_channels
from retrieval.pooled import PooledVectors
from retrieval.recall import Channels
from retrieval.rerank import LateInteraction, Reranker
from retrieval.search import Searcher, SearchSettings, make_query
from retrieval.store_milvus import MilvusStore, Place
from retrieval.terms import Lexicon
from voice_agent.call.cores import Cores
from voice_agent.call.threads import Worker
from voice_agent.config import Config
from voice_agent.gating import EMBEDDED_ENCODER, Gating, gating_of, shipped_gating
from voice_agent.knowledge_files import read_corpus, read_lexicon
from voice_agent.reply.answer import Answerer
from voice_agent.reply.checker import Checker
from voice_agent.reply.draft import Writers
from voice_agent.reply.extractive import Extractive
from voice_agent.reply.servers import open_generator, open_rewriter
from voice_agent.weights.store import require

EMBEDDED_RERANKER = "late"

Report = Callable[[str, int, int], None]
"""Called with (what, done, total) during long work."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """The corpus and the parts that search it. `timings_ms` tells how long each took to be ready."""

    corpus: Corpus
    index: Index
    encoder: Encoder
    reranker: Reranker
    answerer: Answerer
    gating: Gating
    timings_ms: dict[str, float]

    def of_call(self, call: str) -> Knowledge:
        """As one live call uses it: with the thresholds of its stage."""
        gating = self.gating.of_call(call)
        if gating is self.gating:
            return self
        return replace(self, gating=gating, answerer=self.answerer.by_its_shadow())


@contextmanager
def timed(timings: dict[str, float], step: str) -> Iterator[None]:
    """Notes how long a step of the start took, in milliseconds."""
    began = time.perf_counter()
    yield
    timings[step] = round((time.perf_counter() - began) * 1000, 1)


@contextmanager
def open_knowledge(
    config: Config, report: Report, calibrated: bool = True, cores: Cores | None = None
) -> Iterator[Knowledge]:
    """Corpus, index, search and answers, warm. With `calibrated` False a calibration beside the index is not looked
    at, for one is to be made. `cores` are shared with the other workers of a call. Raises RetrievalError, WeightsError
    or ConfigError.
    """
    timings: dict[str, float] = {}
    with ExitStack() as stack:
        with timed(timings, "corpus"):
            corpus, lexicon = read_corpus(config), read_lexicon(config)
        with timed(timings, "encoder"):
            encoder = load_encoder(config)
        with timed(timings, "index"):
            index = fresh_index(config, corpus, encoder, report)
        with timed(timings, "reranker"):
            reranker = _reranker(config, encoder, index)
        gating = (
            gating_of(config, corpus, encoder, reranker)
            if calibrated
            else shipped_gating(config, corpus, encoder, reranker)
        )
        with timed(timings, "search"):
            channels = _remote_channels(config, index, encoder, report, stack)
            settings = search_settings(config, gating.stored)
            searcher = Searcher(index, encoder, reranker, settings, channels, lexicon.terms)
            stack.enter_context(searcher)
        with timed(timings, "answerer"):
            thinking = Worker("thinking", cores=cores)
            stack.callback(thinking.close)
            answerer = _answerer(config, searcher, reranker, gating, lexicon, thinking)
        with timed(timings, "first_question"):
            searcher.search(make_query("退款多久到账", cut=lexicon.terms), date.today())
        yield Knowledge(corpus, index, encoder, reranker, answerer, gating, timings)


def _answerer(
    config: Config,
    searcher: Searcher,
    reranker: Reranker,
    gating: Gating,
    lexicon: Lexicon,
    thinking: Worker,
) -> Answerer:
    """The road from question to checked sentence."""
    cut = lexicon.terms
    gate = GateModel(searcher.known, reranker, gating.thresholds, gating.reader)
    repair = config.retrieval.repair
    return Answerer(
        repairer=Repairer(searcher.passages, cut, lexicon.rarity) if repair else NoRepairs(),
        searcher=searcher,
        gate=gate,
        writers=_writers(config, Extractive(reranker, thinking.run, config.answer.max_sentences)),
        checker=Checker(reranker, config.answer.min_relevance),
        run=thinking.run,
        attribute=config.answer.missing_marks == "attribute",
        rewriter=open_rewriter(config),
        shadow=gate.with_thresholds(gating.shadow) if gating.shadow else None,
        cut=cut,
        citable=Citable(searcher.codes, reranker.scale, config.answer.evidence, config.answer.evidence_lead),
    )


def load_encoder(config: Config) -> Encoder:
    """Raises WeightsError or retrieval.errors.ModelError."""
    name = config.retrieval.encoder
    if name == EMBEDDED_ENCODER:
        return OnnxE5Encoder(require(EMBEDDED_ENCODER), config.threads.encoder)
    return SentenceTransformerEncoder(name, config.retrieval.query_instruction)


def fresh_index(config: Config, corpus: Corpus, encoder: Encoder, report: Report) -> Index:
    """The index on disk, or a new one when the corpus or the encoder has changed. Raises StoreError."""
    try:
        return open_index(config.paths.index, encoder, corpus)
    except StoreError:
        return build_index(
            config.paths.index,
            corpus,
            encoder,
            lambda done, total: report("建立索引", done, total),
            config.retrieval.token_vectors_max_passages,
        )


def _reranker(config: Config, encoder: Encoder, index: Index) -> Reranker:
    name = config.retrieval.reranker
    if name != EMBEDDED_RERANKER:
        return CrossEncoderReranker(name)
    return LateInteraction(encoder, index.tokens) if index.has_tokens else PooledVectors(encoder, index)


def _remote_channels(
    config: Config, index: Index, encoder: Encoder, report: Report, stack: ExitStack
) -> Callable[[Bm25], Channels] | None:
    """The channels over Milvus, which stores the index first unless it holds it; None when search is embedded."""
    if config.retrieval.store != "milvus":
        return None
    token = os.environ.get("VOICE_AGENT_MILVUS_TOKEN", "")
    store = MilvusStore(Place(**dict(config.milvus), token=token))
    stack.callback(store.close)
    return lambda words: milvus_channels(
        store, index, encoder, words, lambda done, total: report("写入 Milvus", done, total)
    )


def search_settings(config: Config, stored: Calibration | None) -> SearchSettings:
    """The configured search, with the fusion that a calibration tuned."""
    retrieval = config.retrieval
    settings = SearchSettings(
        recall=retrieval.recall,
        rrf_k=retrieval.rrf_k,
        deadline_ms=retrieval.channel_deadline_ms,
        rerank_budget_ms=retrieval.rerank_budget_ms,
        sound=retrieval.phonetic,
        examples=retrieval.examples,
    )
    if stored is not None:
        return replace(settings, weights=stored.weights, blend=stored.blend)
    # The shipped blend was tuned beside late interaction; a cross-encoder ranks by itself.
    return settings if retrieval.reranker == EMBEDDED_RERANKER else replace(settings, blend={})


def _writers(config: Config, extractive: Extractive) -> Writers:
    """The generator that the configuration names, with the extractive one behind it."""
    if config.answer.generator == "extractive":
        return Writers(extractive)
    return Writers(open_generator(config), extractive, config.answer.max_sentences)
