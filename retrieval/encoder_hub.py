"""Any sentence-transformers model, by hub name or local folder, as an Encoder. Brings torch, imported when asked for.

Weights are read from safetensors only: a pickle runs code when it is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from retrieval.errors import ModelError
from retrieval.vectors import BARE_SPACE, Kind, TokenVectors, Vectors, normalised

_BATCH = 32
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl", "*.pickle")


class SentenceTransformerEncoder:
    """A bi-encoder of the hub. An instruction is put before a text as it stands, colon and space included.

    Most Chinese models (bge-*-zh-v1.5) want one on queries only; e5 models want `query: ` and `passage: `.
    """

    def __init__(
        self,
        name_or_path: str,
        query_instruction: str = "",
        passage_instruction: str = "",
        *,
        local_files_only: bool = False,
        threads: int = 0,
    ) -> None:
        """Loads the model and tries it once. `threads` > 0 sets torch's own count, for the whole process.

        Raises ModelError when the extra is not installed, the model cannot be had, or its weights are pickles.
        """
        self._instruction: dict[Kind, str] = {"query": query_instruction, "passage": passage_instruction}
        self._name = name_or_path
        self._model = _load(name_or_path, local_files_only=local_files_only, threads=threads)
        self._max_tokens = int(self._model.get_max_seq_length() or 512)
        self._dim = int(self.queries(["."]).shape[1])
        self._id = "|".join([name_or_path, _revision(name_or_path, self._model), passage_instruction])

    @property
    def id(self) -> str:
        return self._id

    @property
    def dim(self) -> int:
        return self._dim

    @property
    def max_tokens(self) -> int:
        return self._max_tokens

    def queries(self, texts: Sequence[str]) -> Vectors:
        return self._pooled(texts, "query")

    def passages(self, texts: Sequence[str]) -> Vectors:
        return self._pooled(texts, "passage")

    def token_vectors(self, texts: Sequence[str], kind: Kind) -> list[TokenVectors]:
        if not texts:
            return []
        outputs = self._encode(texts, kind, "token_embeddings")
        return [self._of_tokens(text, kind, rows) for text, rows in zip(texts, outputs, strict=True)]

    def _pooled(self, texts: Sequence[str], kind: Kind) -> Vectors:
        if not texts:
            return np.zeros((0, self._dim), np.float32)
        return normalised(np.asarray(self._encode(texts, kind, "sentence_embedding"), np.float32))

    def _encode(self, texts: Sequence[str], kind: Kind, output: str) -> Any:
        whole = [self._instruction[kind] + text for text in texts]
        try:
            # The empty prompt keeps the model's own default prompt out: the instruction is ours alone.
            return self._model.encode(
                whole, prompt="", batch_size=_BATCH, output_value=output, show_progress_bar=False
            )
        except (RuntimeError, ValueError, IndexError, TypeError) as error:
            raise ModelError(f"{self._name} failed on {len(texts)} texts: {_first_line(error)}") from error

    def _of_tokens(self, text: str, kind: Kind, rows: Any) -> TokenVectors:
        instruction = self._instruction[kind]
        tokens = self._model.tokenizer(
            instruction + text,
            truncation=True,
            max_length=self._max_tokens,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
        )
        if len(tokens["input_ids"]) != len(rows):
            raise ModelError(f"{self._name} counts its tokens two ways: it cannot give vectors of tokens")
        names = self._model.tokenizer.convert_ids_to_tokens(tokens["input_ids"])
        facts = zip(names, tokens["special_tokens_mask"], tokens["offset_mapping"], strict=True)
        kept = [
            at
            for at, (name, special, (_, end)) in enumerate(facts)
            if not special and end > len(instruction) and name != BARE_SPACE
        ]
        ids = np.array([tokens["input_ids"][at] for at in kept], np.int32)
        vectors = normalised(rows.float().cpu().numpy()[kept])
        return TokenVectors(ids, tuple(names[at] for at in kept), vectors)


def _load(name_or_path: str, *, local_files_only: bool, threads: int) -> Any:
    try:
        import torch
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise ModelError(
            f"{name_or_path} needs sentence-transformers: install the extra, pip install 'voice-agent[hub]'"
        ) from error
    _refuse_pickles(Path(name_or_path))
    if threads > 0:
        torch.set_num_threads(threads)
    try:
        return SentenceTransformer(
            name_or_path,
            device="cpu",
            local_files_only=local_files_only,
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True},
        )
    except (OSError, ValueError, RuntimeError, KeyError, ImportError) as error:
        raise ModelError(f"{name_or_path} cannot be loaded: {_first_line(error)}") from error


def _refuse_pickles(folder: Path) -> None:
    """A local folder may hold pickles beside safetensors, but no part of the model may have only pickles."""
    for pattern in _PICKLES if folder.is_dir() else ():
        for pickle in sorted(folder.rglob(pattern)):
            if not any(pickle.parent.glob("*.safetensors")):
                raise ModelError(
                    f"{pickle} is a pickle, and opening one runs code: save the model as safetensors"
                )


def _revision(name_or_path: str, model: Any) -> str:
    """The hub's commit, or for a local folder what its weight files look like from outside."""
    weights = sorted(Path(name_or_path).rglob("*.safetensors")) if Path(name_or_path).is_dir() else []
    facts = ((path.stat().st_size, path.stat().st_mtime_ns) for path in weights)
    config = getattr(getattr(model[0], "auto_model", None), "config", None)
    return ",".join(f"{size}:{mtime}" for size, mtime in facts) or str(getattr(config, "_commit_hash", None))


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
