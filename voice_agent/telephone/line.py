"""A telephone as the far end of a call: its sound in and out at 8 kHz, at the pace of speech, and whether it lives.

The parts of a sound device do the work: the telephone side stands in for a device at the call's own rate.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np

from audio.devices import Format
from audio.halfband import Doubler, Halver
from audio.microphone import Microphone
from audio.pcm import SAMPLE_BYTES, Encoding, decode, encode
from audio.sound_line import DeviceNews
from audio.speaker import Speaker
from audio.types import CALL_RATE_HZ, FRAME_MS, FRAME_SAMPLES, Samples
from voice_agent.telephone.flow import Inflow
from voice_agent.telephone.news import RATE_HZ

PACKET_SAMPLES = RATE_HZ * FRAME_MS // 1000
PACKET_S = FRAME_MS / 1000

MUTE_S = 15.0
"""Without a packet for so long nobody is there: telephones send silence too."""

_FORMAT = Format(CALL_RATE_HZ, 1)


class HeldBack(Protocol):
    """How long the telephone side holds our sound back, in seconds."""

    @property
    def delay_s(self) -> float: ...


class TelephoneLine:
    """One a call. `clock` gives seconds; `cleared` says that the far side shall drop what it holds."""

    def __init__(self, encoding: Encoding, held: HeldBack, clock: Callable[[], float]) -> None:
        self._encoding = encoding
        self._held = held
        self._clock = clock
        self._inflow = Inflow(clock())
        self._heard_s = clock()
        self._news: deque[DeviceNews] = deque()
        self._why = ""
        self._doubler, self._halver = Doubler(), Halver()
        self.speaker = Speaker(clock)
        self.speaker.attach(_FORMAT)
        self.frames = Microphone(clock)
        self.frames.attach(_FORMAT)
        self.cleared = False

    @property
    def devices(self) -> TelephoneLine:
        """The line is its own device."""
        return self

    @property
    def dead(self) -> bool:
        """It was hung up, broke, or gives nothing any more."""
        if not self._why and self._clock() - self._heard_s > MUTE_S:
            self.end(f"no sound for {MUTE_S:.0f} s")
        return bool(self._why)

    @property
    def ended(self) -> bool:
        """Nothing comes or goes any more."""
        return bool(self._why)

    @property
    def speaking(self) -> bool:
        """Something of the agent's side has not left yet."""
        return self.speaker.delay_s is None or self.speaker.delay_s > 0

    @property
    def delay_s(self) -> float | None:
        waiting_s = self.speaker.delay_s
        return None if waiting_s is None else waiting_s + self._held.delay_s

    def news(self) -> list[DeviceNews]:
        """Why the line was lost, once."""
        return [self._news.popleft() for _ in range(len(self._news))]

    def hear(self, data: bytes) -> None:
        """The caller's next stretch of sound, in the line's encoding; what comes faster than speech is not taken."""
        now_s = self._clock()
        self._heard_s = now_s
        samples = len(data) // SAMPLE_BYTES[self._encoding]
        if self._inflow.take(samples / RATE_HZ, now_s):
            sound = self._doubler.push(decode(data, self._encoding))
            self.frames.callback(encode(sound, "s16"), len(sound), None, None)
        elif self._inflow.flooded:
            self.end("sound comes faster than anybody speaks")

    def packet(self) -> bytes:
        """The next 20 ms of the agent's side, in the line's encoding; silence where nothing is said."""
        block = bytearray(FRAME_SAMPLES * SAMPLE_BYTES["s16"])
        self.speaker.callback(block, FRAME_SAMPLES, None, None)
        return encode(self._halver.push(decode(bytes(block), "s16")), self._encoding)

    def play(self, caller: Samples, agent: Samples) -> None:
        """Takes the agent's side of the next 20 ms."""
        self.speaker.feed(agent)

    def flush(self) -> None:
        """What is on its way to the caller's ear shall not get there."""
        self.speaker.clear()
        self._halver = Halver()
        self.cleared = True

    def hang_up(self) -> None:
        """The telephone side ends it in order: nothing comes or goes any more."""
        self._why = self._why or "hung up"

    def end(self, why: str) -> None:
        """The line is lost: nothing comes or goes any more. The first reason stands, and is news."""
        if not self._why:
            self._why = why
            self._news.append(DeviceNews("input", "lost", "telephone", why))

    def faults(self) -> Mapping[str, int]:
        """For the journal's end."""
        return {
            "input_dropped": self.frames.dropped,
            "input_refused_ms": round(self._inflow.refused_s * 1000),
            "output_underruns": self.speaker.underruns,
        }


def silence(encoding: Encoding) -> bytes:
    """A packet in which nothing is said."""
    return encode(np.zeros(PACKET_SAMPLES, dtype=np.float32), encoding)
