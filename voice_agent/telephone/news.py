"""What the telephone side tells, whichever way it reaches us. Frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from audio.pcm import Encoding

RATE_HZ = 8_000
"""The telephone's rate, either way."""

MAX_SOUND_S = 1.0
"""Of sound in one piece. Providers send 20 ms; longer pieces than this are delay, or an attack on our memory."""

KEYS = frozenset("0123456789*#ABCD")
"""What a telephone has to press."""


@dataclass(frozen=True, slots=True)
class Began:
    """A call is on the line.

    `stream` is what our answers must name; `call` is the telephone side's own name for it. `parameters` were set by
    whoever routed the call here; they may hold a secret and are never journalled.
    """

    stream: str
    call: str
    encoding: Encoding
    parameters: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Sound:
    """The caller's next stretch of sound, in the encoding of `Began`, whole samples at RATE_HZ."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Pressed:
    """A key of the caller's telephone, one of KEYS."""

    key: str


@dataclass(frozen=True, slots=True)
class Reached:
    """Playing has come to the mark of that name, or the mark was cleared away."""

    mark: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The telephone side has hung up, in order."""


@dataclass(frozen=True, slots=True)
class Broken:
    """What was sent is not the protocol. Nothing after it is read. `why` is one line: what, and how to mend it."""

    why: str


News = Began | Sound | Pressed | Reached | Ended | Broken
