"""The hand-written sentences of the guard: enough of them, about passages that are there, and judged as labelled."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from retrieval.citations import CheckRules, check
from retrieval.corpus import load_corpus
from retrieval.normalize import canonical
from retrieval.types import Passage, PassageId

DATA = Path(__file__).resolve().parent.parent / "data"
DAY = date(2026, 11, 30)
WHOLE = CheckRules(after=())


@cache
def rows() -> tuple[dict[str, Any], ...]:
    text = (DATA / "eval" / "guard_cases.jsonl").read_text(encoding="utf-8")
    return tuple(json.loads(line) for line in text.splitlines())


@cache
def passages() -> dict[PassageId, Passage]:
    return {passage.id: passage for passage in load_corpus(DATA / "kb").passages}


def decided_rightly(row: dict[str, Any]) -> bool:
    evidence = {"S1": passages()[row["passage"]]}
    verdict = check(f"{row['sentence']}[S1]", row.get("question", ""), evidence, DAY, None, WHOLE)
    return verdict.passed is row["faithful"]


def share(wanted: list[dict[str, Any]]) -> float:
    return sum(map(decided_rightly, wanted)) / len(wanted)


def test_there_are_enough_of_either_kind() -> None:
    """At least 200 faithful sentences and 100 unfaithful ones, every id once, no sentence twice for one passage."""
    assert sum(row["faithful"] for row in rows()) >= 200
    assert sum(not row["faithful"] for row in rows()) >= 100
    assert max(Counter(row["id"] for row in rows()).values()) == 1
    assert (
        max(Counter((row["passage"], row["sentence"], row.get("question")) for row in rows()).values()) == 1
    )


def test_each_is_about_a_passage_that_holds_today() -> None:
    """The cited passage exists and is valid."""
    assert [row["id"] for row in rows() if not passages()[row["passage"]].valid_on(DAY)] == []


def test_faithful_ones_are_in_other_words() -> None:
    """None stands in its passage as it is."""
    copied = [
        row["id"]
        for row in rows()
        if row["faithful"]
        and canonical(row["sentence"]).rstrip("。") in canonical(passages()[row["passage"]].text)
    ]
    assert copied == []


def test_faithful_sentences_pass() -> None:
    """At least nine in ten, on the half that no rule was made for as well."""
    for split in ("dev", "test"):
        assert share([row for row in rows() if row["faithful"] and row["split"] == split]) >= 0.9


def test_unfaithful_sentences_are_blocked() -> None:
    """At least 95 in 100, on the half that no rule was made for as well."""
    for split in ("dev", "test"):
        assert share([row for row in rows() if not row["faithful"] and row["split"] == split]) >= 0.95
