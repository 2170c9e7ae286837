"""The wiring, on one page: configuration in, a ready agent out. Every part is made here and passed in."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
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
from retrieval.corpus import Corpus
from retrieval.cross_encoder import CrossEncoderReranker
from retrieval.encoder import Encoder, OnnxE5Encoder
from retrieval.encoder_hub import SentenceTransformerEncoder
from retrieval.errors import StoreError
from retrieval.gate import GateModel, thresholds_for
from retrieval.homophones import NoRepairs, Repairer
from retrieval.index import Index, build_index, open_index
from retrieval.rerank import LateInteraction, Reranker
from retrieval.search import Searcher, SearchSettings, make_query
from voice_agent import phrases
from voice_agent.call.parts import Parts, Workers
from voice_agent.call.threads import Worker
from voice_agent.config import Config
from voice_agent.floor.state import Rules
from voice_agent.hotwords import hot_words
from voice_agent.knowledge_files import read_corpus, read_lexicon
from voice_agent.reply.answer import Answerer
from voice_agent.reply.checker import Checker
from voice_agent.reply.extractive import Extractive
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
            config.paths.index, corpus, encoder, lambda done, total: report("建立索引", done, total)
        )


@contextmanager
def open_knowledge(config: Config, report: Report) -> Iterator[Knowledge]:
    """Corpus, index, search and answers; what `ask` and `eval` need. Raises RetrievalError or WeightsError."""
    timings: dict[str, float] = {}
    with ExitStack() as stack:
        with _timed(timings, "corpus"):
            corpus = read_corpus(config)
        with _timed(timings, "encoder"):
            encoder = load_encoder(config)
        with _timed(timings, "index"):
            index = fresh_index(config, corpus, encoder, report)
        with _timed(timings, "reranker"):
            reranker = _reranker(config, encoder, index)
        with _timed(timings, "search"):
            words = read_lexicon(config)
            searcher = stack.enter_context(
                Searcher(index, encoder, reranker, _search_settings(config), cut=words.terms)
            )
        thinking = Worker("thinking")
        stack.callback(thinking.close)
        with _timed(timings, "repairer"):
            repair = config.retrieval.repair
            repairer = Repairer(index.passages, words.terms, words.rarity) if repair else NoRepairs()
        thresholds = thresholds_for(reranker, encoder.id)
        gate = GateModel(searcher.words.idf, searcher.codes, reranker, thresholds, words.terms)
        generator = Extractive(reranker, thinking.run, config.answer.max_sentences)
        checker = Checker(reranker, config.answer.min_relevance)
        answerer = Answerer(repairer, searcher, gate, generator, checker, thinking.run, cut=words.terms)
        with _timed(timings, "first_question"):
            searcher.search(make_query("退款多久到账"), date.today())
        yield Knowledge(corpus, index, encoder, reranker, answerer, timings)


@contextmanager
def open_agent(config: Config, report: Report) -> Iterator[Agent]:
    """Everything a call needs, loaded and warmed. Raises AgentError, AudioError or RetrievalError."""
    with ExitStack() as stack:
        knowledge = stack.enter_context(open_knowledge(config, report))
        timings = dict(knowledge.timings_ms)
        with _timed(timings, "recognizer"):
            recognizer = _recognizer(config, knowledge.corpus)
        with _timed(timings, "synthesizer"):
            synthesizer = _synthesizer(config)
        with _timed(timings, "phrases"):
            sounds = {phrase: _sound(synthesizer, phrase) for phrase in phrases.ALL}
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
        )
        yield Agent(config, knowledge, parts, timings)


def _reranker(config: Config, encoder: Encoder, index: Index) -> Reranker:
    name = config.retrieval.reranker
    return LateInteraction(encoder, index.tokens) if name == EMBEDDED_RERANKER else CrossEncoderReranker(name)


def _search_settings(config: Config) -> SearchSettings:
    retrieval = config.retrieval
    settings = SearchSettings(
        recall=retrieval.recall,
        rrf_k=retrieval.rrf_k,
        deadline_ms=retrieval.channel_deadline_ms,
        rerank_budget_ms=retrieval.rerank_budget_ms,
    )
    # The shipped blend was tuned beside late interaction; a cross-encoder ranks by itself.
    return settings if retrieval.reranker == EMBEDDED_RERANKER else replace(settings, blend={})


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
