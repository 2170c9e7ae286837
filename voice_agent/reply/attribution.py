"""A sentence without a mark: which passage carries it? Pure; only one that passes the whole check with it does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from retrieval.types import Verdict, VerdictReason

Examine = Callable[[str], Verdict]
"""The whole check of a sentence with its marks."""


def attributed(
    sentence: str, unmarked: Verdict, marks: Iterable[str], examine: Examine
) -> tuple[str, Verdict]:
    """The sentence with the mark of the first passage that carries it, and that verdict.

    If none does, but one would with its condition, then with that one's, for the condition may yet be said. Else the
    sentence and its verdict stay as they were, with each passage's reason in the detail.
    """
    tried, waiting = [], None
    for mark in marks:
        marked = f"{sentence.rstrip()}[{mark}]"
        verdict = examine(marked)
        if verdict.passed and verdict.cited:
            return marked, verdict
        if verdict.reason is VerdictReason.SCOPE_DROPPED:
            waiting = waiting or (marked, verdict)
        tried.append(f"{mark} {verdict.reason}")
    return waiting or (sentence, replace(unmarked, detail=f"{unmarked.detail}; {', '.join(tried)}"))


def lacks_a_mark(verdict: Verdict) -> bool:
    """Was there nothing wrong but that no passage is named? A wrong mark is not a missing one."""
    return verdict.reason is VerdictReason.NO_CITE
