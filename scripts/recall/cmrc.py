"""CMRC 2018 as a knowledge base: its paragraphs are entries, its questions have one right paragraph each."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from retrieval.filters import Filters, OpenRows
from retrieval.index import Index
from retrieval.types import Passage
from voice_agent.evaluation.questions import Question
from voice_agent.reply.answer import Asked

AS_OF = date(2026, 11, 30)
SEED = 20261130


@dataclass(frozen=True)
class Paragraph:
    """One paragraph with its questions (id, words)."""

    id: str
    title: str
    text: str
    questions: tuple[tuple[str, str], ...]


def paragraphs(path: Path, count: int | None) -> list[Paragraph]:
    """A seeded choice of `count` paragraphs in the file's order; all of them when None. Exits when there is no file."""
    if not path.is_file():
        raise SystemExit(f"{path}: not there; give the folder of cmrc2018_dev.json with --data")
    rows = json.loads(path.read_text(encoding="utf-8"))["data"]
    found = [_paragraph(article["title"], p) for article in rows for p in article["paragraphs"]]
    if count is not None and count < len(found):
        chosen = sorted(random.Random(SEED).sample(range(len(found)), count))
        found = [found[i] for i in chosen]
    return found


def _paragraph(title: str, row: dict[str, Any]) -> Paragraph:
    questions = tuple((qa["id"], qa["question"].strip()) for qa in row["qas"])
    return Paragraph(row["id"], title, row["context"], questions)


def write_kb(folder: Path, chosen: Sequence[Paragraph]) -> Path:
    """The paragraphs as one JSON-lines file of entries; returns the folder that `paths.kb` takes."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"id": p.id, "title": p.title, "text": p.text}, ensure_ascii=False) for p in chosen]
    (folder / "cmrc.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def sampled_questions(
    chosen: Sequence[Paragraph], count: int | None, longest: int | None = None
) -> list[tuple[str, str, str]]:
    """(question id, words, paragraph id), a seeded choice of those with at most `longest` characters."""
    every = [
        (ident, words, p.id)
        for p in chosen
        for ident, words in p.questions
        if longest is None or len(words) <= longest
    ]
    return random.Random(SEED).sample(every, len(every))[
        :count
    ]  # a larger count adds, and changes nothing else


def question(ident: str, words: str, expect: Sequence[str], confidence: float | None = None) -> Question:
    """A labelled question; without an expected passage it must be refused."""
    return Question(ident, "cmrc", Asked(words, AS_OF, (), confidence), tuple(expect), not expect)


def passages_of(paragraph: str, passages: Sequence[Passage]) -> tuple[str, ...]:
    """The passages that a paragraph became: itself, or its parts where the corpus was cut."""
    return tuple(p.id for p in passages if p.id == paragraph or p.id.startswith(f"{paragraph}#"))


@contextmanager
def without(gone: Sequence[str], index: Index) -> Iterator[None]:
    """Closes passages to every search inside the block: neither channel nor code nor reranker sees them.

    It stands in front of `Filters.open_rows`, through which every searcher learns which rows are open. That nothing
    came back all the same is for the caller to assert.
    """
    closed = frozenset(gone)
    rows = np.array([pid not in closed for pid in index.ids])
    real = Filters.open_rows

    def open_rows(self: Filters, *args: Any, **more: Any) -> OpenRows:
        return real(self, *args, **more) & rows

    Filters.open_rows = open_rows  # type: ignore[method-assign]
    try:
        yield
    finally:
        Filters.open_rows = real  # type: ignore[method-assign]
