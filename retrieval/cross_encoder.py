"""The hub profile's reranker: any sentence-transformers cross-encoder, by hub id or local directory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from retrieval.errors import ModelError
from retrieval.rerank import Scale
from retrieval.span import best_span

BATCH = 8
"""Pairs of one forward pass; on two cores larger batches gain nothing."""

WINDOW = 240
"""Characters read of a passage: its best span, for the time of a pair grows with what is read."""

PROBE_QUESTION = "退款多久到账"
PROBE_RELATED = "退款在审核通过以后三到五个工作日内退回原支付账户。"
PROBE_UNRELATED = "路由器的状态灯为蓝色常亮表示已经联网。"


class CrossEncoderReranker:
    """Scores are raw logits: the model's own activation is switched off, so that its scale is known.

    The weights must be safetensors. sentence_transformers (and torch) are imported here, on construction, because
    they cost seconds and the embedded profile never needs them. Raises ModelError when the model is absent, has more
    than one output, or fails its self-test: a related pair must score a finite number above an unrelated one, which
    a bi-encoder loaded as a cross-encoder does not.
    """

    def __init__(self, model: str, max_tokens: int = 512, self_test: bool = True) -> None:
        self._name = model
        self._model = _load(model, max_tokens)
        if self_test:
            self._prove()

    @property
    def id(self) -> str:
        return f"cross-encoder/1 {self._name}"

    @property
    def scale(self) -> Scale:
        return "logit"

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """As Reranker says."""
        if not texts:
            return []
        pairs = [(query, best_span(query, text, WINDOW)) for text in texts]
        try:
            values = self._model.predict(pairs, batch_size=BATCH, show_progress_bar=False)
        except (RuntimeError, ValueError, TypeError, IndexError) as e:
            raise ModelError(f"cross-encoder {self._name}: scoring failed ({e})") from e
        return [float(value) for value in values]

    def _prove(self) -> None:
        related, unrelated = self.scores(PROBE_QUESTION, (PROBE_RELATED, PROBE_UNRELATED))
        if not (math.isfinite(related) and math.isfinite(unrelated) and related > unrelated):
            raise ModelError(
                f"cross-encoder {self._name}: self-test failed, related pair {related}, unrelated {unrelated}; "
                "is it a reranker for Chinese?"
            )


def _load(name: str, max_tokens: int) -> Any:
    if Path(name).is_dir() and not any(Path(name).glob("*.safetensors")):
        raise ModelError(f"cross-encoder {name}: no safetensors weights in the directory; convert them first")
    try:
        from sentence_transformers import CrossEncoder
        from torch.nn import Identity
    except ImportError as e:
        raise ModelError(
            f"cross-encoder {name}: install the hub profile, pip install 'voice-agent[hub]'"
        ) from e
    try:
        model = CrossEncoder(
            name,
            max_length=max_tokens,
            device="cpu",
            activation_fn=Identity(),
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True},
        )
    except (OSError, ValueError, RuntimeError, KeyError) as e:
        raise ModelError(f"cross-encoder {name}: cannot be loaded ({str(e).splitlines()[0]})") from e
    labels = int(model.config.num_labels)
    if labels != 1:
        raise ModelError(f"cross-encoder {name}: {labels} outputs, a reranker has 1; choose another model")
    return model
