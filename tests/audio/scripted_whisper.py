"""A Whisper that says what it is told to."""

from __future__ import annotations

from typing import Any

from audio.types import Samples
from audio.whisper import Languages, Said


class ScriptedWhisper:
    """Answers in turn with texts or Said; keeps what it was asked. A token is a character."""

    def __init__(self, *answers: str | Said, chinese: float = 0.99, other: float | None = None) -> None:
        self._answers = [Said(a, -0.2, 0.05) if isinstance(a, str) else a for a in answers]
        self._languages = Languages(chinese, 0.99 - chinese if other is None else other)
        self.windows: list[float | None] = []
        self.asked: list[tuple[str, int, int]] = []

    def tokens(self, text: str) -> list[int]:
        return list(map(ord, text))

    def features(self, samples: Samples, pad_s: float | None) -> Any:
        self.windows.append(pad_s)
        return samples

    def encode(self, features: Any) -> Any:
        return features

    def languages(self, encoded: Any) -> Languages:
        return self._languages

    def generate(self, encoded: Any, prompt: list[int], beam_size: int, most_tokens: int) -> Said:
        self.asked.append(("".join(map(chr, prompt)), beam_size, most_tokens))
        return self._answers.pop(0)
