"""Which terms the recogniser's prompt holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.hot_words import HotWords, choose_hot_words, spoken_hot_words


@pytest.mark.parametrize(
    ("terms", "max_terms", "max_tokens", "used", "cut"),
    [
        (["退款", "换货", "运费"], 10, 6, ("退款", "换货", "运费"), ()),
        (["退款", "换货", "运费"], 2, 99, ("退款", "换货"), ("运费",)),
        (["退款", "update_address", "货"], 10, 5, ("退款",), ("update_address", "货")),
        (["RTX", "rtx", " RTX "], 10, 9, ("RTX",), ()),
        (["", "  ", "退款"], 10, 9, ("退款",), ()),
        (["退款"], 10, 1, (), ("退款",)),
        ([], 10, 10, (), ()),
    ],
)
def test_the_worthiest_that_fit_are_used(
    terms: list[str], max_terms: int, max_tokens: int, used: tuple[str, ...], cut: tuple[str, ...]
) -> None:
    """In the order given, each once whatever its case; the first that does not fit ends the list."""
    assert choose_hot_words(terms, len, max_terms=max_terms, max_tokens=max_tokens) == HotWords(used, cut)


@given(st.lists(st.text("退款aA ", max_size=4), max_size=12), st.integers(0, 12), st.integers(0, 20))
def test_nothing_is_lost_and_no_bound_is_passed(terms: list[str], most: int, tokens: int) -> None:
    """Used and cut together are the distinct terms in their order; both bounds hold."""
    chosen = choose_hot_words(terms, len, max_terms=most, max_tokens=tokens)
    distinct = list({term.strip().casefold(): None for term in terms if term.strip()})
    assert [term.casefold() for term in chosen.used + chosen.cut] == distinct
    assert len(chosen.used) <= most
    assert sum(map(len, chosen.used)) <= tokens


def test_spoken_ones_are_found_whatever_their_case() -> None:
    """The list's spelling and order are reported, not the text's."""
    assert spoken_hot_words("galaxy 的退款", ("退款", "换货", "Galaxy")) == ("退款", "Galaxy")
