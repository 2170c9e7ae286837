"""Answers without a language model: one or two sentences of the best passage, word for word, with their mark."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Protocol

from retrieval.sentences import split_sentences, with_condition
from retrieval.types import Evidence
from voice_agent.reply.answer import Run

LEAD_BONUS = 0.05
"""On the reranker's unit scale: entries answer in their first sentence, so it wins unless another is clearly nearer."""


class Scorer(Protocol):
    """How well each text answers the question, higher is better, one scale."""

    def scores(self, query: str, texts: Sequence[str]) -> list[float]: ...


class Extractive:
    """Chooses the sentence nearest to the question and takes along the one that holds its condition or exception."""

    id = "extractive"

    def __init__(self, scorer: Scorer, run: Run, max_sentences: int) -> None:
        self._scorer = scorer
        self._run = run
        self._max_sentences = max_sentences

    async def stream(self, question: str, evidence: Mapping[str, Evidence]) -> AsyncGenerator[str, None]:
        """One piece a sentence."""
        mark, best = next(iter(evidence.items()))
        sentences = split_sentences(best.passage.text)
        for i in await self._run(self.choose, question, sentences):
            yield f"{sentences[i].rstrip()}[{mark}]"

    def choose(self, question: str, sentences: Sequence[str]) -> list[int]:
        """Indexes of the sentences to speak, in the passage's order."""
        scores = self._scorer.scores(question, sentences)
        ranked = [score + LEAD_BONUS * (i == 0) for i, score in enumerate(scores)]
        best = max(range(len(sentences)), key=lambda i: (ranked[i], -i))
        chosen = {best, *with_condition(sentences, best)}
        if len(chosen) > self._max_sentences:
            nearest = sorted(chosen, key=lambda i: (abs(i - best), i))
            chosen = set(nearest[: self._max_sentences])
        elif best + 1 < len(sentences):
            more = chosen | {best + 1, *with_condition(sentences, best + 1)}
            chosen = more if len(more) <= self._max_sentences else chosen
        return sorted(chosen)
