"""The header of a RIFF/WAVE file, both ways: bytes -> where the samples lie and what they mean, and back.

Read: PCM 8/16/24/32 bit, IEEE float 32/64, A-law, µ-law, plain or as WAVE_FORMAT_EXTENSIBLE, 8-48 kHz. What a crashed
recorder leaves (sizes never filled in, data cut short) is read to the end of the file with a warning; everything
else is one FormatError. Written: PCM 16 bit and µ-law.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import BinaryIO, Literal

from audio.errors import FormatError
from audio.pcm import SAMPLE_BYTES, Encoding

MIN_RATE_HZ = 8_000
MAX_RATE_HZ = 48_000
MAX_CHANNELS = 32
"""More is a damaged header, not a recording of a call."""

UNSIZED = 0xFFFF_FFFF
"""What a writer that does not know the length yet puts in a size field (0 is seen as well)."""

WavEncoding = Literal["pcm16", "mulaw"]

_CONVERT = "convert it, e.g. ffmpeg -i IN -ar 16000 -ac 1 OUT.wav"
_MAX_CHUNKS = 1_000  # real files have a handful; bounds the walk through a hostile one
_EXTENSIBLE = 0xFFFE
_GUID_TAIL = bytes.fromhex(
    "000000001000800000aa00389b71"
)  # what follows the format tag in every wave subtype

_SAMPLE_FORMATS: dict[tuple[int, int], tuple[Encoding, str]] = {
    (1, 8): ("u8", "PCM 8-bit"),
    (1, 16): ("s16", "PCM 16-bit"),
    (1, 24): ("s24", "PCM 24-bit"),
    (1, 32): ("s32", "PCM 32-bit"),
    (3, 32): ("f32", "float 32-bit"),
    (3, 64): ("f64", "float 64-bit"),
    (6, 8): ("alaw", "A-law"),
    (7, 8): ("mulaw", "µ-law"),
}

_CODECS = {
    1: "PCM", 2: "Microsoft ADPCM", 3: "IEEE float", 6: "A-law", 7: "µ-law", 0x11: "IMA ADPCM", 0x31: "GSM 6.10",
    0x45: "G.726 ADPCM", 0x50: "MPEG audio", 0x55: "MP3", 0xFF: "AAC", 0x160: "WMA 1", 0x161: "WMA 2", 0x704F: "Opus",
}  # fmt: skip

_OTHER_FILES = {
    b"RIFX": "big-endian RIFF", b"RF64": "RF64", b"fLaC": "FLAC", b"OggS": "Ogg", b"ID3": "MP3", b"FORM": "AIFF",
    b".snd": "AU", b"caff": "CAF", b"#!AMR": "AMR",
}  # fmt: skip

_WRITTEN: dict[WavEncoding, tuple[int, Encoding]] = {"pcm16": (1, "s16"), "mulaw": (7, "mulaw")}


@dataclass(frozen=True, slots=True)
class WavLayout:
    """Where the samples of a WAV file lie and how to read them.

    `data_bytes` holds whole sample frames only and lies within the file; `name` is the format for people.
    """

    encoding: Encoding
    name: str
    channels: int
    rate_hz: int
    data_start: int
    data_bytes: int
    warnings: tuple[str, ...] = ()

    @property
    def frame_bytes(self) -> int:
        return self.channels * SAMPLE_BYTES[self.encoding]

    @property
    def frame_count(self) -> int:
        return self.data_bytes // self.frame_bytes

    @property
    def seconds(self) -> float:
        return self.frame_count / self.rate_hz


@dataclass(frozen=True, slots=True)
class _Chunk:
    name: bytes
    start: int
    size: int


def read_layout(stream: BinaryIO, file_bytes: int) -> WavLayout:
    """The header of a seekable stream of `file_bytes` bytes. Raises FormatError; the caller adds the path."""
    riff_bytes = _read_magic(stream, file_bytes)
    body: bytes | None = None
    position = 12
    for _ in range(_MAX_CHUNKS):
        chunk = _chunk_at(stream, position, file_bytes)
        if chunk is None:
            break
        if chunk.name == b"data":
            if body is None:
                raise FormatError(
                    "no fmt chunk before the data: the file is damaged, record or convert it again"
                )
            finished = riff_bytes + 8 in (file_bytes, file_bytes - 1)
            return _with_data(_read_format(body), chunk, file_bytes, finished=finished)
        if chunk.start + chunk.size > file_bytes:
            raise FormatError(
                f"the header is cut short inside its {_shown(chunk.name)} chunk: copy the file again"
            )
        if chunk.name == b"fmt ":
            body = stream.read(min(chunk.size, 40))
        position = chunk.start + chunk.size + chunk.size % 2
    missing = "fmt" if body is None else "data"
    raise FormatError(
        f"no {missing} chunk, the header is cut short or damaged: copy or record the file again"
    )


def pack_header(encoding: WavEncoding, channels: int, rate_hz: int, data_bytes: int) -> bytes:
    """The header of a file this package writes; `data_bytes` beyond 32 bits, or UNSIZED, leaves the sizes open."""
    tag, name = _WRITTEN[encoding]
    width = SAMPLE_BYTES[name]
    fmt = struct.pack(
        "<HHIIHH", tag, channels, rate_hz, rate_hz * channels * width, channels * width, width * 8
    )
    sized = data_bytes + 128 < UNSIZED  # 128: more than the header and the pad byte
    chunks = [b"WAVE", _packed(b"fmt ", fmt)]
    if encoding != "pcm16":
        # Everything but PCM carries the size of its (empty) extension and the number of sample frames.
        chunks[1] = _packed(b"fmt ", fmt + b"\0\0")
        chunks.append(
            _packed(b"fact", struct.pack("<I", data_bytes // (channels * width) if sized else UNSIZED))
        )
    chunks.append(struct.pack("<4sI", b"data", data_bytes if sized else UNSIZED))
    header = b"".join(chunks)
    return (
        struct.pack("<4sI", b"RIFF", len(header) + data_bytes + data_bytes % 2 if sized else UNSIZED) + header
    )


def sample_encoding(encoding: WavEncoding) -> Encoding:
    """How the samples of a written file are encoded."""
    return _WRITTEN[encoding][1]


def _packed(name: bytes, body: bytes) -> bytes:
    return struct.pack("<4sI", name, len(body)) + body


def _read_magic(stream: BinaryIO, file_bytes: int) -> int:
    """The size that stands in the RIFF header; the stream is left at byte 12."""
    if file_bytes == 0:
        raise FormatError("the file is empty: record or copy it again")
    head = stream.read(12)
    if len(head) < 12 and b"RIFF".startswith(head[:4]):
        raise FormatError(f"the header is cut short after {len(head)} bytes: copy the file again")
    if head[:4] != b"RIFF" or head[8:12] != b"WAVE":
        known = next((name for magic, name in _OTHER_FILES.items() if head.startswith(magic)), None)
        raise FormatError(f"not a RIFF/WAVE file{f' but {known}' if known else ''}: {_CONVERT}")
    return int.from_bytes(head[4:8], "little")


def _chunk_at(stream: BinaryIO, position: int, file_bytes: int) -> _Chunk | None:
    if position + 8 > file_bytes:
        return None
    stream.seek(position)
    name, size = struct.unpack("<4sI", stream.read(8))
    return _Chunk(name, position + 8, size)


def _read_format(body: bytes) -> WavLayout:
    """The fmt chunk -> a layout whose data are still unknown."""
    if len(body) < 16:
        raise FormatError(
            f"the fmt chunk has {len(body)} of at least 16 bytes: the file is damaged, record it again"
        )
    tag, channels, rate_hz, _, frame_bytes, bits = struct.unpack_from("<HHIIHH", body)
    if tag == _EXTENSIBLE:
        tag = _extensible_tag(body)
    found = _SAMPLE_FORMATS.get((tag, bits))
    if found is None:
        codec = _CODECS.get(tag, f"codec 0x{tag:04X}")
        raise FormatError(f"unsupported: {codec} with {bits} bits a sample; {_CONVERT}")
    if not 1 <= channels <= MAX_CHANNELS:
        raise FormatError(f"{channels} channels, not 1 to {MAX_CHANNELS}: the header is damaged; {_CONVERT}")
    if not MIN_RATE_HZ <= rate_hz <= MAX_RATE_HZ:
        raise FormatError(f"a rate of {rate_hz} Hz, not {MIN_RATE_HZ} to {MAX_RATE_HZ}: {_CONVERT}")
    layout = WavLayout(found[0], found[1], channels, rate_hz, data_start=0, data_bytes=0)
    if frame_bytes != layout.frame_bytes:
        raise FormatError(
            f"{frame_bytes} bytes a sample frame where {channels} x {found[1]} need {layout.frame_bytes}: {_CONVERT}"
        )
    return layout


def _extensible_tag(body: bytes) -> int:
    if len(body) < 40:
        raise FormatError(
            f"the extensible fmt chunk has {len(body)} of 40 bytes: the file is damaged; {_CONVERT}"
        )
    if body[26:40] != _GUID_TAIL:
        raise FormatError(f"unsupported: subformat {body[24:40].hex()}; {_CONVERT}")
    return int.from_bytes(body[24:26], "little")


def _with_data(layout: WavLayout, chunk: _Chunk, file_bytes: int, *, finished: bool) -> WavLayout:
    """`finished`: the RIFF size fits the file, so its writer closed it, and a data size of 0 means what it says."""
    present = file_bytes - chunk.start
    size, warnings = min(chunk.size, present), []
    if chunk.size == UNSIZED or (chunk.size == 0 and not finished):
        size = present
        warnings.append(
            f"the data size was never filled in (crashed recorder?): read to the end, {size} bytes"
        )
    elif chunk.size > present:
        warnings.append(f"the data are cut short: {present} of {chunk.size} bytes are there and were read")
    partial = size % layout.frame_bytes
    if partial:
        warnings.append(f"a partial sample frame of {partial} bytes at the end was dropped")
    if size == partial:
        raise FormatError("the file holds 0 samples: record it again")
    return WavLayout(
        layout.encoding,
        layout.name,
        layout.channels,
        layout.rate_hz,
        chunk.start,
        size - partial,
        tuple(warnings),
    )


def _shown(name: bytes) -> str:
    return repr(name.decode("ascii", "replace").strip())
