"""An encoder that needs no model: every character is a token with a fixed random direction, a text is their mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from hashlib import sha256

import numpy as np

from retrieval.corpus import Corpus
from retrieval.types import Passage, PassageId
from retrieval.vectors import Kind, TokenVectors, Vectors

DIM = 48


@cache
def direction(character: str) -> Vectors:
    seed = int.from_bytes(sha256(character.encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).normal(size=DIM).astype(np.float32)
    return vector / np.float32(np.linalg.norm(vector))


@dataclass
class LetterEncoder:
    """Equal characters are equal tokens, whatever stands beside them. Remembers what it was asked to encode."""

    id: str = "letters/1"
    dim: int = DIM
    max_tokens: int = 512
    seen: list[str] = field(default_factory=list)

    def queries(self, texts: Sequence[str]) -> Vectors:
        return self._pooled(texts)

    def passages(self, texts: Sequence[str]) -> Vectors:
        return self._pooled(texts)

    def token_vectors(self, texts: Sequence[str], kind: Kind) -> list[TokenVectors]:
        self.seen.extend(texts)
        return [_tokens(_letters(text)) for text in texts]

    def _pooled(self, texts: Sequence[str]) -> Vectors:
        self.seen.extend(texts)
        means = np.stack([_rows(_letters(text) or "□").mean(axis=0) for text in texts])
        return np.asarray(means / np.linalg.norm(means, axis=1, keepdims=True), dtype=np.float32)


@dataclass(frozen=True)
class Reads:
    """A reader that finds every text to answer as far as this."""

    logit: float = 1.0
    id: str = "reads/1"

    def logits(self, question: str, texts: Sequence[str]) -> list[float]:
        return [self.logit] * len(texts)


def _letters(text: str) -> str:
    return "".join(c for c in text if c.isalnum())


def _tokens(letters: str) -> TokenVectors:
    return TokenVectors(np.array([ord(c) for c in letters], dtype=np.int32), tuple(letters), _rows(letters))


def _rows(letters: str) -> Vectors:
    if not letters:
        return np.zeros((0, DIM), dtype=np.float32)
    return np.stack([direction(c) for c in letters])


def passage(
    pid: str,
    text: str,
    title: str = "",
    questions: tuple[str, ...] = (),
    valid_from: date | None = None,
    valid_to: date | None = None,
    tags: tuple[str, ...] = (),
    version: str = "",
    must_handoff: bool = False,
) -> Passage:
    """A passage whose sha changes with its words, as the corpus reader makes it."""
    sha = sha256(repr((pid, text, title, questions, valid_from, valid_to, version)).encode()).hexdigest()
    return Passage(
        PassageId(pid),
        text,
        title,
        questions,
        tags=tags,
        version=version,
        valid_from=valid_from,
        valid_to=valid_to,
        must_handoff=must_handoff,
        sha=sha,
    )


def corpus(*passages: Passage) -> Corpus:
    """A corpus whose sha changes with any passage."""
    sha = sha256("".join(p.sha for p in passages).encode()).hexdigest()
    return Corpus(passages, sha, sha[:8])
