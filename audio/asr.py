"""Speech to text with Whisper through faster-whisper: Chinese, Simplified, from a local directory only.

The library's `transcribe` pads every utterance to 30 s and decodes up to six times at rising temperature. Here the
two halves of the model are called themselves: encoded in a window as long as wanted, decoded once at temperature 0
with a bound on its length, the language judged on the same encoding.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from audio.cuts import level_dbfs, windows
from audio.hallucination import Decoding, after_decoding, before_decoding, undoubled
from audio.hot_words import choose_hot_words, spoken_hot_words
from audio.script import to_simplified
from audio.types import CALL_RATE_HZ, DropReason, Samples, Transcript
from audio.whisper import Whisper

LONGEST_PIECE_S = 20.0
"""A longer utterance is cut: prompt and hot words leave 200 tokens, which hold 20 s of the fastest speech."""

SIMPLIFIED_PROMPT = "以下是一段普通话客服电话。"
"""Makes Whisper write Simplified and punctuate. A sentence that no caller says, so that its echo can be told."""

_ROOM = 440
"""Tokens of prompt and text together that the decoder holds (448) less those that start and end the text."""

_TOKENS_PER_S = 12
_SPARE_TOKENS = 10
"""The most that is decoded: speech measured stays below 8 tokens a second, a loop has no end of its own."""


@dataclass(frozen=True, slots=True)
class Listening:
    """How one kind of decoding is done; partials and finals use one model in two ways.

    `window_pad_s` is the silence encoded after the utterance; None encodes the full 30 s; below 2 s Whisper loops.
    With `retry` a decoding in a short window that turns out nonsense (NONSENSE) is made again in the full one.

    The defaults are for finals. Human Mandarin, five clips with four lists of 49 hot words: a mean error rate of 0.084
    with 4 s, 0.082 with 3 s and 0.077 with the full window, which takes five times as long to encode; forty
    synthetic questions: 0.100, 0.100 and 0.101. With one beam 0.107, 0.174 and 0.108.
    """

    beam_size: int = 5
    window_pad_s: float | None = 4.0
    retry: bool = True
    prompt: str = SIMPLIFIED_PROMPT


PARTIALS = Listening(beam_size=1, window_pad_s=3.0, retry=False)
"""A guess while the caller still speaks: cheap, and corrected by the final."""

NONSENSE: frozenset[DropReason] = frozenset({"loop", "too_dense", "low_confidence", "prompt_echo"})
"""What a short window brings about at times where the full one hears well."""


@dataclass(frozen=True, slots=True)
class _Heard:
    """One piece of an utterance as decoded and judged."""

    raw: str
    tokens: int
    decoding: Decoding
    dropped: DropReason | None


class WhisperRecognizer:
    """A Recognizer over a CTranslate2 Whisper model. Calls from several threads are served side by side.

    `model_dir` is that of `Whisper`; nothing is ever downloaded. `threads` is the thread budget of this model alone.
    `hot_words` are terms of the knowledge base in the order of their worth; those that did not fit the prompt are in
    `hot_words.cut`. Raises ModelError when a file is missing or does not load.
    """

    def __init__(
        self,
        model_dir: Path,
        *,
        threads: int,
        hot_words: Sequence[str] = (),
        listening: Listening | None = None,
    ) -> None:
        self._use(Whisper(model_dir, threads), hot_words, listening or Listening())

    @classmethod
    def over(
        cls, whisper: Whisper, hot_words: Sequence[str] = (), listening: Listening | None = None
    ) -> WhisperRecognizer:
        """A recogniser over a model that is already loaded."""
        made = object.__new__(cls)
        made._use(whisper, hot_words, listening or Listening())
        return made

    def listening(self, listening: Listening, *, hot_words: bool = True) -> WhisperRecognizer:
        """Another way to use the same loaded model, with its hot words or without any, at no cost in memory."""
        words = self.hot_words.used + self.hot_words.cut if hot_words else ()
        return self.over(self._whisper, words, listening)

    def warm(self) -> None:
        """Runs the whole model once on silence, so that the first utterance does not pay for it. Raises ModelError."""
        self._decode(np.zeros(CALL_RATE_HZ // 2, dtype=np.float32), 0.5, self._listening.window_pad_s)

    def transcribe(self, samples: Samples, voiced_s: float) -> Transcript:
        """One utterance at CALL_RATE_HZ, of any length. Raises ModelError.

        A long one is cut and each piece judged by itself with its share of the voiced time; what is dropped of it is
        missing in `text`, and `dropped` is set when nothing is left.
        """
        began = time.perf_counter()
        reason = before_decoding(voiced_s, level_dbfs(samples))
        pieces = windows(samples, LONGEST_PIECE_S) if reason is None else []
        heard = [self._hear(piece, voiced_s * len(piece) / len(samples)) for piece in pieces]
        kept = [piece for piece in heard if piece.dropped is None]
        if heard and not kept:
            reason = heard[0].dropped
        text = "".join(piece.decoding.text for piece in kept)
        return Transcript(
            text=text,
            raw="".join(piece.raw for piece in heard),
            confidence=_confidence(kept or heard),
            voiced_s=voiced_s,
            seconds=time.perf_counter() - began,
            dropped=reason,
            hot_words=spoken_hot_words(text, self.hot_words.used),
        )

    def _use(self, whisper: Whisper, hot_words: Sequence[str], listening: Listening) -> None:
        self._whisper, self._listening = whisper, listening
        self.hot_words = choose_hot_words(hot_words, lambda term: len(self._tokens(term)))
        # Hot words first: what stands next to the text shapes its style most.
        shown = [*self.hot_words.used, listening.prompt]
        self._prompt = [token for term in shown if term for token in self._tokens(term)]

    def _tokens(self, term: str) -> list[int]:
        """A term as it stands in the prompt: after a space, which measured better than 、 or ，."""
        return self._whisper.tokens(f" {term}")

    def _hear(self, samples: Samples, voiced_s: float) -> _Heard:
        way = self._listening
        heard = self._decode(samples, voiced_s, way.window_pad_s)
        if way.retry and way.window_pad_s is not None and heard.dropped in NONSENSE:
            return self._decode(samples, voiced_s, None)
        return heard

    def _decode(self, samples: Samples, voiced_s: float, pad_s: float | None) -> _Heard:
        wanted = _SPARE_TOKENS + int(_TOKENS_PER_S * len(samples) / CALL_RATE_HZ)
        encoded = self._whisper.encode(self._whisper.features(samples, pad_s))
        said = self._whisper.generate(
            encoded, self._prompt, self._listening.beam_size, min(wanted, _ROOM - len(self._prompt))
        )
        # Between Chinese characters the spaces of the hot words leave traces.
        text = re.sub(r"(?<=[\u4e00-\u9fff]) +(?=[\u4e00-\u9fff])", "", to_simplified(said.text))
        tongue = self._whisper.languages(encoded)
        decoding = Decoding(
            undoubled(text, voiced_s), said.logprob, said.no_speech, tongue.chinese, tongue.other, voiced_s
        )
        dropped = after_decoding(decoding, self._listening.prompt, self.hot_words.used)
        return _Heard(said.text, len(self._whisper.tokens(said.text)), decoding, dropped)


def _confidence(pieces: Sequence[_Heard]) -> float:
    """Mean token probability over all pieces, each weighted by its tokens; 0 when nothing was decoded."""
    tokens = sum(piece.tokens for piece in pieces)
    if not tokens:
        return 0.0
    return sum(piece.tokens * piece.decoding.confidence for piece in pieces) / tokens
