"""Short words that callers say to a help line, read by the embedded voices, each once: the cache keeps the sound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from audio.speech_cache import CachedSynthesizer, SpeechCache
from audio.tts import KokoroSynthesizer
from audio.types import Samples
from audio.wav import read_wav
from voice_agent.weights.store import model_home, require

VOICES = ("zf_xiaoyi", "zm_yunjian", "zm_yunyang", "zf_xiaoxiao")
"""Not the agent's own voice."""

WORDS = (
    "嗯，不是。", "谢谢。", "好的。", "三个。", "转人工。", "不是。", "对。", "没有。", "是的。", "不用了。",
    "谢谢观看。", "再见。", "等一下。", "停。", "你好。", "喂？", "可以。", "不对。", "两百块。", "明天。",
    "多少钱？", "为什么？", "怎么办？", "没听清。", "再说一遍。", "我要退款。", "快递到哪了？", "我要投诉。",
    "昨天买的。", "八月三号。", "六九一。", "一千二。", "嗯。", "拜拜。",
)  # fmt: skip

LEVEL_DBFS = -26.0
LOUD = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Utterance:
    """What was said, by whom, and its sound at CALL_RATE_HZ without silence around it."""

    text: str
    voice: str
    samples: Samples


class Readers:
    """The voices, each loaded once, over one cache of speech."""

    def __init__(self, threads: int = 2, folder: Path | None = None) -> None:
        self._threads = threads
        self._cache = SpeechCache(folder or model_home().parent / "speech")
        self._voices: dict[str, CachedSynthesizer] = {}

    def say(self, text: str, voice: str) -> Samples:
        """The text at LEVEL_DBFS. Raises ModelError."""
        if voice not in self._voices:
            (jieba := model_home().parent / "jieba").mkdir(parents=True, exist_ok=True)
            made = KokoroSynthesizer(require("kokoro"), voice, threads=self._threads, jieba_dir=jieba)
            self._voices[voice] = CachedSynthesizer(made, self._cache)
        return levelled(np.concatenate(list(self._voices[voice].synthesize(text))))


def levelled(sound: Samples, dbfs: float = LEVEL_DBFS) -> Samples:
    """Scaled so that its loud samples have that RMS."""
    loud = sound[np.abs(sound) > LOUD * np.max(np.abs(sound), initial=1e-9)]
    scaled = sound * np.float32(10 ** (dbfs / 20) / np.sqrt(np.mean(np.square(loud))))
    return np.clip(scaled, -1, 1).astype(np.float32)


def spoken(count: int | None = None) -> Iterator[Utterance]:
    """The suite: every word by two voices, 68 in all; or its first `count`, which change word and voice each time."""
    readers = Readers()
    pairs = [(word, VOICES[(n + turn * 2) % len(VOICES)]) for turn in (0, 1) for n, word in enumerate(WORDS)]
    for word, voice in pairs[:count]:
        yield Utterance(word, voice, readers.say(word, voice))


def recorded(folder: Path) -> Iterator[Utterance]:
    """The recordings of people in a folder of WAV files, whole; nothing is known here of what they say."""
    for path in sorted(folder.glob("*.wav")):
        yield Utterance("", path.stem, read_wav(path).samples)
