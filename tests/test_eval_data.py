"""The evaluation questions: labels that hold in the knowledge base, and enough rows that are not its own wording."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from retrieval.corpus import load_corpus
from retrieval.types import Passage

DATA = Path(__file__).resolve().parent.parent / "data"
SPLITS = ("dev", "test")
ANSWERABLE = ("plain", "colloquial", "code_lookalike", "misheard", "expired_policy", "multi_turn")

MAX_SHARED = 0.6
"""A row sharing more of its bigrams with an indexed question tests the index, not the search, and does not count."""


@cache
def passages() -> dict[str, Passage]:
    return {passage.id: passage for passage in load_corpus(DATA / "kb").passages}


@cache
def rows(split: str) -> tuple[dict[str, Any], ...]:
    text = (DATA / "eval" / f"{split}.jsonl").read_text(encoding="utf-8")
    return tuple(json.loads(line) for line in text.splitlines())


def every_row() -> list[dict[str, Any]]:
    return [row for split in SPLITS for row in rows(split)]


def bigrams(text: str) -> frozenset[str]:
    kept = "".join(char for char in text.lower() if char.isalnum())
    return frozenset(kept[at : at + 2] for at in range(len(kept) - 1))


@cache
def indexed() -> tuple[frozenset[str], ...]:
    return tuple(bigrams(question) for passage in passages().values() for question in passage.questions)


def in_own_words(row: dict[str, Any]) -> bool:
    asked = bigrams(row["question"])
    return all(len(asked & known) <= MAX_SHARED * len(asked) for known in indexed())


def test_expected_passages_exist_and_hold_on_the_day_of_the_call() -> None:
    """Every expected id is a passage of the knowledge base, valid on the row's as_of."""
    wrong = [
        (row["id"], ident)
        for row in every_row()
        for ident in row["expect"]
        if ident not in passages() or not passages()[ident].valid_on(date.fromisoformat(row["as_of"]))
    ]
    assert wrong == []


def test_no_expected_passage_belongs_to_a_human() -> None:
    """No row expects an answer from a must_handoff passage."""
    wrong = [
        (row["id"], ident)
        for row in every_row()
        for ident in row["expect"]
        if ident in passages() and passages()[ident].must_handoff
    ]
    assert wrong == []


@pytest.mark.parametrize("split", SPLITS)
def test_each_split_has_enough_rows_in_their_own_words(split: str) -> None:
    """A split has 40 rows of each answerable kind and 160 to refuse that are not worded like the index."""
    counted = [row for row in rows(split) if in_own_words(row)]
    answered = Counter(row["kind"] for row in counted if not row["must_refuse"])
    few = {kind: answered[kind] for kind in ANSWERABLE if answered[kind] < 40}
    assert few == {}
    assert sum(row["must_refuse"] for row in counted) >= 160


def test_both_splits_together_have_enough_rows() -> None:
    """Over both splits, at least 800 rows are not worded like the index."""
    assert sum(in_own_words(row) for row in every_row()) >= 800


@pytest.mark.parametrize("split", SPLITS)
def test_ids_carry_their_split(split: str) -> None:
    """An id starts with the name of its file, so that a result line tells where it came from."""
    assert [row["id"] for row in rows(split) if not row["id"].startswith(f"{split}-")] == []


def test_ids_are_unique_over_both_splits() -> None:
    """No id stands twice, in one file or over both."""
    assert [ident for ident, n in Counter(row["id"] for row in every_row()).items() if n > 1] == []


def test_questions_are_unique_over_both_splits() -> None:
    """No question stands twice, so that nothing tuned on dev is met again in test."""
    assert [text for text, n in Counter(row["question"] for row in every_row()).items() if n > 1] == []
