"""Texts into vectors: one for each text (dense recall) or one for each token (late interaction).

The embedded encoder is multilingual-e5-small on ONNX Runtime; it needs neither torch nor a model hub. Any other model
comes through sentence-transformers (`retrieval.encoder_hub`) under the same Protocol.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from retrieval.encoder_hub import SentenceTransformerEncoder
from retrieval.errors import ModelError
from retrieval.vectors import BARE_SPACE, Kind, TokenVectors, Vectors, batches, normalised

__all__ = ["Encoder", "OnnxE5Encoder", "SentenceTransformerEncoder", "TokenVectors"]

MODEL_FILE, TOKENIZER_FILE = "model.onnx", "tokenizer.json"

_PREFIX: dict[Kind, str] = {"query": "query: ", "passage": "passage: "}
"""What e5 was trained to see before each text."""

_MAX_TOKENS = 512
_PAD = 1

_BATCH_TOKENS = 2048
"""Rows × length of one run, padding included: the widest activation is then 12.6 MB, and larger gains no speed."""


class Encoder(Protocol):
    """A bi-encoder. `id` names model and revision: vectors of two ids must not meet in one index.

    All three raise ModelError when the model fails or yields what is not a number. Texts past `max_tokens` are cut.
    """

    @property
    def id(self) -> str: ...

    @property
    def dim(self) -> int: ...

    @property
    def max_tokens(self) -> int: ...

    def queries(self, texts: Sequence[str]) -> Vectors:
        """(n, dim), as questions."""
        ...

    def passages(self, texts: Sequence[str]) -> Vectors:
        """(n, dim), as what is searched."""
        ...

    def token_vectors(self, texts: Sequence[str], kind: Kind) -> list[TokenVectors]:
        """One entry a text."""
        ...


class OnnxE5Encoder:
    """multilingual-e5-small from a folder with `model.onnx` (made by `retrieval.e5_onnx`) and `tokenizer.json`.

    A text's vectors do not depend on the texts encoded beside it. May be shared by threads.
    """

    def __init__(self, folder: Path, threads: int = 1) -> None:
        """Loads everything. `threads` is the budget of one run. Raises ModelError."""
        self._session = session_of(folder / MODEL_FILE, threads)
        self._tokenizer = tokenizer_of(folder / TOKENIZER_FILE)
        facts = self._session.get_modelmeta().custom_metadata_map
        if not {"encoder", "words"} <= facts.keys():
            raise ModelError(f"{folder / MODEL_FILE} does not say which encoder it is: pull the model again")
        # The runtime looks a word up without asking whether the table reaches so far.
        if self._tokenizer.get_vocab_size() > int(facts["words"]):
            raise ModelError(f"{folder / TOKENIZER_FILE} has words the model has not: pull the model again")
        self._id = str(facts["encoder"])
        self._dim = int(self._session.get_outputs()[0].shape[-1])

    @property
    def id(self) -> str:
        return self._id

    @property
    def dim(self) -> int:
        return self._dim

    @property
    def max_tokens(self) -> int:
        return _MAX_TOKENS

    def queries(self, texts: Sequence[str]) -> Vectors:
        return self._pooled(texts, "query")

    def passages(self, texts: Sequence[str]) -> Vectors:
        return self._pooled(texts, "passage")

    def token_vectors(self, texts: Sequence[str], kind: Kind) -> list[TokenVectors]:
        prefix = len(_PREFIX[kind])
        done: dict[int, TokenVectors] = {}
        for index, encoding, rows in self._runs(texts, kind):
            ids, tokens, kept = np.array(encoding.ids, np.int32), encoding.tokens, _content(encoding, prefix)
            done[index] = TokenVectors(ids[kept], tuple(tokens[at] for at in kept), normalised(rows[kept]))
        return [done[index] for index in range(len(texts))]

    def _pooled(self, texts: Sequence[str], kind: Kind) -> Vectors:
        means = np.zeros((len(texts), self._dim), np.float32)
        for index, _, rows in self._runs(texts, kind):
            means[index] = rows.mean(axis=0)
        return normalised(means)

    def _runs(self, texts: Sequence[str], kind: Kind) -> Iterator[tuple[int, Encoding, Vectors]]:
        """Each text's index, its tokens and their raw vectors, shortest first."""
        # One at a time: the tokenizer's own threads would be outside the budget.
        encodings = [self._tokenizer.encode(_PREFIX[kind] + text) for text in texts]
        for batch in batches([len(encoding.ids) for encoding in encodings], _BATCH_TOKENS):
            vectors = self._run([encodings[index].ids for index in batch])
            for index, rows in zip(batch, vectors, strict=True):
                yield index, encodings[index], rows[: len(encodings[index].ids)]

    def _run(self, rows: Sequence[Sequence[int]]) -> Vectors:
        ids, mask = padded(rows)
        try:
            (vectors,) = self._session.run(None, {"input_ids": ids, "attention_mask": mask})
        except Exception as error:  # ONNX Runtime's own errors share no narrower parent
            raise ModelError(f"the encoder failed on {len(rows)} texts: {_first_line(error)}") from error
        return np.asarray(vectors, np.float32)


def _content(encoding: Encoding, prefix: int) -> list[int]:
    """Places of the tokens that belong to the text itself and are more than a space."""
    facts = zip(encoding.tokens, encoding.special_tokens_mask, encoding.offsets, strict=True)
    return [
        at
        for at, (token, special, (_, end)) in enumerate(facts)
        if not special and end > prefix and token != BARE_SPACE
    ]


def padded(rows: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Token ids of at least one row and where they stand (1) in the padding (0): both int64 (rows, longest)."""
    ids = np.full((len(rows), max(map(len, rows))), _PAD, np.int64)
    mask = np.zeros_like(ids)
    for at, row in enumerate(rows):
        ids[at, : len(row)] = row
        mask[at, : len(row)] = 1
    return ids, mask


def session_of(path: Path, threads: int) -> onnxruntime.InferenceSession:
    """An ONNX session on this many threads that never spin. Raises ModelError."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # A waiting thread that spins takes the core from the recogniser and the voice.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime's own errors share no narrower parent
        raise ModelError(f"{path} cannot be loaded: {_first_line(error)}; verify the models") from error


def tokenizer_of(path: Path) -> Tokenizer:
    """The tokenizer, unpadded, cut at the encoder's length. Raises ModelError."""
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the tokenizers library raises plain Exception
        raise ModelError(f"{path} cannot be loaded: {_first_line(error)}; verify the models") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(_MAX_TOKENS)
    return tokenizer


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
