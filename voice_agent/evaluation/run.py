"""A whole evaluation: questions or recordings through a ready agent, and the one object that describes the outcome."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retrieval.domain_terms import DomainTerms
from retrieval.encoder import Encoder
from retrieval.rerank import Reranker, as_unit
from retrieval.terms import terms
from retrieval.types import Passage
from voice_agent.errors import InputError
from voice_agent.evaluation.answers import Relevance, answer_measures
from voice_agent.evaluation.gaps import gaps
from voice_agent.evaluation.measures import summary
from voice_agent.evaluation.questions import Question
from voice_agent.evaluation.recordings import Heard
from voice_agent.evaluation.rows import row
from voice_agent.evaluation.transcripts import heard_measures
from voice_agent.evaluation.walk import Result, walk
from voice_agent.reply.answer import Answers

Asking = tuple[Question, Heard | None]
"""A question, and how it was heard where it was recorded."""


ORDINARY = 200
"""Texts that show where the domain's questions lean; their mean has settled by then."""


@dataclass(frozen=True, slots=True)
class Yardsticks:
    """The parts of the agent that measure rather than answer."""

    passages: Sequence[Passage]
    encoder: Encoder
    reranker: Reranker

    def ordinary(self) -> list[str]:
        """Questions and titles of the corpus, evenly chosen: how this domain is asked about."""
        texts = [text for p in self.passages for text in (p.questions or (p.title,)) if text]
        return texts[:: max(len(texts) // ORDINARY, 1)][:ORDINARY]

    def relevance(self) -> Relevance:
        """Question against answer by the reranker, on its unit scale."""

        def measured(question: str, answer: str) -> float:
            (score,) = self.reranker.scores(question, [answer])
            return as_unit(score, self.reranker.scale)

        return measured


async def walk_all(asked: Iterable[Asking], answers: Answers) -> list[Result]:
    """One after the other: times are those of a single caller."""
    return [await walk(question, answers, heard) for question, heard in asked]


def described(results: Sequence[Result], yardsticks: Yardsticks) -> dict[str, Any]:
    """What `eval --json` writes: totals, answer layer, hearing where there were recordings, gaps, and a row a question.

    Raises ModelError.
    """
    relevance = yardsticks.relevance()
    heard = [result.heard for result in results if result.heard is not None]
    return {
        **summary(results),
        "answers": answer_measures(results, relevance, yardsticks.reranker.id),
        "asr": heard_measures(heard, DomainTerms(yardsticks.passages)) if heard else None,
        "gaps": gaps(results, yardsticks.encoder, terms, yardsticks.ordinary()),
        "rows": [row(result, relevance) for result in results],
    }


def load_run(path: Path) -> dict[str, Any]:
    """An earlier run as `eval --json` wrote it. Raises InputError."""
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
        run["all"]["search"], run["all"]["gate"]["false_accept"]["share"]
    except (OSError, UnicodeDecodeError) as e:
        raise InputError(f"{path}: cannot be read ({e}); give the output of an earlier eval --json") from e
    except (ValueError, KeyError, TypeError) as e:
        raise InputError(f"{path}: not an evaluation; give the output of an earlier eval --json") from e
    return dict(run)
