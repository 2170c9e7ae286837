"""The sentence check with its model: measures how near a sentence is to the passage it cites; the rules then judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, Protocol

from retrieval.rerank import as_unit
from retrieval.surfaces import document_text
from retrieval.types import Passage, Verdict
from voice_agent.reply.basis import Basis, judge


class Relevance(Protocol):
    """A reranker as the check sees it."""

    @property
    def scale(self) -> Literal["logit", "unit"]: ...

    def scores(self, query: str, texts: Sequence[str]) -> list[float]: ...


@dataclass(frozen=True, slots=True)
class Beside:
    """The other sentences of the same answer, marks and all: those already given out, and those known to follow.

    Nothing is taken to follow unless it is given: a condition that may still come is a condition not said.
    """

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


ALONE = Beside()


class Checker:
    """Judges whole sentences. Blocking; a model that fails is a block, never a pass."""

    def __init__(self, model: Relevance, min_relevance: float) -> None:
        self._model = model
        self._min_relevance = min_relevance

    def check(
        self,
        sentence: str,
        question: str,
        evidence: Mapping[str, Passage],
        as_of: date,
        beside: Beside = ALONE,
    ) -> Verdict:
        """The verdict on one sentence with its marks. `evidence` maps S1… to passages."""
        return self.judge(sentence, question, evidence, as_of, beside)[0]

    def judge(
        self,
        sentence: str,
        question: str,
        evidence: Mapping[str, Passage],
        as_of: date,
        beside: Beside = ALONE,
    ) -> tuple[Verdict, Basis]:
        """The same with all that it rests on, for the journal."""
        basis = Basis(question, as_of, evidence, beside.before, beside.after, self._min_relevance)
        return judge(sentence, basis, self._relevance)

    def _relevance(self, text: str, passage: Passage) -> float:
        (score,) = self._model.scores(text, [document_text(passage)])
        return as_unit(score, self._model.scale)
