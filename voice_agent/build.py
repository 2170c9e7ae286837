"""The wiring, on one page: configuration in, a ready agent out. Every part is made here and passed in."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, fields, replace
from datetime import date
from pathlib import Path

import numpy as np

from audio.asr import Listening, WhisperRecognizer
from audio.segments import SegmentRules
from audio.speech_cache import CachedSynthesizer, SpeechCache
from audio.tts import KokoroSynthesizer
from audio.types import CALL_RATE_HZ, Recognizer, Samples, Synthesizer
from audio.vad import VoiceDetector, VoiceRules
from retrieval.bm25 import Bm25
from retrieval.calibration import FILE as CALIBRATION_FILE
from retrieval.calibration import Calibration, State, check_fits, features_sha, in_force
from retrieval.calibration import load as load_calibration
from retrieval.corpus import Corpus, load_corpus
from retrieval.cross_encoder import CrossEncoderReranker
from retrieval.encoder import Encoder, OnnxE5Encoder
from retrieval.encoder_hub import SentenceTransformerEncoder
from retrieval.errors import StoreError
from retrieval.gate import GateModel, Thresholds, thresholds_for
from retrieval.homophones import NoRepairs, Repairer
from retrieval.index import Index, build_index, open_index
from retrieval.milvus_channels import milvus_channels
from retrieval.pooled import PooledVectors
from retrieval.recall import Channels
from retrieval.rerank import LateInteraction, Reranker
from retrieval.search import Searcher, SearchSettings, make_query
from retrieval.store_milvus import MilvusStore, Place
from voice_agent import phrases
from voice_agent.call.parts import Parts, Workers
from voice_agent.call.threads import Worker
from voice_agent.config import Config
from voice_agent.errors import ConfigError
from voice_agent.floor.state import Rules
from voice_agent.hotwords import hot_words
from voice_agent.reply.answer import Answerer
from voice_agent.reply.checker import Checker
from voice_agent.reply.draft import Writers
from voice_agent.reply.extractive import Extractive
from voice_agent.reply.generation import LlmGenerator
from voice_agent.reply.generator import Generator
from voice_agent.reply.llm import LlmError
from voice_agent.reply.servers import open_generator, open_rewriter
from voice_agent.weights.store import model_home, require

EMBEDDED_ENCODER = "e5-small"
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
    gate_state: State
    timings_ms: dict[str, float]


@dataclass(frozen=True, slots=True)
class Agent:
    """Everything a call needs, warm."""

    config: Config
    knowledge: Knowledge
    parts: Parts
    timings_ms: dict[str, float]

    @property
    def header(self) -> dict[str, object]:
        """The facts of the journal's first line."""
        models = {
            "asr": self.config.asr.model,
            "encoder": self.knowledge.encoder.id,
            "reranker": self.knowledge.reranker.id,
            "generator": self.knowledge.answerer.writers.first.id,
            "calibration": self.knowledge.gate_state,
            "tts": f"{self.parts.synthesizer.engine}/{self.parts.synthesizer.voice}",
        }
        return {"config_sha": self.config.sha, "models": models, "kb_version": self.knowledge.corpus.version}


@contextmanager
def _timed(timings: dict[str, float], step: str) -> Iterator[None]:
    began = time.perf_counter()
    yield
    timings[step] = round((time.perf_counter() - began) * 1000, 1)


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


@contextmanager
def open_knowledge(config: Config, report: Report, calibrated: bool = True) -> Iterator[Knowledge]:
    """Corpus, index, search and answers; what `ask` and `eval` need. With `calibrated` False a calibration beside the
    index is not looked at, for one is to be made. Raises RetrievalError, WeightsError or ConfigError.
    """
    timings: dict[str, float] = {}
    with ExitStack() as stack:
        with _timed(timings, "corpus"):
            corpus = load_corpus(config.paths.kb)
        with _timed(timings, "encoder"):
            encoder = load_encoder(config)
        with _timed(timings, "index"):
            index = fresh_index(config, corpus, encoder, report)
        with _timed(timings, "reranker"):
            reranker = _reranker(config, encoder, index)
        gating = _gating(config if calibrated else None, corpus, encoder, reranker)
        with _timed(timings, "search"):
            channels = _remote_channels(config, index, encoder, report, stack)
            settings = search_settings(config, gating.stored)
            searcher = stack.enter_context(Searcher(index, encoder, reranker, settings, channels))
        thinking = Worker("thinking")
        stack.callback(thinking.close)
        with _timed(timings, "repairer"):
            repairer = Repairer(index.passages) if config.retrieval.repair else NoRepairs()
        gate = GateModel(searcher.words.idf, searcher.codes, reranker, gating.thresholds)
        shadow = gate.with_thresholds(gating.shadow) if gating.shadow else None
        extractive = Extractive(reranker, thinking.run, config.answer.max_sentences)
        checker = Checker(reranker, config.answer.min_relevance)
        attribute = config.answer.missing_marks == "attribute"
        writers = _writers(config, extractive)
        rewriter = open_rewriter(config)
        answerer = Answerer(
            repairer, searcher, gate, writers, checker, thinking.run, attribute, rewriter, shadow
        )
        with _timed(timings, "first_question"):
            searcher.search(make_query("退款多久到账"), date.today())
        yield Knowledge(corpus, index, encoder, reranker, answerer, gating.state, timings)


