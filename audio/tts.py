"""Chinese text to speech with Kokoro through kokoro-onnx: one block of sound a clause, from local files only."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from audio.clauses import clauses
from audio.errors import ModelError
from audio.g2p import ChineseG2P
from audio.kokoro_graph import LIMITS, limits, with_limits
from audio.pacing import paced, spoken_s
from audio.pcm import resample
from audio.types import CALL_RATE_HZ, FRAME_SAMPLES, Samples

if TYPE_CHECKING:
    from kokoro_onnx.tokenizer import Tokenizer

MODEL_FILE = "kokoro-v1.0.int8.onnx"
ENGINE = "kokoro-v1.0-int8-2"
"""Another number when the same text comes out as other samples: the speech cache keys on it."""

MODEL_RATE_HZ = 24_000

VOICE_SHAPE = (510, 1, 256)
"""A voice file is raw little-endian float32: row n - 1 styles a clause of n phonemes."""

MAX_TOKENS = 500
"""Phonemes at once; the voice's table of styles ends at 510."""

PEAK = 0.9
"""Nothing leaves louder than this, so that mixing and µ-law do not clip."""

_AUDIBLE = 0.02
"""Of the peak (-34 dB). Below it is what the model breathes before a word."""

_ONSET_S = 0.02
_TAIL_S = 0.12
"""Kept before the first and after the last audible sample: a stop's closure, and a pause between clauses."""

_Faults = tuple[type[Exception], ...]


class KokoroSynthesizer:
    """A Synthesizer over Kokoro-82M. Calls block for about 0.1 s plus 0.35 s a second of speech.

    `model_dir` holds MODEL_FILE and voices/<voice>.bin; nothing is ever downloaded. `threads` is the budget of this
    model alone, `speed` 0.5 to 2.0, `jieba_dir` where the word segmenter keeps its table. Raises ModelError when a
    file is missing, has the wrong size, or does not load.
    """

    def __init__(
        self,
        model_dir: Path,
        voice: str = "zf_xiaobei",
        *,
        threads: int,
        speed: float = 1.0,
        jieba_dir: Path | None = None,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        if not 0.5 <= speed <= 2.0:
            raise ModelError(f"speech speed {speed}: choose one from 0.5 to 2.0")
        self._voice, self._speed, self._now = voice, speed, now
        self._style = _load_style(model_dir / "voices" / f"{voice}.bin")
        self._session, self._tokenizer, self._faults = _load_kokoro(model_dir / MODEL_FILE, threads)
        self._g2p = ChineseG2P(self._read_word, jieba_dir=jieba_dir)

    @property
    def engine(self) -> str:
        return ENGINE

    @property
    def voice(self) -> str:
        return self._voice

    @property
    def speed(self) -> float:
        return self._speed

    def synthesize(self, text: str) -> Iterator[Samples]:
        """Yields one block a clause, float32 at CALL_RATE_HZ, the first as soon as the others will follow it without a
        gap. Text of punctuation only is refused unsent.

        Raises ModelError, also when a clause comes out empty or silent.
        """
        parts = clauses(text)
        if not parts:
            raise ModelError(f"nothing to speak in {text!r}: send a text with words")
        expected_s = [spoken_s(part) / self._speed for part in parts]
        yield from paced(map(self._speak, parts), expected_s, self._now)

    def _speak(self, clause: str) -> Samples:
        phonemes = self._tokenizer.known(self._g2p.phonemes(clause))
        if not phonemes.strip():
            raise ModelError(f"no phonemes for {clause!r}: write it otherwise")
        parts = [phonemes[begin : begin + MAX_TOKENS] for begin in range(0, len(phonemes), MAX_TOKENS)]
        try:
            sound = np.concatenate([self._decode(part) for part in parts])
        except self._faults as fault:
            raise ModelError(f"kokoro failed on {clause!r}: {_one_line(fault)}") from fault
        return finished(sound, MODEL_RATE_HZ, clause)

    def _decode(self, phonemes: str) -> Samples:
        tokens = self._tokenizer.tokenize(phonemes)
        given = {
            "tokens": np.array([[0, *tokens, 0]], dtype=np.int64),
            "style": self._style[len(tokens) - 1],
            "speed": np.array([self._speed], dtype=np.float32),
            LIMITS: limits(phonemes),
        }
        return np.asarray(self._session.run(None, given)[0], dtype=np.float32).ravel()

    def _read_word(self, word: str) -> str:
        try:
            return str(self._tokenizer.phonemize(word, "en-us"))
        except (RuntimeError, OSError) as fault:
            raise ModelError(f"espeak cannot read {word!r}: {_one_line(fault)}") from fault


def finished(sound: Samples, rate_hz: int, what: str) -> Samples:
    """The model's sound as the call takes it: at CALL_RATE_HZ, silence cut from both ends, peak at most PEAK.

    Raises ModelError naming `what` when nothing is audible.
    """
    if sound.size < FRAME_SAMPLES or not np.isfinite(sound).all():
        raise ModelError(f"no sound came out for {what!r}: check the model with `voice-agent models verify`")
    peak = float(np.max(np.abs(sound)))
    if peak < 1e-3:
        raise ModelError(f"silence came out for {what!r}: check the model with `voice-agent models verify`")
    audible = np.flatnonzero(np.abs(sound) > _AUDIBLE * peak)
    start = max(0, int(audible[0]) - int(_ONSET_S * rate_hz))
    end = int(audible[-1]) + int(_TAIL_S * rate_hz)
    quiet: Samples = sound[start:end] * np.float32(min(1.0, PEAK / peak))
    return resample(quiet, rate_hz, CALL_RATE_HZ)


def _load_style(path: Path) -> Samples:
    try:
        style = np.fromfile(path, dtype="<f4")
    except OSError as fault:
        raise ModelError(f"{path}: the voice cannot be read: run `voice-agent models pull`") from fault
    if style.size != np.prod(VOICE_SHAPE):
        raise ModelError(f"{path}: not a Kokoro voice of {VOICE_SHAPE}: run `voice-agent models verify`")
    return style.astype(np.float32).reshape(VOICE_SHAPE)


def _load_kokoro(path: Path, threads: int) -> tuple[Any, Tokenizer, _Faults]:
    """The model, its table of phonemes, and the exceptions it fails with."""
    if not path.is_file():
        raise ModelError(f"{path}: the speech model is missing: run `voice-agent models pull`")
    try:
        # Imported here: half a second that only those who speak need to pay.
        import onnxruntime
        from kokoro_onnx.tokenizer import Tokenizer
        from onnxruntime.capi import onnxruntime_pybind11_state as states
    except ImportError as fault:
        raise ModelError(f"kokoro-onnx does not load ({fault}): install the package again") from fault
    # ONNX Runtime's exceptions have no common ancestor but Exception.
    own = (kind for kind in vars(states).values() if isinstance(kind, type) and issubclass(kind, Exception))
    faults: _Faults = (RuntimeError, ValueError, IndexError, OSError, *own)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # A spinning pool takes the cores from every other engine between two clauses.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        session = onnxruntime.InferenceSession(with_limits(path), options, providers=["CPUExecutionProvider"])
        return session, Tokenizer(), faults
    except faults as fault:
        raise ModelError(f"{path}: {_one_line(fault)}: run `voice-agent models verify`") from fault


def _one_line(fault: Exception) -> str:
    return " ".join(str(fault).split())
