"""From a caller's words to a query: the canonical text, its search terms, and the codes that must not be missed."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.codes import find_codes
from retrieval.normalize import clean_query
from retrieval.terms import terms
from retrieval.types import Cut, Query

LEANING = 2.5
"""A question of 25 characters gives the turn before it a tenth of its own weight, one of 10 a quarter."""

MOST_LEANING = 0.3
"""Above it the earlier turn speaks louder than the question: measured on follow-up questions."""


def make_query(raw: str, history: Sequence[str] = (), cut: Cut = terms) -> Query:
    """`history` is what the last turn said, its question and its answer; it never brings codes that must be covered."""
    text = clean_query(raw)
    codes = tuple(dict.fromkeys(code.key for code in find_codes(text)))
    carried = tuple(said for said in map(clean_query, history) if said)
    return Query(raw=raw, text=text, terms=tuple(cut(text)), codes=codes, history=carried)


def voices(query: Query) -> list[tuple[str, float]]:
    """The texts that are searched, each with its share; shares sum to 1.

    The question alone, or the question and what the last turn said. A short question leans more on that turn:
    多少钱 says nothing without it, and a full sentence needs little of it.
    """
    if not query.history:
        return [(query.text, 1.0)]
    weight = min(LEANING / max(len(query.text), 1), MOST_LEANING)
    return [(query.text, 1.0 / (1.0 + weight)), (" ".join(query.history), weight / (1.0 + weight))]
