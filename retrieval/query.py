"""From a caller's words to a query: the canonical text, its search terms, and the codes that must not be missed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from retrieval.codes import find_codes
from retrieval.normalize import clean_query
from retrieval.terms import terms
from retrieval.types import Cut, Query

LEANING = 2.5
"""A question of 25 characters gives the turn before it a tenth of its own weight, one of 10 a quarter."""

MOST_LEANING = 0.3
"""Above it the earlier turn speaks louder than the question: measured on follow-up questions."""


_YES: Final = re.compile("(?:(?:好|行|可以|要|需要|是|对|没错|当然)[的啊呀吧]?[，, ]?)+")
_OFFER: Final = re.compile("[^。！？!?；;，,]*(?:(?:要不要|需不需要|是否)[^。！？!?]*|吗|[？?])[？?]?$")


def make_query(raw: str, history: Sequence[str] = (), cut: Cut = terms) -> Query:
    """`history` is what the last turn said, its question and its answer; it never brings codes that must be covered.

    A bare yes to what the last turn offered asks for that: 要的 after 要不要了解加急配送？ is the offer's own words.
    """
    text = clean_query(raw)
    if history and _YES.fullmatch(text):
        text = _offered(history[-1]) or text
    codes = tuple(dict.fromkeys(code.key for code in find_codes(text)))
    carried = tuple(said for said in map(clean_query, history) if said)
    return Query(raw=raw, text=text, terms=tuple(cut(text)), codes=codes, history=carried)


def _offered(answer: str) -> str:
    """The question that an answer ends with; empty if it ends with none."""
    offer = _OFFER.search(answer.strip())
    return clean_query(offer[0]) if offer else ""


def voices(query: Query) -> list[tuple[str, float]]:
    """The texts that are searched, each with its share; shares sum to 1.

    The question alone, or the question and what the last turn said. A short question leans more on that turn:
    多少钱 says nothing without it, and a full sentence needs little of it.
    """
    if not query.history:
        return [(query.text, 1.0)]
    weight = min(LEANING / max(len(query.text), 1), MOST_LEANING)
    return [(query.text, 1.0 / (1.0 + weight)), (" ".join(query.history), weight / (1.0 + weight))]
