"""The wiring of a call, on one page: configuration in, a ready agent out. Every part is made here and passed in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from audio.asr import PARTIALS, Listening, WhisperRecognizer
from audio.edge import EdgeSynthesizer
from audio.edge_answer import EdgePatience
from audio.segments import SegmentRules
from audio.silero import SileroModel, SileroSpeech
from audio.speech_cache import CachedSynthesizer, SpeechCache
from audio.tts import KokoroSynthesizer
from audio.types import CALL_RATE_HZ, Samples, Synthesizer
from audio.vad import VoiceDetector, VoiceRules
from retrieval.corpus import Corpus
from voice_agent import phrases
from voice_agent.call.cores import Cores
from voice_agent.call.parts import Parts, Workers
from voice_agent.call.threads import Worker
from voice_agent.call.voicing import whole_sound
from voice_agent.config import Config
from voice_agent.floor.duties import Duties
from voice_agent.floor.echo import EchoRules
from voice_agent.floor.state import Rules
from voice_agent.hotwords import hot_words
from voice_agent.knowledge import Knowledge, Report, open_knowledge, timed
from voice_agent.record.telemetry import OFF, Outlets, Telemetry, open_telemetry
from voice_agent.reply.generation import LlmGenerator
from voice_agent.reply.generator import Generator
from voice_agent.reply.llm import LlmError
from voice_agent.resting import RestingSynthesizer
from voice_agent.weights.store import model_home, require


@dataclass(frozen=True, slots=True)
class Agent:
    """Everything a call needs, warm."""

    config: Config
    knowledge: Knowledge
    parts: Parts
    timings_ms: dict[str, float]
    telemetry: Telemetry = OFF

    @property
    def header(self) -> dict[str, object]:
        """The facts of the journal's first line."""
        models = {
            "asr": self.config.asr.model,
            "encoder": self.knowledge.encoder.id,
            "reranker": self.knowledge.reranker.id,
            "generator": self.knowledge.answerer.writers.first.id,
            "calibration": self.knowledge.gating.told,
            "answers": reader.id if (reader := self.knowledge.gating.reader) else None,
            "tts": f"{self.parts.synthesizer.engine}/{self.parts.synthesizer.voice}",
        }
        return {"config_sha": self.config.sha, "models": models, "kb_version": self.knowledge.corpus.version}

    def of_call(self, call: str) -> Agent:
        """As one live call uses it: with the thresholds of its stage."""
        knowledge = self.knowledge.of_call(call)
        if knowledge is self.knowledge:
            return self
        return replace(self, knowledge=knowledge, parts=replace(self.parts, answerer=knowledge.answerer))


@contextmanager
def open_agent(config: Config, report: Report, telemetry: Telemetry | None = None) -> Iterator[Agent]:
    """Everything a call needs, loaded and warmed. `telemetry` is that of the process, if it outlives the agent.

    Raises AgentError, AudioError or RetrievalError.
    """
    with ExitStack() as stack:
        cores = Cores()
        knowledge = stack.enter_context(open_knowledge(config, report, cores=cores))
        timings = dict(knowledge.timings_ms)
        with timed(timings, "llm"):
            _warm(knowledge.answerer.writers.first)
        with timed(timings, "recognizer"):
            recognizer = _recognizer(config, knowledge.corpus)
        with timed(timings, "synthesizer"):
            speakers = voices(config)
        with timed(timings, "phrases"):
            ours = (*phrases.ALL, config.handoff.callback_phrase, greeting_of(config, recorded=False))
            sounds = {phrase: _sound(speakers, phrase) for phrase in ours}
        with timed(timings, "first_words"):
            recognizer.transcribe(sounds[phrases.REPEAT], len(sounds[phrases.REPEAT]) / CALL_RATE_HZ)
        workers = Workers(
            Worker("hearing", cores=cores),
            Worker("speaking", cores=cores),
            Worker("delivering"),
            guesser := Worker("guessing", cores=cores),
        )
        for worker in (workers.hearing, workers.speaking, workers.delivering, guesser):
            stack.callback(worker.close)
        parts = Parts(
            recognizer=recognizer,
            answerer=knowledge.answerer,
            synthesizer=speakers[0],
            spares=speakers[1:],
            phrases=sounds,
            workers=workers,
            rules=_floor_rules(config),
            segment_rules=SegmentRules(),
            preroll_s=config.turn.preroll_s,
            detector=_detector(config),
            callback=config.handoff.callback_phrase,
            echo=EchoRules(config.audio.echo, config.audio.echo_tail_s),
            partials=recognizer.listening(PARTIALS),
            foresee_chars=config.turn.foresee_chars if config.answer.generator == "extractive" else 0,
        )
        told = telemetry or stack.enter_context(open_telemetry(_outlets(config)))
        yield Agent(config, knowledge, parts, timings, told)


