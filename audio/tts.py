"""Chinese text to speech with Kokoro through kokoro-onnx: one block of sound a clause, from local files only."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from audio.errors import ModelError
from audio.g2p import ChineseG2P
from audio.pcm import resample
from audio.spelling import is_speakable
from audio.types import CALL_RATE_HZ, FRAME_SAMPLES, Samples

if TYPE_CHECKING:
    from kokoro_onnx import Kokoro

MODEL_FILE = "kokoro-v1.0.int8.onnx"
ENGINE = "kokoro-v1.0-int8"

VOICE_SHAPE = (510, 1, 256)
"""A voice file is raw little-endian float32: row n - 1 styles a clause of n phonemes."""

LONG_SENTENCE = 40
"""Characters. A synthesis costs 0.4 s whatever its length, so only a sentence beyond about 9 s of sound is cut."""

PEAK = 0.9
"""Nothing leaves louder than this, so that mixing and µ-law do not clip."""

_AUDIBLE = 0.02
"""Of the peak (-34 dB). Below it is what the model breathes before a word."""

_ONSET_S = 0.02
_TAIL_S = 0.12
"""Kept before the first and after the last audible sample: a stop's closure, and a pause between clauses."""

_Faults = tuple[type[Exception], ...]

_SENTENCE = re.compile(r"[^。！？；!?;…\n]*[。！？；!?;…\n]*[”’」』）】)\]\"]*")
_CLAUSE = re.compile(r"[^，；、：]+[，；、：]*|[，；、：]+")


class KokoroSynthesizer:
    """A Synthesizer over Kokoro-82M. Calls block for about 0.4 s plus 0.4 s a second of speech.

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
    ) -> None:
        if not 0.5 <= speed <= 2.0:
            raise ModelError(f"speech speed {speed}: choose one from 0.5 to 2.0")
        self._voice, self._speed = voice, speed
        self._style = _load_style(model_dir / "voices" / f"{voice}.bin")
        self._kokoro, self._faults = _load_kokoro(model_dir / MODEL_FILE, threads)
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
        """Yields one block a clause, float32 at CALL_RATE_HZ. Text of punctuation only is refused unsent.

        Raises ModelError, also when a clause comes out empty or silent.
        """
        parts = clauses(text)
        if not parts:
            raise ModelError(f"nothing to speak in {text!r}: send a text with words")
        for part in parts:
            yield self._speak(part)

    def _speak(self, clause: str) -> Samples:
        phonemes = self._g2p.phonemes(clause)
        if not phonemes:
            raise ModelError(f"no phonemes for {clause!r}: write it otherwise")
        try:
            sound, rate_hz = self._kokoro.create(
                phonemes, voice=self._style, speed=self._speed, is_phonemes=True, trim=False
            )
        except self._faults as fault:
            raise ModelError(f"kokoro failed on {clause!r}: {_one_line(fault)}") from fault
        return finished(np.asarray(sound, dtype=np.float32), rate_hz, clause)

    def _read_word(self, word: str) -> str:
        try:
            return str(self._kokoro.tokenizer.phonemize(word, "en-us"))
        except (RuntimeError, OSError) as fault:
            raise ModelError(f"espeak cannot read {word!r}: {_one_line(fault)}") from fault


def clauses(text: str, long: int = LONG_SENTENCE) -> list[str]:
    """The text in pieces to synthesise: whole if short, else sentences, and long ones cut at ，；、： where a piece of
    up to `long` characters ends. Nothing is lost but what holds no letter or digit.

    >>> clauses("您好，请说。")
    ['您好，请说。']
    """
    pieces: list[str] = []
    for sentence in [text] if len(text) <= long else _SENTENCE.findall(text):
        pieces.extend([sentence] if len(sentence) <= long else _packed(_CLAUSE.findall(sentence), long))
    return [piece.strip() for piece in pieces if is_speakable(piece)]


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


def _packed(parts: list[str], long: int) -> list[str]:
    """Neighbours joined while the piece stays within `long` characters."""
    packed: list[str] = []
    for part in parts:
        if packed and (len(packed[-1]) + len(part) <= long or not is_speakable(part)):
            packed[-1] += part
        else:
            packed.append(part)
    return packed


def _load_style(path: Path) -> Samples:
    try:
        style = np.fromfile(path, dtype="<f4")
    except OSError as fault:
        raise ModelError(f"{path}: the voice cannot be read: run `voice-agent models pull`") from fault
    if style.size != np.prod(VOICE_SHAPE):
        raise ModelError(f"{path}: not a Kokoro voice of {VOICE_SHAPE}: run `voice-agent models verify`")
    return style.astype(np.float32).reshape(VOICE_SHAPE)


def _load_kokoro(path: Path, threads: int) -> tuple[Kokoro, _Faults]:
    """The model, and the exceptions it fails with."""
    if not path.is_file():
        raise ModelError(f"{path}: the speech model is missing: run `voice-agent models pull`")
    try:
        # Imported here: half a second that only those who speak need to pay.
        import onnxruntime
        from kokoro_onnx import Kokoro
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
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        return _with_session(Kokoro, session), faults
    except faults as fault:
        raise ModelError(f"{path}: {_one_line(fault)}: run `voice-agent models verify`") from fault


def _with_session(kokoro: Any, session: Any) -> Any:
    """kokoro-onnx insists on a file of voices; ours are passed by value, so it gets an empty one, removed at once."""
    with tempfile.TemporaryDirectory() as private:
        nothing = Path(private, "voices.npy")
        np.save(nothing, np.zeros(0, dtype=np.float32))
        return kokoro.from_session(session, str(nothing))


def _one_line(fault: Exception) -> str:
    return " ".join(str(fault).split())
