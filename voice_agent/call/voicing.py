"""Who speaks a checked sentence: the chosen voice, the same once more, another voice. It is spoken or it is a fault."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from audio.errors import ModelError, SpeechError, SpeechFault
from audio.types import Samples, Synthesizer

FAILED = "TTS_FAILED"
"""The kind of a fault that is not a service's."""

AGAIN = frozenset({SpeechFault.NO_AUDIO, SpeechFault.CUT, SpeechFault.UNREACHABLE})
"""Faults that are known at once and often gone the next time. A slow service has used up the caller's patience, and
one that forbids has been asked twice by its own client."""


@dataclass(frozen=True, slots=True)
class Fallback:
    """A voice failed and `to` (the same, or another) speaks the sentence from its beginning. `heard` says whether the
    failed one had begun: the caller then hears that part twice, but nothing is missing."""

    engine: str
    to: str
    reason: str
    detail: str
    heard: bool

    def as_json(self) -> dict[str, object]:
        """For the journal."""
        return {
            "what": "speech",
            "engine": self.engine,
            "to": self.to,
            "reason": self.reason,
            "detail": self.detail,
            "heard": self.heard,
        }


def voiced(text: str, voices: Sequence[Synthesizer]) -> Iterator[Samples | Fallback]:
    """The sentence's blocks, and every change of voice before the blocks of the next. Blocking.

    Raises the last voice's ModelError when none could speak it: then what our own recorded phrases say is all that is
    left.
    """
    tries = [(voice, again) for voice in voices for again in (False, True)]
    heard = False
    fault: ModelError | None = None
    for place, (voice, again) in enumerate(tries):
        if again and not (isinstance(fault, SpeechError) and fault.fault in AGAIN):
            continue
        if fault is not None:
            yield _fallback(tries[place - 1][0], voice, fault, heard)
        try:
            for block in voice.synthesize(text):
                heard = True
                yield block
        except ModelError as e:
            fault = e
        else:
            return
    if fault is not None:
        raise fault


def whole_sound(text: str, voices: Sequence[Synthesizer]) -> list[Samples]:
    """The blocks of the voice that could speak all of it, for what is not heard while it is made. Raises ModelError."""
    blocks: list[Samples] = []
    for piece in voiced(text, voices):
        if isinstance(piece, Fallback):
            blocks.clear()
        else:
            blocks.append(piece)
    return blocks


def _fallback(failed: Synthesizer, to: Synthesizer, fault: ModelError, heard: bool) -> Fallback:
    reason = str(fault.fault) if isinstance(fault, SpeechError) else FAILED
    return Fallback(failed.engine, to.engine, reason, str(fault), heard)
