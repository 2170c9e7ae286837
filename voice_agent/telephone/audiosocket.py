"""Asterisk's AudioSocket: bytes of a TCP connection in, news out, and the frames that we send. Pure.

A frame is one byte of kind, two bytes of length (big-endian) and the payload. The first one names the call by a UUID;
then sound and keys follow until a hang-up. Frames: docs.asterisk.org, Configuration, Channel Drivers, AudioSocket.
"""

from __future__ import annotations

import struct
import uuid
from enum import IntEnum

from audio.pcm import SAMPLE_BYTES
from voice_agent.telephone.news import (
    KEYS,
    MAX_SOUND_S,
    RATE_HZ,
    Began,
    Broken,
    Ended,
    News,
    Pressed,
    Sound,
)

_HEADER = struct.Struct(">BH")
_WIDTH = SAMPLE_BYTES["s16"]
MAX_SOUND_BYTES = int(MAX_SOUND_S * RATE_HZ) * _WIDTH
MAX_ERROR_BYTES = 64
"""Of a peer's error code. Asterisk sends one byte."""


class Kind(IntEnum):
    """The first byte of a frame."""

    HANG_UP = 0x00
    UUID = 0x01
    KEY = 0x03
    SOUND = 0x10
    ERROR = 0xFF


_LENGTHS = {
    Kind.HANG_UP: (0, 0),
    Kind.UUID: (16, 16),
    Kind.KEY: (1, 1),
    Kind.SOUND: (0, MAX_SOUND_BYTES),
    Kind.ERROR: (0, MAX_ERROR_BYTES),
}
"""The shortest and the longest payload of each kind, in bytes."""


class AudioSocketReader:
    """One a connection. However its bytes are cut, the news are the same; after `Ended` or `Broken` there are none."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._began = False
        self._over = False

    def push(self, data: bytes) -> list[News]:
        """The next bytes of the connection -> what they tell."""
        news: list[News] = []
        if self._over:
            return news
        self._rest += data
        while not self._over and (told := self._next()) is not None:
            news.append(told)
            self._over = isinstance(told, Ended | Broken)
        return news

    def finish(self) -> list[News]:
        """The connection was closed. Without a hang-up before it that is one, unless it fell into a frame."""
        if self._over:
            return []
        self._over = True
        if self._rest:
            return [Broken(f"cut after {len(self._rest)} bytes of a frame: the connection was lost")]
        return [Ended()]

    def _next(self) -> News | None:
        if len(self._rest) < _HEADER.size:
            return None
        number, length = _HEADER.unpack_from(self._rest)
        if why := _unread(number, length):
            return Broken(why)
        if len(self._rest) < _HEADER.size + length:
            return None
        payload = bytes(self._rest[_HEADER.size : _HEADER.size + length])
        del self._rest[: _HEADER.size + length]
        return self._told(Kind(number), payload)

    def _told(self, kind: Kind, payload: bytes) -> News:
        match kind:
            case Kind.HANG_UP:
                return Ended()
            case Kind.ERROR:
                return Broken(f"the telephone side reports error {payload.hex() or 'without a code'}")
            case Kind.UUID:
                return self._begin(payload)
        if not self._began:
            return Broken(f"a frame of kind 0x{kind:02x} before the UUID: the UUID must be the first")
        return _sound(payload) if kind is Kind.SOUND else _key(payload)

    def _begin(self, payload: bytes) -> News:
        name = uuid.UUID(bytes=payload)
        if self._began:
            return Broken("a second UUID: one connection carries one call")
        if not name.int:
            return Broken("the UUID is all zeros: give each call its own, AudioSocket(${UUID()},...)")
        self._began = True
        return Began(str(name), str(name), "s16")


def _unread(number: int, length: int) -> str:
    """Why a frame with this header cannot be read, known before its payload is waited for; empty if it can."""
    try:
        least, most = _LENGTHS[Kind(number)]
    except ValueError:
        hint = ": have the channel use slin, 8 kHz" if Kind.SOUND < number <= Kind.SOUND + 8 else ""
        return f"a frame of kind 0x{number:02x}, which is not read here{hint}"
    if not least <= length <= most:
        return f"a frame of kind 0x{number:02x} with {length} bytes: {least} to {most} are read"
    return ""


def _sound(payload: bytes) -> News:
    if len(payload) % _WIDTH:
        return Broken(f"sound of {len(payload)} bytes is no whole number of 16-bit samples")
    return Sound(payload)


def _key(payload: bytes) -> News:
    key = payload.decode("latin-1").upper()
    return Pressed(key) if key in KEYS else Broken(f"a pressed key 0x{payload.hex()} that no telephone has")


def frame(kind: Kind, payload: bytes = b"") -> bytes:
    """A frame of ours. Raises ValueError for a payload that its kind cannot have."""
    least, most = _LENGTHS[kind]
    if not least <= len(payload) <= most:
        raise ValueError(f"{len(payload)} bytes in a frame of kind {kind.name}")
    return _HEADER.pack(kind, len(payload)) + payload
