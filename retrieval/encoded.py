"""Passages turned into arrays: surface vectors for recall, token vectors for reranking. What is known is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from retrieval.encoder import Encoder
from retrieval.normalize import clean_query
from retrieval.surfaces import dense_surfaces, document_text
from retrieval.token_store import centre_of
from retrieval.types import Passage
from retrieval.vectors import TokenVectors

Progress = Callable[[int, int], None]
"""Called with (texts encoded, texts to encode), both growing or equal from call to call."""

ENCODED_AT_ONCE = 64
"""Texts given to the encoder in one call; between calls progress is reported."""

CENTRE_TEXTS = 400
"""Titles and questions read as queries to find where queries lean; their mean has settled long before."""

_Each = TypeVar("_Each")


@dataclass(frozen=True, slots=True)
class Encoded:
    """One passage: unit surface vectors (surfaces, dim), its token ids (n,) and their unit vectors (n, dim), and unit
    vectors of its examples, then of its near misses (examples, dim), read as questions.
    """

    vectors: NDArray[np.float32]
    token_ids: NDArray[np.int32]
    token_vectors: NDArray[np.float16]
    examples: NDArray[np.float32]


class _Work:
    """Feeds the encoder block by block and reports how far it is."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total = total
        self._done = 0
        self._progress = progress

    def run(self, encode: Callable[[Sequence[str]], Iterable[_Each]], texts: Sequence[str]) -> list[_Each]:
        results: list[_Each] = []
        for start in range(0, len(texts), ENCODED_AT_ONCE):
            block = texts[start : start + ENCODED_AT_ONCE]
            results.extend(encode(block))
            self._done += len(block)
            if self._progress is not None:
                self._progress(self._done, self._total)
        return results


def encode_passages(
    passages: Sequence[Passage],
    encoder: Encoder,
    known: Mapping[str, Encoded],
    progress: Progress | None = None,
    with_tokens: bool = True,
) -> tuple[list[Encoded], NDArray[np.float32]]:
    """Each passage encoded, in order, and the centre of queries (dim,). Raises what the encoder raises.

    `known` holds what an earlier index of the same encoder made, by the passages' sha; it is taken as it is. Without
    tokens the rows hold none and the centre is 0.
    """
    fresh = [p for p in passages if not (p.sha and p.sha in known)]
    surfaces = [dense_surfaces(p) for p in fresh]
    read = [document_text(p) for p in fresh] if with_tokens else []
    samples = _centre_texts(passages) if with_tokens else []
    told = [clean_query(question) for p in fresh for question in (*p.examples, *p.near_misses)]
    work = _Work(sum(map(len, surfaces)) + len(read) + len(samples) + len(told), progress)
    vectors = iter(work.run(encoder.passages, list(chain.from_iterable(surfaces))))
    tokens = iter(work.run(lambda texts: encoder.token_vectors(texts, "passage"), read))
    leaning = work.run(lambda texts: encoder.token_vectors(texts, "query"), samples)
    asked = _sorted_by_length(work, encoder, told)
    none = TokenVectors(np.zeros(0, np.int32), (), np.zeros((0, encoder.dim), np.float32))

    empty = np.zeros((0, encoder.dim), dtype=np.float32)

    def encoded(passage: Passage, own: Sequence[str]) -> Encoded:
        token = next(tokens) if with_tokens else none
        questions = [next(asked) for _ in (*passage.examples, *passage.near_misses)]
        return Encoded(
            np.stack([next(vectors) for _ in own]).astype(np.float32),
            token.ids.astype(np.int32),
            token.vectors.astype(np.float16),
            np.concatenate([empty, *(vector[np.newaxis] for vector in questions)]),
        )

    made = map(encoded, fresh, surfaces)
    rows = [known[p.sha] if p.sha and p.sha in known else next(made) for p in passages]
    return rows, centre_of(np.concatenate([empty, *(token.vectors for token in leaning)]))


def _sorted_by_length(work: _Work, encoder: Encoder, texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
    """Vectors of questions in their order, encoded from the shortest on: a block is padded to its longest."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    vectors = work.run(encoder.queries, [texts[i] for i in order])
    made = dict(zip(order, vectors, strict=True))
    return (made[i].astype(np.float32) for i in range(len(texts)))


def _centre_texts(passages: Sequence[Passage]) -> list[str]:
    """Titles and questions, at most CENTRE_TEXTS, spread evenly over the corpus."""
    texts = list(dict.fromkeys(text for p in passages for text in (p.title, *p.questions) if text))
    step = max(1, -(-len(texts) // CENTRE_TEXTS))
    return texts[::step]


def starts_of(lengths: Iterable[int]) -> NDArray[np.int64]:
    """Where each block of rows begins when they are put end to end, and the end: (blocks + 1,)."""
    return np.cumsum([0, *lengths], dtype=np.int64)
