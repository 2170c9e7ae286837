"""Training pairs: labelled questions, passages a question is near but not about, and what style alone gives away."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import numpy as np

from retrieval.types import Found, Passage
from voice_agent.evaluation.questions import Question
from voice_agent.reply.answer import Answerer, Asked

OWN_WEIGHT, NEAR_WEIGHT = 1.0, 0.7
NEAR_PASSAGES = 3
"""A wrong passage is one of the first three that the search finds: a random one would teach nothing."""

FOR_A_PERSON = "must_handoff"
"""The kind of question whose passage a person reads: no document is to answer it, so it teaches nothing."""

FOLDS = 5


@dataclass(frozen=True, slots=True)
class Pair:
    """A question, a passage by its id, whether it answers, and how much the pair counts. `style` is how far the
    question's wording alone speaks for an answer (a logit): what training must not learn.
    """

    question: str
    passage: str
    answers: bool
    weight: float = OWN_WEIGHT
    style: float = 0.0


def labelled(path: Path, passages: Mapping[str, Passage]) -> list[Pair]:
    """Rows {"passage", "question", "answers"}. Raises SystemExit naming the line."""
    pairs = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            row = json.loads(line)
            pair = Pair(row["question"], row["passage"], bool(row["answers"]))
        except (ValueError, KeyError, TypeError) as e:
            raise SystemExit(f"{path}:{number}: {e!r}; see data/schemas/answerability.json") from e
        if pair.passage not in passages:
            raise SystemExit(f"{path}:{number}: no passage {pair.passage} in the knowledge base")
        pairs.append(pair)
    return pairs


def own_questions(passages: Sequence[Passage]) -> list[Pair]:
    """The questions that entries list themselves."""
    return [Pair(question, p.id, True, NEAR_WEIGHT) for p in passages for question in p.questions]


def near_misses(pairs: Iterable[Pair], answerer: Answerer, day: date, dice: random.Random) -> Iterator[Pair]:
    """For each answered question a passage the search finds for it that is about something else, so that a question's
    style is seen with both labels. Editions of one rule are not told apart: they may both answer.
    """
    titles = {p.id: _edition_free(p.title) for p in answerer.searcher.passages}
    for pair in pairs:
        if pair.answers or dice.random() < 0.15:
            found = answerer.look(Asked(pair.question, day)).found
            others = [e.passage.id for e in found.evidence if titles[e.passage.id] != titles[pair.passage]]
            if others:
                yield Pair(pair.question, dice.choice(others[:NEAR_PASSAGES]), False, NEAR_WEIGHT)


def asked(questions: Iterable[Question], answerer: Answerer) -> Iterator[Pair]:
    """Evaluation questions with the passages that answer them, and with those that the search finds and that do not:
    just what the gate will have to tell apart. Not to be judged by these questions afterwards.
    """
    titles = {p.id: _edition_free(p.title) for p in answerer.searcher.passages}
    for question in questions:
        if question.kind == FOR_A_PERSON:
            continue
        found = answerer.look(question.asked).found
        words = _as_read(found)
        right = [one for one in question.expect if one in titles]
        yield from (Pair(words, one, True) for one in right)
        about = {titles[one] for one in right}
        for evidence in found.evidence[:NEAR_PASSAGES]:
            if titles[evidence.passage.id] not in about:
                yield Pair(words, evidence.passage.id, False, NEAR_WEIGHT if right else OWN_WEIGHT)


def _as_read(found: Found) -> str:
    """The question as the gate has it read: behind the earlier one that it leans on."""
    return "，".join((*found.query.history[:1], found.query.text))


def with_style(pairs: Sequence[Pair], seed: int) -> list[Pair]:
    """Each pair with what its question's wording gives away, told by a model of character pairs that never saw the
    pair's own passage: trained on four fifths of the passages, asked about the fifth.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold

    words = TfidfVectorizer(analyzer="char", ngram_range=(1, 3), min_df=2, sublinear_tf=True)
    seen = words.fit_transform([re.sub(r"\d", "0", pair.question) for pair in pairs])
    labels = np.array([pair.answers for pair in pairs])
    style = np.zeros(len(pairs))
    for rows, rest in GroupKFold(FOLDS, shuffle=True, random_state=seed).split(
        seen, labels, [pair.passage for pair in pairs]
    ):
        judge = LogisticRegression(C=2.0, max_iter=300).fit(seen[rows], labels[rows])
        style[rest] = judge.decision_function(seen[rest])
    return [replace(pair, style=float(value)) for pair, value in zip(pairs, style, strict=True)]


def _edition_free(title: str) -> str:
    return re.sub(r"[（(].*|20\d\d.*", "", title)
