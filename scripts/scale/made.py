"""A knowledge base of any size, made by a seed: words drawn as often as jieba's dictionary counts them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date
from hashlib import sha256
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from retrieval.terms import _load
from retrieval.types import Passage, PassageId

TAGS = [f"类目{i}" for i in range(40)]
VERSIONS = ["2024", "2025", "2026"]
DIM = 384


class Writer:
    """Draws sentences. The same seed writes the same."""

    def __init__(self, seed: int) -> None:
        counts = {w: n for w, n in _load(()).FREQ.items() if n > 0 and all("一" <= c <= "龥" for c in w)}
        self._words = list(counts)
        self._steps = list(accumulate(counts.values()))
        self._rng = random.Random(seed)

    def words(self, count: int) -> list[str]:
        return self._rng.choices(self._words, cum_weights=self._steps, k=count)

    def sentences(self, count: int) -> str:
        return "".join(
            "，".join("".join(self.words(self._rng.randint(4, 9))) for _ in range(2)) + "。"
            for _ in range(count)
        )

    def passages(self, count: int) -> Iterator[Passage]:
        """About 160 characters each: one in ten with a code, one in ten out of date, one in five with a question."""
        rng = self._rng
        for row in range(count):
            code = f"错误代码ERR_{10000 + row}：" if row % 10 == 0 else ""
            title, text = "".join(self.words(3)), code + self.sentences(rng.randint(5, 9))
            questions = ("".join(self.words(6)) + "怎么办？",) if row % 5 == 0 else ()
            yield Passage(
                PassageId(f"made-{row:06}"),
                text,
                title,
                questions,
                version=rng.choice(VERSIONS),
                valid_to=date(2025, 12, 31) if row % 10 == 3 else None,
                tags=tuple(rng.sample(TAGS, 2)),
                sha=sha256(f"{title}\n{text}".encode()).hexdigest(),
            )

    def questions(self, passages: list[Passage], count: int) -> list[str]:
        """Twelve characters from the middle of a passage, as a caller half remembers it; one in ten names a code."""
        asked = []
        for turn in range(count):
            passage = self._rng.choice(passages)
            start = self._rng.randrange(max(1, len(passage.text) - 30))
            asked.append("请问" + passage.text[start : start + 12] + "是怎么回事")
            if turn % 10 == 0:
                asked[-1] = f"ERR_{10000 + 10 * self._rng.randrange(max(1, len(passages) // 10))}怎么处理"
        return asked


def unit_vectors(rows: int, seed: int) -> NDArray[np.float32]:
    """Random directions, float32 (rows, DIM)."""
    drawn = np.random.default_rng(seed).standard_normal((rows, DIM), dtype=np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return drawn
