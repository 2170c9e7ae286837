"""Speech already made, kept on disk: the same engine, voice, speed and text are never synthesised twice.

One file an utterance: magic, CRC-32 and count, then 16-bit samples at CALL_RATE_HZ. Files are written beside their
place and renamed into it, so a reader, also in another process, sees a whole entry or none. Nothing here is a fault:
an entry that cannot be read is a miss, one that cannot be written is not kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from audio.pacing import spoken_s
from audio.pcm import decode, encode
from audio.types import CALL_RATE_HZ, Samples, Synthesizer

_HEADER = struct.Struct("<4sII")
_MAGIC = b"VSC1"
_SUFFIX = ".speech"
_UNFINISHED = ".part"
_ABANDONED_S = 3600.0
"""A file still unfinished after that belongs to a process that died; a younger one is being written."""


def speech_key(engine: str, voice: str, speed: float, text: str) -> str:
    """Names one utterance: sha256 in hex. Any difference in any part is another name."""
    return hashlib.sha256(json.dumps([engine, voice, float(speed), text]).encode()).hexdigest()


class SpeechCache:
    """Utterances in one directory, at most `max_bytes` together; the longest unused go first.

    Several threads and processes may share the directory. It is made on the first `put`, for its owner only.
    """

    def __init__(self, directory: Path, *, max_bytes: int = 256 * 1024 * 1024) -> None:
        self._directory = directory
        self._max_bytes = max_bytes

    def get(self, key: str) -> Samples | None:
        """The utterance, or None when it is not there or its file is not whole; such a file is removed."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        samples = _unpacked(data)
        with suppress(OSError):
            if samples is None:
                path.unlink()
            else:
                os.utime(path)  # used now: evicted last
        return samples

    @property
    def room(self) -> int:
        """Bytes that may still be put without driving anything out."""
        used = 0
        for path in self._directory.glob(f"*{_SUFFIX}"):
            with suppress(OSError):
                used += path.stat().st_size
        return self._max_bytes - used

    def put(self, key: str, samples: Samples) -> bool:
        """Keeps an utterance; False when the disk does not take it or it is larger than the whole cache."""
        data = _packed(samples)
        if len(data) > self._max_bytes:
            return False
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._write(self._path(key), data)
            self._evict()
            self._sweep()
        except OSError:
            return False
        return True

    def _path(self, key: str) -> Path:
        return self._directory / f"{key}{_SUFFIX}"

    def _write(self, path: Path, data: bytes) -> None:
        handle, temporary = tempfile.mkstemp(dir=self._directory, suffix=_UNFINISHED)
        try:
            with open(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        except OSError:
            with suppress(OSError):
                os.unlink(temporary)
            raise

    def _evict(self) -> None:
        """Removes the longest unused files until the rest fits. A file another process removed first is no matter."""
        files = []
        for path in self._directory.glob(f"*{_SUFFIX}"):
            with suppress(OSError):
                state = path.stat()
                files.append((state.st_mtime_ns, path.name, state.st_size, path))
        total = sum(size for _, _, size, _ in files)
        for _, _, size, path in sorted(files):
            if total <= self._max_bytes:
                return
            with suppress(OSError):
                path.unlink()
            total -= size

    def _sweep(self) -> None:
        """Removes what dead processes left half written."""
        for path in self._directory.glob(f"*{_UNFINISHED}"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > _ABANDONED_S:
                    path.unlink()


class CachedSynthesizer:
    """A Synthesizer that asks another one only for what the cache lacks. `speed` is the speed the other speaks at.

    What is kept sounds as it did the first time, to the sample: 16 bits are what both give out. A text whose
    synthesis failed or was abandoned is not kept.
    """

    def __init__(self, inner: Synthesizer, cache: SpeechCache, *, speed: float = 1.0) -> None:
        self._inner, self._cache, self._speed = inner, cache, speed

    @property
    def engine(self) -> str:
        return self._inner.engine

    @property
    def voice(self) -> str:
        return self._inner.voice

    def keeps(self, text: str) -> bool:
        """Need the other not be asked?"""
        return self._cache.get(self._key(text)) is not None

    def has_room(self, text: str) -> bool:
        """Would it be kept without driving anything out, by a rough and generous guess at its length?"""
        seconds = 1.0 + 2.0 * spoken_s(text) / self._speed
        return self._cache.room >= seconds * CALL_RATE_HZ * 2

    def _key(self, text: str) -> str:
        return speech_key(self.engine, self.voice, self._speed, text)

    def synthesize(self, text: str) -> Iterator[Samples]:
        """Yields the kept utterance as one block, else the other's blocks as they come. Raises ModelError."""
        key = self._key(text)
        kept = self._cache.get(key)
        if kept is not None:
            yield kept
            return
        blocks = []
        for block in self._inner.synthesize(text):
            blocks.append(decode(encode(block, "s16"), "s16"))
            yield blocks[-1]
        if blocks:
            self._cache.put(key, np.concatenate(blocks))


def _packed(samples: Samples) -> bytes:
    body = encode(samples, "s16")
    return _HEADER.pack(_MAGIC, zlib.crc32(body), len(body)) + body


def _unpacked(data: bytes) -> Samples | None:
    if len(data) <= _HEADER.size:
        return None
    magic, checksum, length = _HEADER.unpack_from(data)
    body = data[_HEADER.size :]
    if magic != _MAGIC or len(body) != length or zlib.crc32(body) != checksum:
        return None
    return decode(body, "s16")
