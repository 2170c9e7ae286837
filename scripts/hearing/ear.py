"""The ear of the shipped configuration, without the rest of the agent."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from audio.asr import Listening, WhisperRecognizer
from audio.silero import SileroModel, SileroSpeech
from audio.vad import VoiceDetector, VoiceRules
from hearing.chain import Ear
from retrieval.corpus import load_corpus
from voice_agent.config import Config, load_config
from voice_agent.floor.state import Rules
from voice_agent.hotwords import hot_words
from voice_agent.weights.store import require


def recognizer_of(config: Config, listening: Listening | None = None) -> WhisperRecognizer:
    """The recogniser with the hot words of the knowledge base. Raises AudioError, AgentError or RetrievalError."""
    words = hot_words(load_corpus(config.paths.kb).passages, config.asr.hot_words)
    way = listening or Listening(beam_size=config.asr.beam_size, window_pad_s=config.asr.window_pad_s)
    return WhisperRecognizer(
        require(config.asr.model), threads=config.threads.asr, hot_words=words, listening=way
    )


def shipped_ear(overrides: Sequence[str] = ()) -> Ear:
    """Detector, recogniser and the floor's rules as config.yaml has them."""
    config = load_config(None, overrides)
    rules = VoiceRules(mode=config.vad.mode)
    silero = SileroModel() if config.vad.engine == "silero" else None

    def detector() -> VoiceDetector:
        return VoiceDetector(rules, SileroSpeech(silero) if silero else None)

    names = (field.name for field in fields(Rules) if field.name != "duties")
    # What is done ahead of a turn's end decides when the turn is known, not whether there is one.
    ahead = {"early_asr": False, "speculation": False, "partial_every_s": 0.0}
    floor = Rules(**{name: getattr(config.turn, name) for name in names} | ahead)
    return Ear(detector, recognizer_of(config), floor, config.turn.preroll_s)


def machine() -> dict[str, Any]:
    """What the seconds of a report depend on."""
    return {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
    }
