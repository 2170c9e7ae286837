"""Filters decide before ranking; collapse removes only what says nothing new."""

from __future__ import annotations

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from retrieval.filters import Filters, collapse
from retrieval.types import Evidence, Passage
from tests.retrieval.letters import passage

DAY = date(2026, 11, 30)
PASSAGES = (
    passage("old", "满99元包邮。", valid_to=date(2025, 12, 31), version="2025.1", tags=("运费",)),
    passage("now", "满79元包邮。", valid_from=date(2026, 1, 1), version="2026.1", tags=("运费", "包邮")),
    passage("open", "运费每单8元。"),
)


def test_validity_has_both_ends_inclusive_and_open_ends() -> None:
    """A passage is found on its first and its last day, not a day outside; without dates always."""
    filters = Filters(PASSAGES)
    first, last = date(2026, 1, 1), date(2025, 12, 31)
    assert filters.open_rows(DAY).tolist() == [False, True, True]
    assert filters.open_rows(last).tolist() == [True, False, True]
    assert filters.open_rows(first).tolist() == [False, True, True]
    assert filters.open_rows(last - timedelta(days=1)).tolist() == [True, False, True]


def test_tags_and_version_narrow() -> None:
    """Every tag must be there and the version must be this one."""
    filters = Filters(PASSAGES)
    assert filters.open_rows(DAY, tags=("运费",)).tolist() == [False, True, False]
    assert filters.open_rows(DAY, tags=("运费", "家电")).tolist() == [False, False, False]
    assert filters.open_rows(DAY, version="2026.1").tolist() == [False, True, False]
    assert filters.open_rows(DAY, version="").tolist() == [False, False, True]


def test_no_passages_no_rows() -> None:
    """An empty knowledge base filters to nothing without raising."""
    assert Filters(()).open_rows(DAY, tags=("x",), version="1").tolist() == []


def test_contained_text_under_one_title_collapses() -> None:
    """An overlapping chunk ranked below the one that holds it says nothing new; blanks do not matter."""
    long = Evidence(passage("a", "七天内可以退货。\n定制商品除外。", title="退货"))
    short = Evidence(passage("b", "定制商品除外。", title="退货"))
    assert [e.passage.id for e in collapse([long, short], 10)] == ["a"]


def test_a_longer_copy_below_stays_for_its_exception() -> None:
    """The longer text may hold the exception: it is kept although the shorter one ranks above it."""
    short = Evidence(passage("b", "七天内可以退货。", title="退货"))
    long = Evidence(passage("a", "七天内可以退货。定制商品除外。", title="退货"))
    assert [e.passage.id for e in collapse([short, long], 10)] == ["b", "a"]


def test_equal_texts_under_two_titles_are_two_facts() -> None:
    """X100 and X200 may share a sentence; dropping one would answer for the wrong product."""
    pair = [
        Evidence(passage("x1", "保修期12个月。", title="X100")),
        Evidence(passage("x2", "保修期12个月。", title="X200")),
    ]
    assert len(collapse(pair, 10)) == 2


def test_collapse_fills_the_list_with_what_remains() -> None:
    """The limit counts what is kept, not what was looked at."""
    one = Evidence(passage("a", "甲乙丙", title="t"))
    again = Evidence(passage("b", "乙丙", title="t"))
    other = Evidence(passage("c", "丁", title="t"))
    assert [e.passage.id for e in collapse([one, again, other], 2)] == ["a", "c"]


DAYS = st.one_of(st.none(), st.dates(date(2026, 1, 1), date(2026, 1, 9)))
MADE = st.builds(
    lambda start, end, tags, version: passage("p", "x", "", (), start, end, tags, version),
    DAYS,
    DAYS,
    st.lists(st.sampled_from("甲乙丙")).map(tuple),
    st.sampled_from(["", "1", "2"]),
)


@given(
    st.lists(MADE, max_size=8), st.sets(st.sampled_from("甲乙丙丁")), st.sampled_from([None, "", "1", "9"])
)
def test_rows_looked_up_are_those_a_look_at_each_finds(
    passages: list[Passage], tags: set[str], version: str | None
) -> None:
    """By date, tags and version together: the same rows as one passage after the other would give."""
    day = date(2026, 1, 5)
    open_rows = Filters(passages).open_rows(day, tags, version).tolist()
    assert open_rows == [
        p.valid_on(day) and tags <= set(p.tags) and version in (None, p.version) for p in passages
    ]
