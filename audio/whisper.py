"""The two halves of a Whisper model as faster-whisper and CTranslate2 give them: encode once, decode once, blocking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audio.errors import ModelError
from audio.types import CALL_RATE_HZ, Samples

MODEL_FILES = ("model.bin", "config.json", "tokenizer.json", "vocabulary.json")

FULL_WINDOW_S = 30.0
"""What Whisper's encoder was trained on."""

_MAX_LENGTH = 448
"""Tokens of prompt and text together that the decoder holds."""

_HOP = 160
"""Samples a frame of features stands for."""

_CHINESE = frozenset({"<|zh|>", "<|yue|>"})


@dataclass(frozen=True, slots=True)
class Said:
    """One decoding: its text as written, the mean log probability of a token, the probability that nobody spoke."""

    text: str
    logprob: float
    no_speech: float


@dataclass(frozen=True, slots=True)
class Languages:
    """Probabilities: Mandarin and Cantonese together, and the likeliest other language."""

    chinese: float
    other: float


class Whisper:
    """A loaded model. Calls from `threads` threads are served side by side, each on one core; others wait.

    `folder` holds MODEL_FILES; nothing is ever downloaded. `threads` is the thread budget of this model alone. A second
    core for one call would be lost: a short window encodes no faster on two, and a token takes longer.
    """

    def __init__(self, folder: Path, threads: int) -> None:
        """Raises ModelError when a file is missing or does not load."""
        missing = [name for name in MODEL_FILES if not (folder / name).is_file()]
        if missing:
            raise ModelError(f"whisper: {folder / missing[0]} is missing: run `voice-agent models pull`")
        try:
            self._load(folder, threads)
        except (RuntimeError, ValueError, OSError) as e:
            raise ModelError(f"whisper: {folder} does not load ({e}): run `voice-agent models verify`") from e

    def _load(self, folder: Path, threads: int) -> None:
        # Imported here: they take seconds, and who only speaks needs neither.
        from faster_whisper import WhisperModel
        from faster_whisper.tokenizer import Tokenizer
        from faster_whisper.transcribe import get_suppressed_tokens

        model = WhisperModel(
            str(folder),
            device="cpu",
            compute_type="int8",
            cpu_threads=1,
            num_workers=threads,
            local_files_only=True,
        )
        self._features = model.feature_extractor
        self._model: Any = model.model
        self._tokenizer = Tokenizer(model.hf_tokenizer, True, task="transcribe", language="zh")
        self._suppressed = get_suppressed_tokens(self._tokenizer, [-1])

    def tokens(self, text: str) -> list[int]:
        """The text as the model's tokens."""
        return list(self._tokenizer.encode(text))

    def features(self, samples: Samples, pad_s: float | None) -> NDArray[np.float32]:
        """Log-mel features (80, frames) of the utterance and `pad_s` seconds of silence; None pads to 30 s."""
        total_s = FULL_WINDOW_S if pad_s is None else min(FULL_WINDOW_S, len(samples) / CALL_RATE_HZ + pad_s)
        total = int(total_s * CALL_RATE_HZ)
        padded = np.pad(samples[:total], (0, max(0, total - len(samples))))
        frames: NDArray[np.float32] = self._features(padded, padding=_HOP)
        even = total // _HOP // 2 * 2  # the encoder halves them
        return frames[:, :even].astype(np.float32)

    def encode(self, features: NDArray[np.float32]) -> Any:
        """The encoder's output, opaque: for `generate` and `languages` of this object only. Raises ModelError."""
        import ctranslate2

        try:
            return self._model.encode(
                ctranslate2.StorageView.from_array(np.ascontiguousarray(features[None]))
            )
        except (RuntimeError, ValueError) as e:
            raise ModelError(f"whisper: encoding failed ({e})") from e

    def languages(self, encoded: Any) -> Languages:
        """What language the sound is in. Raises ModelError."""
        try:
            (found,) = self._model.detect_language(encoded)
        except (RuntimeError, ValueError) as e:
            raise ModelError(f"whisper: language detection failed ({e})") from e
        chinese = sum(probability for language, probability in found if language in _CHINESE)
        others = [probability for language, probability in found if language not in _CHINESE]
        return Languages(float(chinese), float(max(others, default=0.0)))

    def generate(self, encoded: Any, prompt: Sequence[int], beam_size: int, most_tokens: int) -> Said:
        """Decodes at temperature 0, without timestamps, at most `most_tokens` tokens. Raises ModelError."""
        begin = [*self._tokenizer.sot_sequence, self._tokenizer.no_timestamps]
        room = _MAX_LENGTH - len(begin) - 1 - most_tokens
        before = [self._tokenizer.sot_prev, *prompt[:room]] if prompt and room > 0 else []
        start = before + begin
        try:
            (result,) = self._model.generate(
                encoded,
                [start],
                beam_size=beam_size,
                max_length=min(_MAX_LENGTH, len(start) + most_tokens),
                return_scores=True,
                return_no_speech_prob=True,
                suppress_blank=True,
                suppress_tokens=self._suppressed,
            )
        except (RuntimeError, ValueError) as e:
            raise ModelError(f"whisper: decoding failed ({e})") from e
        ids = result.sequences_ids[0]
        logprob = result.scores[0] * len(ids) / (len(ids) + 1) if ids else -10.0
        return Said(self._tokenizer.decode(ids).strip(), float(logprob), float(result.no_speech_prob))
