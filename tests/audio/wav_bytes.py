"""WAV files put together by hand, byte by byte, so that the reader is not tested with its own writer."""

from __future__ import annotations

import struct

GUID_TAIL = bytes.fromhex("000000001000800000aa00389b71")


def chunk(name: bytes, body: bytes, size: int | None = None) -> bytes:
    """One chunk with its pad byte; `size` overrides what its header claims."""
    return name + struct.pack("<I", len(body) if size is None else size) + body + b"\0" * (len(body) % 2)


def fmt(tag: int, bits: int, channels: int = 1, rate_hz: int = 16_000, *, extensible: bool = False) -> bytes:
    """A fmt chunk, plain or WAVE_FORMAT_EXTENSIBLE."""
    align = channels * bits // 8
    head = (0xFFFE if extensible else tag, channels, rate_hz, rate_hz * align, align, bits)
    body = struct.pack("<HHIIHH", *head)
    if extensible:
        body += struct.pack("<HHIH", 22, bits, 0, tag) + GUID_TAIL
    return chunk(b"fmt ", body)


def riff(*chunks: bytes, size: int | None = None) -> bytes:
    """A RIFF/WAVE file of these chunks; `size` overrides what the RIFF header claims."""
    body = b"WAVE" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body) if size is None else size) + body
