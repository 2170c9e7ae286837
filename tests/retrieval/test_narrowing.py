"""Conditions become open rows before anything is ranked, and are lifted, never silently, when nothing is left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

import pytest

from retrieval.conditions import Conditions, conditions_of
from retrieval.filters import Filters
from retrieval.index import build_index
from retrieval.narrowing import Narrowing, same_subject
from retrieval.rerank import LateInteraction
from retrieval.search import Searcher, make_query
from retrieval.types import Found, Passage
from tests.retrieval.letters import LetterEncoder, corpus, passage

TODAY = date(2026, 11, 30)
OLDEST = passage(
    "ship-2024", "满129元包邮。", "包邮门槛", valid_from=date(2024, 1, 1), valid_to=date(2024, 12, 31)
)
OLD = passage(
    "ship-2025", "满99元包邮。", "包邮门槛", valid_from=date(2025, 1, 1), valid_to=date(2025, 12, 31),
    tags=("运费",), version="2025.1",
)  # fmt: skip
NEW = passage("ship-2026", "满79元包邮。", "包邮门槛", valid_from=date(2026, 1, 1), version="2026.1")
JAPAN = passage(
    "japan", "日本漫游日包每天28元。", "日本漫游日包", valid_from=date(2026, 1, 1), version="2026.1"
)
USA = passage("usa", "美国漫游日包每天30元。", "美国漫游日包")
REPORT = passage("report", "营业厅共有80家。", "2024年度网点报告")
PASSAGES = (OLDEST, OLD, NEW, JAPAN, USA, REPORT)


def rows(conditions: Conditions, passages: Sequence[Passage] = PASSAGES) -> list[str]:
    opened = Narrowing(passages, Filters(passages)).open(conditions, TODAY)
    return [p.id for p, row in zip(passages, opened.rows, strict=True) if row]


def test_without_conditions_the_day_decides_alone() -> None:
    """What is valid on the day, as ever."""
    assert rows(Conditions(TODAY)) == ["ship-2026", "japan", "usa", "report"]


def test_a_period_leaves_out_what_is_known_to_be_of_another() -> None:
    """Validity and the years in a title are both asked; a passage without either stays open."""
    assert rows(Conditions(date(2025, 6, 1), since=date(2025, 1, 1), until=date(2025, 12, 31))) == [
        "ship-2025",
        "usa",
    ]
    assert rows(Conditions(date(2024, 12, 31), since=date(2024, 12, 31))) == ["ship-2024", "usa", "report"]
    assert rows(Conditions(TODAY, until=date(2024, 1, 1))) == ["usa", "report"]


def test_a_range_of_beginnings_asks_when_a_rule_began_to_hold() -> None:
    """2026年之后出台的: what still holds but began before is left out, what has no date is not."""
    assert rows(Conditions(TODAY, since=date(2026, 1, 1), effective=True)) == ["ship-2026", "japan", "usa"]
    assert rows(Conditions(TODAY, since=date(2026, 1, 2), effective=True)) == ["usa"]


def test_the_edition_before_is_the_last_that_ended_under_a_title_that_still_holds() -> None:
    """Not the one before that, and nothing of titles that had only one edition."""
    assert rows(Conditions(TODAY, previous=True)) == ["ship-2025"]
    assert rows(Conditions(TODAY, previous=True, tags=("运费",), version="2025.1")) == ["ship-2025"]
    assert rows(Conditions(TODAY, previous=True, version="2026.1")) == []
    assert rows(Conditions(TODAY, previous=True), (OLD, JAPAN)) == []


def test_a_version_heard_leaves_open_what_has_none_and_one_set_does_not() -> None:
    """A caller who names his firmware may ask for what holds for every one."""
    assert rows(Conditions(TODAY, version="2026.1")) == ["ship-2026", "japan"]
    assert rows(Conditions(TODAY, version="2026.1", heard=("version",))) == [
        "ship-2026", "japan", "usa", "report",
    ]  # fmt: skip
    assert "japan" not in rows(Conditions(TODAY, version="2025.1", heard=("version",)))


def test_what_is_not_meant_is_left_out() -> None:
    """Passages about that thing alone."""
    assert rows(Conditions(TODAY, without=("日本",))) == ["ship-2026", "usa", "report"]


def test_conditions_heard_that_leave_nothing_are_lifted_by_name_and_those_set_are_not() -> None:
    """A word never empties a search in silence; a program that asks for nothing gets nothing."""
    narrowing = Narrowing((NEW,), Filters((NEW,)))
    heard = conditions_of("去年的包邮门槛", TODAY)
    opened = narrowing.open(heard, TODAY)
    assert opened.rows.tolist() == [True] and opened.lifted == ("as_of", "since", "until")
    assert opened.conditions == Conditions(TODAY)
    strict = narrowing.open(Conditions(TODAY, tags=("没有",)), TODAY)
    assert strict.rows.tolist() == [False] and strict.lifted == ()
    both = narrowing.open(conditions_of("去年的门槛", TODAY, (), Conditions(TODAY, tags=("没有",))), TODAY)
    assert both.rows.tolist() == [False] and both.conditions.tags == ("没有",)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("包邮门槛", "包邮门槛", True),
        ("2024年退货政策", "2025年退货政策", True),
        ("固件V2.3.1", "固件V2.3.7", True),
        ("日本漫游日包", "美国漫游日包", False),
        ("", "", False),
        ("2024年", "2025年", False),
    ],
)
def test_editions_share_a_title_but_for_years_and_versions(one: str, other: str, same: bool) -> None:
    """Without a title two passages are of one subject only if they are one."""
    assert same_subject(passage("a", "甲", one), passage("b", "乙", other)) is same
    assert same_subject(passage("a", "甲", one), passage("a", "甲", other))


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    encoder = LetterEncoder()
    index = build_index(tmp_path_factory.mktemp("index"), corpus(*PASSAGES), encoder)
    with Searcher(index, encoder, LateInteraction(encoder, index.tokens)) as searcher:
        yield searcher


def find(searcher: Searcher, question: str) -> Found:
    conditions = conditions_of(question, TODAY, searcher.narrowing.versions)
    return searcher.search(make_query(question), TODAY, conditions=conditions)


@pytest.mark.parametrize(
    ("question", "first", "day"),
    [
        ("包邮门槛是多少", "ship-2026", TODAY),
        ("去年的包邮门槛是多少", "ship-2025", date(2025, 12, 31)),
        ("前年的包邮门槛是多少", "ship-2024", date(2024, 12, 31)),
        ("上个版本的包邮门槛", "ship-2025", date(2025, 12, 31)),
        ("2025.1版的包邮门槛是多少", "ship-2026", TODAY),
    ],
)
def test_a_search_answers_for_the_day_that_was_asked(
    searcher: Searcher, question: str, first: str, day: date
) -> None:
    """What was valid then leads, and the day stands in what was found, for the sentence check to hold it against."""
    found = find(searcher, question)
    assert (found.evidence[0].passage.id, found.as_of) == (first, day)
    assert found.evidence[0].passage.valid_on(day)
    assert found.lifted == (("version",) if "版的" in question and "上个" not in question else ())


def test_a_neighbour_never_answers_for_a_period_its_subject_has_nothing_of(searcher: Searcher) -> None:
    """The Japanese pack began in 2026: asked for 2024 the American one, undated, would be all that is left."""
    found = find(searcher, "前年的日本漫游日包价格")
    assert found.lifted == ("as_of", "since", "until")
    assert (found.evidence[0].passage.id, found.as_of) == ("japan", TODAY)


def test_a_neighbour_never_answers_for_an_edition_its_subject_never_had(searcher: Searcher) -> None:
    """The pack has no earlier edition; the shipping rule's must not stand in for it."""
    found = find(searcher, "上个版本的日本漫游日包价格")
    assert found.lifted == ("previous",) and found.evidence[0].passage.id == "japan"


def test_what_is_not_meant_is_in_no_ranking(searcher: Searcher) -> None:
    """Left out before ranking, so that it takes no place among the candidates."""
    found = find(searcher, "除了日本，漫游日包每天多少钱")
    assert found.evidence[0].passage.id == "usa" and found.lifted == ()
    assert all("japan" not in dict(ranking) for ranking in found.rankings.values())
