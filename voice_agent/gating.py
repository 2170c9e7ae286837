"""The thresholds in force: the shipped ones, or a calibration's, and whether the agent may start with them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from retrieval.answerability import Answerability
from retrieval.calibration import FILE, Calibration, State, check_fits, features_sha, in_force, load
from retrieval.corpus import Corpus
from retrieval.encoder import Encoder
from retrieval.gate import Thresholds, thresholds_for
from retrieval.gauge import AnswersQuestion
from retrieval.rerank import Reranker
from voice_agent.config import Config
from voice_agent.errors import ConfigError
from voice_agent.staging import is_staged
from voice_agent.weights.store import require

EMBEDDED_ENCODER = "e5-small"
"""The embedded model whose folder also holds the answerability model, for it is built on the same weights."""


@dataclass(frozen=True, slots=True)
class Gating:
    """What decides and what it reads passages with, where the thresholds come from, the calibration found beside the
    index, and what decides in its shadow, or in `staged_percent` of the live calls in its stead.
    """

    thresholds: Thresholds
    state: State
    reader: AnswersQuestion | None
    stored: Calibration | None = None
    shadow: Thresholds | None = None
    staged_percent: float = 0.0
    staged: bool = False

    @property
    def told(self) -> str:
        """What a journal says of the thresholds in its first line."""
        return "staged" if self.staged else self.state

    def of_call(self, call: str) -> Gating:
        """That of one call: where it is staged, what decides and its shadow change places."""
        if self.shadow is None or not is_staged(call, self.staged_percent):
            return self
        return replace(self, thresholds=self.shadow, shadow=self.thresholds, staged=True)


def shipped_gating(config: Config, corpus: Corpus, encoder: Encoder, reranker: Reranker) -> Gating:
    """As if there were no calibration. Raises ModelError when nothing is shipped for these models."""
    shipped = thresholds_for(reranker, encoder.id, weighs_examples(config, corpus))
    return Gating(shipped, "shipped", _reader(config, shipped))


def weighs_examples(config: Config, corpus: Corpus) -> bool:
    """Whether callers' questions are told and wanted."""
    return config.retrieval.examples and corpus.has_examples


def _reader(config: Config, thresholds: Thresholds) -> AnswersQuestion | None:
    """The answerability model, where the thresholds weigh it."""
    if thresholds["weight_answers"] <= 0.0:
        return None
    return Answerability(require(EMBEDDED_ENCODER), config.threads.encoder)


def gating_of(config: Config, corpus: Corpus, encoder: Encoder, reranker: Reranker) -> Gating:
    """What the index folder and the configuration say.

    Raises StoreError when a calibration was made for other models, and ConfigError when one of this knowledge base is
    required and there is none.
    """
    shipped = thresholds_for(reranker, encoder.id, weighs_examples(config, corpus))
    reader = _reader(config, shipped)
    made_for = reranker.id, reranker.scale, encoder.id, features_sha(shipped, reader.id if reader else "")
    stored = _read(config.paths.index / FILE, *made_for)
    thresholds, state = in_force(shipped, stored, corpus.sha)
    if config.gate.require_calibrated and state != "stored":
        what = "there is none" if stored is None else "the one there is was made for an older knowledge base"
        raise ConfigError(f"gate.require_calibrated: {what}; run voice-agent calibrate")
    if config.gate.shadow is None:
        return Gating(thresholds, state, reader, stored)
    beside = _read(config.gate.shadow, *made_for)
    if beside is None:
        raise ConfigError(
            f"gate.shadow: no calibration at {config.gate.shadow}; name a calibration.json or null"
        )
    candidate = {**shipped, **beside.thresholds}
    return Gating(thresholds, state, reader, stored, candidate, config.gate.staged_percent)


def _read(path: Path, reranker: str, scale: str, encoder: str, features: str) -> Calibration | None:
    found = load(path)
    if found is not None:
        check_fits(found, reranker, scale, encoder, features, path)
    return found
