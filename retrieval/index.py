"""The index on disk: passages, surface vectors and token vectors, made for one corpus by one encoder.

Files of a generation: `passages.jsonl`; `vectors.npy` float32 (surfaces, dim) with `starts.npy` int64 (passages + 1,);
`token_vectors.npy` float16 (tokens, dim) with `token_ids.npy` int32 (tokens,), `token_lengths.npy` float32 (tokens,)
and `token_starts.npy` int64 (passages + 1,); `example_vectors.npy` float32 (examples, dim), a passage's examples and
then its near misses, with `example_starts.npy` int64 (passages + 1,); `centres.npy` float32 (2, dim), of queries and of
passages. Above a stated
number of passages no token vectors are made: those files are then empty and the manifest says so. Nothing is ever
unpickled.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.corpus import Corpus
from retrieval.encoded import Encoded, Progress, encode_passages, starts_of
from retrieval.encoder import Encoder
from retrieval.errors import StoreError
from retrieval.examples import Examples, examples_in
from retrieval.generations import current_generation, new_generation, read_manifest, write_manifest
from retrieval.surfaces import document_text
from retrieval.token_store import TokenStore, centre_of, count_holding, lengths_from, rows_by_text
from retrieval.types import Passage, PassageId

TOKEN_PASSAGES = 10_000
"""Up to how many passages token vectors are kept: a token of 384 dimensions takes 776 bytes of disk, so that 10,000
passages of 120 tokens are 0.9 GB and of 400 tokens 3.1 GB, all of it written, hashed at each start, and paged in.
"""

FORMAT = 2
"""Raised when the files change their meaning; an older index is then built again."""


@dataclass(frozen=True, slots=True)
class Index:
    """An open index. Rows follow `passages`; the surfaces of passage i are `vectors[starts[i]:starts[i + 1]]`.

    Without token vectors (`has_tokens`) late interaction has nothing to read: rank by `PooledVectors` (pooled.py) or a
    cross-encoder.
    """

    passages: tuple[Passage, ...]
    corpus_sha: str
    corpus_version: str
    encoder_id: str
    vectors: NDArray[np.float32]
    starts: NDArray[np.int64]
    tokens: TokenStore
    has_tokens: bool = True
    examples: Examples | None = None

    @property
    def ids(self) -> tuple[PassageId, ...]:
        return tuple(p.id for p in self.passages)


def build_index(
    root: Path,
    corpus: Corpus,
    encoder: Encoder,
    progress: Progress | None = None,
    token_passages: int = TOKEN_PASSAGES,
) -> Index:
    """Encodes the corpus, replaces what stood under `root` in one step, and opens it. A corpus of more than
    `token_passages` passages gets no token vectors.

    A passage that the index before held with the same sha, made by the same encoder, keeps its vectors. A crash
    leaves the index before. Raises StoreError when the folder cannot be written, and what the encoder raises.
    """
    with_tokens = len(corpus.passages) <= token_passages
    known = _known(root, encoder, with_tokens)
    rows, query_centre = encode_passages(corpus.passages, encoder, known, progress, with_tokens)
    with new_generation(root) as folder:
        _write_arrays(folder, rows, query_centre)
        lines = (json.dumps(_plain(p), ensure_ascii=False) for p in corpus.passages)
        (folder / "passages.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        facts = {
            "format": FORMAT,
            "encoder": encoder.id,
            "dim": encoder.dim,
            "corpus_sha": corpus.sha,
            "corpus_version": corpus.version,
            "passages": len(rows),
            "token_vectors": with_tokens,
            "token_passages": token_passages,
        }
        write_manifest(folder, facts)
    return open_index(root, encoder, corpus)


def open_index(root: Path, encoder: Encoder, corpus: Corpus | None = None) -> Index:
    """Opens what `build_index` wrote, vectors memory-mapped.

    Raises StoreError when there is none, when a file of it is missing or changed, when another encoder made it, or,
    if a corpus is given, when it was made from another.
    """
    folder = current_generation(root)
    facts = read_manifest(folder)
    if facts.get("format") != FORMAT:
        raise StoreError(
            f"index {root}: format {facts.get('format')}, this version reads {FORMAT}; build it again"
        )
    if facts.get("encoder") != encoder.id:
        raise StoreError(f"index {root}: made by {facts.get('encoder')}, not by {encoder.id}; build it again")
    if corpus is not None and facts.get("corpus_sha") != corpus.sha:
        raise StoreError(f"index {root}: the knowledge base has changed since; build it again")
    try:
        return _read(folder, facts)
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise StoreError(f"index {root}: cannot be read ({e}); build it again") from e


def stored_passages(root: Path) -> tuple[Passage, ...]:
    """The passages of an index whatever encoder made it, without its vectors. Raises StoreError."""
    folder = current_generation(root)
    read_manifest(folder)
    try:
        return _passages(folder)
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise StoreError(f"index {root}: cannot be read ({e}); build it again") from e


def _write_arrays(folder: Path, rows: Sequence[Encoded], query_centre: NDArray[np.float32]) -> None:
    dim = len(query_centre)
    tokens = _filled(folder / "token_vectors.npy", [row.token_vectors for row in rows], dim)
    passage_centre = centre_of(tokens)
    lengths = [lengths_from(row.token_vectors, passage_centre) for row in rows]
    arrays: dict[str, NDArray[Any]] = {
        "vectors": _joined([row.vectors for row in rows], np.zeros((0, dim), dtype=np.float32)),
        "starts": starts_of(len(row.vectors) for row in rows),
        "token_ids": _joined([row.token_ids for row in rows], np.zeros(0, dtype=np.int32)),
        "token_starts": starts_of(len(row.token_ids) for row in rows),
        "token_lengths": _joined(lengths, np.zeros(0, dtype=np.float32)),
        "example_vectors": _joined([row.examples for row in rows], np.zeros((0, dim), dtype=np.float32)),
        "example_starts": starts_of(len(row.examples) for row in rows),
        "centres": np.stack([query_centre, passage_centre]),
    }
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)


def _filled(path: Path, blocks: Sequence[NDArray[np.float16]], dim: int) -> NDArray[np.float16]:
    """The blocks end to end, written to a mapped file one by one, so that they never stand twice in memory."""
    starts = starts_of(map(len, blocks))
    if not starts[-1]:
        np.save(path, np.zeros((0, dim), dtype=np.float16), allow_pickle=False)
        return np.zeros((0, dim), dtype=np.float16)
    mapped = np.lib.format.open_memmap(path, mode="w+", dtype=np.float16, shape=(int(starts[-1]), dim))
    for start, block in zip(starts, blocks, strict=False):
        mapped[start : start + len(block)] = block
    mapped.flush()
    array: NDArray[np.float16] = np.asarray(mapped)
    return array


def _joined(arrays: Sequence[NDArray[Any]], empty: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([empty, *arrays])


def _read(folder: Path, facts: dict[str, Any]) -> Index:
    passages = _passages(folder)

    def load(name: str) -> NDArray[Any]:
        array: NDArray[Any] = np.load(folder / f"{name}.npy", allow_pickle=False)
        return array

    vectors, starts = _mapped(folder / "vectors.npy"), load("starts")
    ids, token_starts = load("token_ids"), load("token_starts")
    token_vectors = _mapped(folder / "token_vectors.npy")
    query_centre, passage_centre = load("centres")
    lengths = load("token_lengths")
    told, told_starts = _mapped(folder / "example_vectors.npy"), load("example_starts")
    if not (
        len(passages) == facts["passages"] == len(starts) - 1 == len(token_starts) - 1
        and int(starts[-1]) == len(vectors)
        and len(told_starts) == len(starts)
        and int(told_starts[-1]) == len(told)
        and int(token_starts[-1]) == len(ids) == len(token_vectors) == len(lengths)
    ):
        raise ValueError("its arrays do not fit its passages")
    tokens = TokenStore(
        rows=rows_by_text([document_text(p) for p in passages]),
        starts=token_starts,
        ids=ids,
        vectors=token_vectors,
        lengths=lengths,
        holding=count_holding(ids, token_starts),
        query_centre=query_centre,
        passage_centre=passage_centre,
    )
    return Index(
        passages=passages,
        corpus_sha=facts["corpus_sha"],
        corpus_version=facts["corpus_version"],
        encoder_id=facts["encoder"],
        vectors=vectors,
        starts=starts,
        tokens=tokens,
        has_tokens=facts.get("token_vectors") is not False,
        examples=examples_in(passages, told, told_starts),
    )


def _mapped(path: Path) -> NDArray[Any]:
    """Memory-mapped, as a plain array over the map; read instead when it holds nothing, for that cannot be mapped."""
    try:
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError:
        mapped = np.load(path, allow_pickle=False)
    array: NDArray[Any] = np.asarray(mapped)
    return array


def _known(root: Path, encoder: Encoder, with_tokens: bool) -> dict[str, Encoded]:
    """What the index before holds, by sha; nothing when there is none that this encoder made, or when it lacks the
    token vectors that are now wanted.
    """
    try:
        before = open_index(root, encoder)
    except StoreError:
        return {}
    if with_tokens and not before.has_tokens:
        return {}
    tokens = before.tokens
    known = {}
    for i, passage in enumerate(before.passages):
        own = slice(*tokens.starts[i : i + 2].tolist()) if with_tokens else slice(0)
        vectors = before.vectors[before.starts[i] : before.starts[i + 1]]
        if passage.sha:
            asked = before.examples.of(passage.id) if before.examples else before.vectors[:0]
            known[passage.sha] = Encoded(vectors, tokens.ids[own], tokens.vectors[own], asked)
    return known


def _plain(passage: Passage) -> dict[str, Any]:
    facts = asdict(passage)
    for name in ("valid_from", "valid_to"):
        facts[name] = facts[name].isoformat() if facts[name] is not None else None
    return facts


def _passages(folder: Path) -> tuple[Passage, ...]:
    text = (folder / "passages.jsonl").read_text(encoding="utf-8")
    return tuple(_passage(json.loads(line)) for line in text.splitlines() if line)


def _passage(facts: dict[str, Any]) -> Passage:
    for name in ("valid_from", "valid_to"):
        facts[name] = date.fromisoformat(facts[name]) if facts[name] is not None else None
    for name in ("questions", "tags", "examples", "near_misses"):
        facts[name] = tuple(facts[name])
    return Passage(**facts)