@contextmanager
def open_agent(config: Config, report: Report) -> Iterator[Agent]:
    """Everything a call needs, loaded and warmed. Raises AgentError, AudioError or RetrievalError."""
    with ExitStack() as stack:
        knowledge = stack.enter_context(open_knowledge(config, report))
        timings = dict(knowledge.timings_ms)
        with _timed(timings, "llm"):
            _warm(knowledge.answerer.writers.first)
        with _timed(timings, "recognizer"):
            recognizer = _recognizer(config, knowledge.corpus)
        with _timed(timings, "synthesizer"):
            synthesizer = _synthesizer(config)
        with _timed(timings, "phrases"):
            ours = (*phrases.ALL, config.handoff.callback_phrase)
            sounds = {phrase: _sound(synthesizer, phrase) for phrase in ours}
        with _timed(timings, "first_words"):
            recognizer.transcribe(sounds[phrases.REPEAT], len(sounds[phrases.REPEAT]) / CALL_RATE_HZ)
        workers = Workers(Worker("hearing"), Worker("speaking"), Worker("delivering"))
        for worker in (workers.hearing, workers.speaking, workers.delivering):
            stack.callback(worker.close)
        parts = Parts(
            recognizer=recognizer,
            answerer=knowledge.answerer,
            synthesizer=synthesizer,
            phrases=sounds,
            workers=workers,
            rules=_floor_rules(config),
            segment_rules=SegmentRules(),
            preroll_s=config.turn.preroll_s,
            detector=lambda: VoiceDetector(VoiceRules(mode=config.vad.mode)),
            callback=config.handoff.callback_phrase,
        )
        yield Agent(config, knowledge, parts, timings)


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


def _warm(writer: Generator) -> None:
    """Lets a language model load and read its rules before the first call. One that is not there costs only that."""
    if isinstance(writer, LlmGenerator):
        with suppress(LlmError):
            asyncio.run(writer.warm())


@dataclass(frozen=True, slots=True)
class _Gating:
    thresholds: Thresholds
    state: State
    stored: Calibration | None
    shadow: Thresholds | None


def _gating(config: Config | None, corpus: Corpus, encoder: Encoder, reranker: Reranker) -> _Gating:
    """The thresholds to live by; the shipped ones without a config. Raises StoreError when a calibration was made for
    other models, and ConfigError when one of this knowledge base is required and there is none.
    """
    shipped = thresholds_for(reranker, encoder.id)
    if config is None:
        return _Gating(shipped, "shipped", None, None)
    made_for = reranker.id, reranker.scale, encoder.id, features_sha(shipped)

    def read(path: Path) -> Calibration | None:
        found = load_calibration(path)
        if found is not None:
            check_fits(found, *made_for, path)
        return found

    stored = read(config.paths.index / CALIBRATION_FILE)
    thresholds, state = in_force(shipped, stored, corpus.sha)
    if config.gate.require_calibrated and state != "stored":
        what = (
            "none beside the index"
            if stored is None
            else "the one beside the index is of an older knowledge base"
        )
        raise ConfigError(f"gate.require_calibrated: {what}; run voice-agent calibrate")
    if config.gate.shadow is None:
        return _Gating(thresholds, state, stored, None)
    beside = read(config.gate.shadow)
    if beside is None:
        raise ConfigError(
            f"gate.shadow: no calibration at {config.gate.shadow}; name a calibration.json or null"
        )
    return _Gating(thresholds, state, stored, {**shipped, **beside.thresholds})


def _recognizer(config: Config, corpus: Corpus) -> Recognizer:
    words = hot_words(corpus.passages, config.asr.hot_words)
    model = require(config.asr.model) if "/" not in config.asr.model else Path(config.asr.model)
    listening = Listening(beam_size=config.asr.beam_size, window_pad_s=config.asr.window_pad_s)
    return WhisperRecognizer(model, threads=config.threads.asr, hot_words=words, listening=listening)


def _synthesizer(config: Config) -> Synthesizer:
    tts, cache = config.tts, model_home().parent
    (cache / "jieba").mkdir(parents=True, exist_ok=True)
    voice = KokoroSynthesizer(
        require("kokoro"), tts.voice, threads=config.threads.tts, speed=tts.speed, jieba_dir=cache / "jieba"
    )
    return CachedSynthesizer(
        voice, SpeechCache(cache / "speech", max_bytes=tts.cache_mb * 1_000_000), speed=tts.speed
    )


def _sound(synthesizer: Synthesizer, phrase: str) -> Samples:
    return np.concatenate(list(synthesizer.synthesize(phrase)))


def _floor_rules(config: Config) -> Rules:
    names = (field.name for field in fields(Rules))
    return Rules(**{name: getattr(config.turn, name) for name in names})
