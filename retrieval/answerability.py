"""Does this passage answer this question? A small cross-encoder for the gate: near is not answered.

A similarity says that a passage is about the thing; 这款手机多重 is near every passage about that phone. This model was
trained to tell the passages that state what was asked from those that do not (`scripts/train_reranker`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from retrieval.encoder import TOKENIZER_FILE, padded, session_of, tokenizer_of
from retrieval.errors import ModelError
from retrieval.normalize import clean_query

MODEL_FILE = "answers.onnx"

QUESTION_TOKENS, PASSAGE_TOKENS = 96, 400
"""What is read of each; both together are under the encoder's 512."""

_END = 2
"""The token between the two, as this family of encoders separates a pair."""

PROBE = (
    "退款多久到账",
    "退款到账时间\n退款在审核通过以后三到五个工作日内退回原支付账户。",
    "退款申请\n退款须提供订单号和退款原因。",
)
"""A question, a passage that answers it, and one near it that does not; titled, as the passages it learned from."""


class Answerability:
    """The model of a folder with `answers.onnx` and `tokenizer.json`, as the gate reads with. Threads may share it."""

    def __init__(self, folder: Path, threads: int = 1) -> None:
        """Loads it and proves it by a known pair. Raises ModelError."""
        self._session = session_of(folder / MODEL_FILE, threads)
        self._tokenizer = tokenizer_of(folder / TOKENIZER_FILE)
        facts = self._session.get_modelmeta().custom_metadata_map
        if "model" not in facts or self._tokenizer.get_vocab_size() > int(facts.get("words", 0)):
            raise ModelError(f"{folder / MODEL_FILE} is no answerability model: pull the models again")
        self._id = str(facts["model"])
        question, answering, silent = PROBE
        yes, no = self.logits(question, (answering, silent))
        if not yes > no:
            raise ModelError(
                f"{folder / MODEL_FILE}: a known pair scores {yes} and {no}: pull the models again"
            )

    @property
    def id(self) -> str:
        """Names the weights; thresholds are bound to it."""
        return self._id

    def logits(self, question: str, texts: Sequence[str]) -> list[float]:
        """One number a text, above 0 where the text rather answers. Raises ModelError."""
        if not texts:
            return []
        rows = [pair_ids(self._tokenizer, question, text) for text in texts]
        ids, mask = padded(rows)
        try:
            (made,) = self._session.run(None, {"input_ids": ids, "attention_mask": mask})
        except Exception as error:  # ONNX Runtime's own errors share no narrower parent
            raise ModelError(f"the answerability model failed: {str(error).splitlines()[0][:200]}") from error
        return [float(value) for value in np.asarray(made)[:, 0]]


def pair_ids(tokenizer: Tokenizer, question: str, text: str) -> list[int]:
    """The tokens of a pair as the model reads them: question, a second end, passage without its start."""
    asked = tokenizer.encode(f"query: {clean_query(question)}").ids[:QUESTION_TOKENS]
    return [*asked, _END, *tokenizer.encode(f"passage: {text}").ids[1:PASSAGE_TOKENS]]
