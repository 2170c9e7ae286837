"""A remote caller's sound as it arrives: decoded, kept to real time, and handed on as the frames of a call.

Nothing that arrives can make the call run ahead of its caller: what comes far faster than it can be spoken is dropped,
and whoever goes on with that is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, Protocol

from audio.devices import Format
from audio.errors import FormatError
from audio.microphone import Microphone
from audio.opus import OPUS_RATE_HZ, OpusDecoder
from audio.pcm import SAMPLE_BYTES, decode, encode
from audio.types import Samples
from voice_agent.service.problem import Problem

LONGEST_S = 1.0
"""Of sound in one message."""

AHEAD_S = 2.0
"""More sound than time has passed: what a network held back may come at once, and sound cards run a little fast."""

FLOOD_S = 10.0
"""So much dropped is no network's doing."""

Codec = Literal["pcm16", "opus"]


class Decoder(Protocol):
    """One message of sound."""

    def push(self, data: bytes) -> Samples:
        """Its samples. Raises FormatError."""
        ...


class Incoming:
    """One a call. `clock` gives seconds; `sound_s` is when the last message came."""

    def __init__(self, codec: Codec, rate_hz: int, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._rate_hz = OPUS_RATE_HZ if codec == "opus" else rate_hz
        self._decoder: Decoder = OpusDecoder() if codec == "opus" else _Pcm16()
        self._began_s = self.sound_s = clock()
        self._taken_s = self._dropped_s = 0.0
        self.frames = Microphone(clock)
        self.frames.attach(Format(self._rate_hz, 1))

    def push(self, data: bytes) -> None:
        """One message of the caller's sound. Raises Problem."""
        if len(data) > LONGEST_S * self._rate_hz * SAMPLE_BYTES["s16"]:
            raise Problem("too-large", f"a message holds at most {LONGEST_S:g} s of sound")
        try:
            samples = self._decoder.push(data)
        except FormatError as e:
            raise Problem("bad-audio", str(e)) from e
        self.sound_s = self._clock()
        length_s = len(samples) / self._rate_hz
        if length_s > LONGEST_S:
            raise Problem("too-large", f"a message holds at most {LONGEST_S:g} s of sound")
        if self._taken_s + length_s > self.sound_s - self._began_s + AHEAD_S:
            self._drop(length_s)
            return
        self._taken_s += length_s
        self.frames.callback(encode(samples, "s16"), len(samples), None, 0)

    def faults(self) -> Mapping[str, int]:
        """Samples at the caller's rate that were not taken."""
        return {"input_dropped": self.frames.dropped + round(self._dropped_s * self._rate_hz)}

    def _drop(self, length_s: float) -> None:
        self._dropped_s += length_s
        if self._dropped_s > FLOOD_S:
            raise Problem("too-fast", "send sound as it is spoken; docs/call.md tells the bounds")


class _Pcm16:
    """Little-endian, mono."""

    def push(self, data: bytes) -> Samples:
        return decode(data, "s16")
