"""The words of the audio package: frozen facts that pass between its parts and to the agent.

Samples are float32 in [-1, 1], mono, shape (n,). Positions are sample indices on the call's own clock; seconds
are derived from them, so two runs over the same file agree to the sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]

CALL_RATE_HZ = 16_000
"""Rate of everything after the device or file: what webrtcvad and Whisper take."""

FRAME_MS = 20
"""Length of a frame. webrtcvad accepts 10, 20 or 30 ms; 20 ms is also the telephone's packet."""

FRAME_SAMPLES = CALL_RATE_HZ * FRAME_MS // 1000


@dataclass(frozen=True, slots=True)
class AudioFrame:
    """One block of the caller's sound. `start` is the index of its first sample at CALL_RATE_HZ.

    `lost`: the device lost sound here and (part of) the frame is silence put in its place. It says nothing about the
    line: nobody was heard in it and no noise is to be learned from it.
    """

    start: int
    samples: Samples
    lost: bool = False

    @property
    def start_s(self) -> float:
        return self.start / CALL_RATE_HZ

    @property
    def end_s(self) -> float:
        return (self.start + len(self.samples)) / CALL_RATE_HZ


@dataclass(frozen=True, slots=True)
class Voiced:
    """The caller is heard. Seconds on the call's clock; the run began at `since_s` and reaches `until_s`."""

    since_s: float
    until_s: float

    @property
    def length_s(self) -> float:
        return self.until_s - self.since_s


@dataclass(frozen=True, slots=True)
class Silent:
    """The caller is not heard. Same fields as Voiced; `since_s` is the end of the last voiced sample."""

    since_s: float
    until_s: float

    @property
    def length_s(self) -> float:
        return self.until_s - self.since_s


Activity = Voiced | Silent

DropReason = Literal[
    "too_short",
    "too_quiet",
    "no_speech",
    "low_confidence",
    "loop",
    "too_dense",
    "boilerplate",
    "prompt_echo",
    "not_chinese",
]


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was heard in one utterance.

    `text` is Simplified and is empty when the decoding was dropped; `raw` is what the model wrote. `confidence` is
    the mean token probability in [0, 1]. `voiced_s` is how long the caller was heard, `seconds` how long decoding took.
    """

    text: str
    raw: str
    confidence: float
    voiced_s: float
    seconds: float
    dropped: DropReason | None = None
    hot_words: tuple[str, ...] = field(default=())


class Recognizer(Protocol):
    """Speech to text, blocking."""

    def transcribe(self, samples: Samples, voiced_s: float) -> Transcript:
        """One utterance at CALL_RATE_HZ. Raises ModelError."""
        ...


class Synthesizer(Protocol):
    """Text to speech, blocking. `engine` and `voice` name what is heard (the speech cache keys on them)."""

    @property
    def engine(self) -> str: ...

    @property
    def voice(self) -> str: ...

    def synthesize(self, text: str) -> Iterator[Samples]:
        """Yields blocks at CALL_RATE_HZ, one or more a clause. Raises ModelError, also when nothing is audible."""
        ...