def _outlets(config: Config) -> Outlets:
    told = config.telemetry
    return Outlets(told.spans, config.paths.logs / "spans.jsonl", told.prometheus_port, told.prometheus_host)


def greeting_of(config: Config, *, recorded: bool) -> str:
    """What a call begins with."""
    shipped = phrases.GREETING_RECORDED if recorded else phrases.GREETING
    return config.duties.greeting_phrase or shipped


def live_duties(config: Config, *, recorded: bool) -> Duties:
    """What a live call keeps; `recorded` if its sound is kept."""
    duties = config.duties
    return Duties(
        greeting=greeting_of(config, recorded=recorded) if duties.greeting else None,
        prompt_after_s=duties.prompt_after_s,
        prompts=duties.prompts,
        read_back_below=duties.read_back_below,
        repeat=duties.repeat,
        goodbye=duties.goodbye,
        courtesy=duties.courtesy,
    )


def replay_duties(config: Config) -> Duties:
    """What a recorded call keeps: its caller was not spoken to, so by default nothing that only time would bring."""
    duties = live_duties(config, recorded=False)
    return duties if config.duties.replays else replace(duties, greeting=None, prompt_after_s=None)


def _warm(writer: Generator) -> None:
    """Lets a language model load and read its rules before the first call. One that is not there costs only that."""
    if isinstance(writer, LlmGenerator):
        with suppress(LlmError):
            asyncio.run(writer.warm())


def _detector(config: Config) -> Callable[[], VoiceDetector]:
    """Makes the voice detector of each call. Raises ModelError."""
    rules = VoiceRules(mode=config.vad.mode)
    if config.vad.engine == "webrtc":
        return lambda: VoiceDetector(rules)
    silero = SileroModel()
    return lambda: VoiceDetector(rules, SileroSpeech(silero))


def _recognizer(config: Config, corpus: Corpus) -> WhisperRecognizer:
    words = hot_words(corpus.passages, config.asr.hot_words)
    model = require(config.asr.model) if "/" not in config.asr.model else Path(config.asr.model)
    listening = Listening(beam_size=config.asr.beam_size, window_pad_s=config.asr.window_pad_s)
    return WhisperRecognizer(model, threads=config.threads.asr, hot_words=words, listening=listening)


def voices(config: Config) -> tuple[Synthesizer, ...]:
    """The chosen voice, then those that take over, each with what it has said before on disk. Raises AgentError or
    AudioError: without Kokoro's files there is nothing to fall back on."""
    tts, cache = config.tts, model_home().parent
    (cache / "jieba").mkdir(parents=True, exist_ok=True)
    voice = KokoroSynthesizer(
        require("kokoro"), tts.voice, threads=config.threads.tts, speed=tts.speed, jieba_dir=cache / "jieba"
    )
    made: list[Synthesizer] = [voice]
    if tts.engine == "edge":
        patience = EdgePatience(first_audio_s=tts.edge_first_audio_s, stall_s=tts.edge_stall_s)
        edge = EdgeSynthesizer(tts.edge_voice, speed=tts.speed, patience=patience)
        made.insert(0, RestingSynthesizer(edge))
    if not tts.cache_mb:
        return tuple(made)
    kept = SpeechCache(cache / "speech", max_bytes=tts.cache_mb * 1_000_000)
    return tuple(CachedSynthesizer(each, kept, speed=tts.speed) for each in made)


def _sound(speakers: Sequence[Synthesizer], phrase: str) -> Samples:
    return np.concatenate(whole_sound(phrase, speakers))


def _floor_rules(config: Config) -> Rules:
    names = (field.name for field in fields(Rules) if field.name != "duties")
    return Rules(**{name: getattr(config.turn, name) for name in names})
