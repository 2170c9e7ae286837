"""Chinese text to speech by the online service behind edge-tts. What is to be said leaves this machine.

What comes too late, broken off or not at all is a SpeechError by its kind, so that another voice can take over.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from audio.edge_answer import ENGINE, EdgeAnswer, EdgePatience
from audio.errors import FormatError, ModelError, SpeechError, SpeechFault
from audio.mp3 import Mp3Decoder
from audio.pacing import flowing, spoken_s
from audio.spelling import is_speakable
from audio.trimming import Trimmer
from audio.types import CALL_RATE_HZ, Samples

if TYPE_CHECKING:
    from edge_tts import Communicate

LEAST_S = 0.3
"""Sound at hand before a stream begins: one late packet is bridged."""


class EdgeSynthesizer:
    """A Synthesizer over the network; `voice` is one of the service's names, `speed` 0.5 to 2.0.

    Raises ModelError when voice or speed is none. The network is first touched by `synthesize`.
    """

    def __init__(
        self,
        voice: str = "zh-CN-XiaoxiaoNeural",
        *,
        speed: float = 1.0,
        patience: EdgePatience = EdgePatience(),  # noqa: B008 - frozen
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        if not 0.5 <= speed <= 2.0:
            raise ModelError(f"speech speed {speed}: choose one from 0.5 to 2.0")
        self._voice, self._speed, self._patience, self._now = voice, speed, patience, now
        self._request("您好")

    @property
    def engine(self) -> str:
        return ENGINE

    @property
    def voice(self) -> str:
        return self._voice

    def synthesize(self, text: str) -> Iterator[Samples]:
        """Yields blocks at CALL_RATE_HZ as they come, the first when the stream is fast enough to go on without a gap.
        Text of punctuation only is refused unsent.

        Raises SpeechError; ModelError when there is nothing to speak.
        """
        if not is_speakable(text):
            raise ModelError(f"nothing to speak in {text!r}: send a text with words")
        began = self._now()
        patience, latest = self._patience, began + self._patience.first_audio_s
        answer = EdgeAnswer(self._request(text), patience)
        decoder, trimmer = Mp3Decoder(), Trimmer()
        held: list[Samples] = []
        received = 0
        begun = False
        try:
            while (data := answer.take(patience.stall_s if begun else latest - self._now())) is not None:
                held.append(trimmer.push(_heard(decoder.push, data)))
                received += len(held[-1])
                begun = begun or self._may_begin(received, self._now() - began, text)
                if begun:
                    yield from _nonempty(held)
            held += [trimmer.push(_heard(lambda _: decoder.finish(), b"")), trimmer.finish()]
            if not trimmer.audible:
                raise SpeechError(SpeechFault.NO_AUDIO, f"{ENGINE}: only silence came for {text!r}")
            yield from _nonempty(held)
        finally:
            answer.leave()

    def _may_begin(self, received: int, took_s: float, text: str) -> bool:
        received_s = received / CALL_RATE_HZ
        return received_s >= LEAST_S and flowing(received_s, took_s, spoken_s(text) / self._speed)

    def _request(self, text: str) -> Communicate:
        # Imported here: a network client that only this engine needs.
        from edge_tts import Communicate

        rate = f"{round((self._speed - 1) * 100):+d}%"
        try:
            return Communicate(text, self._voice, rate=rate, connect_timeout=self._patience.connect_s)
        except ValueError as fault:
            raise ModelError(
                f"tts.edge_voice {self._voice!r}: {fault}: see `edge-tts --list-voices`"
            ) from fault


def _heard(decode: Callable[[bytes], Samples], data: bytes) -> Samples:
    try:
        return decode(data)
    except FormatError as fault:
        raise SpeechError(SpeechFault.GARBLED, f"{ENGINE}: {fault}") from fault


def _nonempty(held: list[Samples]) -> Iterator[Samples]:
    """Gives out what is held, and holds it no longer."""
    while held:
        if (block := held.pop(0)).size:
            yield block
