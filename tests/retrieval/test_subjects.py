"""Which passages are about a thing and nothing beside it."""

from __future__ import annotations

from retrieval.subjects import Subjects
from tests.retrieval.letters import passage

PASSAGES = (
    passage("credit", "信用卡退款在5到10个工作日内到账。", title="信用卡退款时效"),
    passage("debit", "储蓄卡退款在3到5个工作日内到账，信用卡另见。", title="储蓄卡退款时效"),
    passage("both", "两种卡的退款都在10天内到账。", title="信用卡和储蓄卡退款"),
    passage("credit-more", "信用卡退款要5天，储蓄卡要3天。", title="信用卡退款说明"),
    passage("untitled", "信用卡可以分期。"),
    passage("err", "请重新登录。", title="错误代码ERR_2048"),
)
SUBJECTS = Subjects(PASSAGES)


def about(*things: str, wanted: str = "") -> list[str]:
    rows = SUBJECTS.only_about(things, wanted)
    return [p.id for p, row in zip(PASSAGES, rows, strict=True) if row]


def test_a_title_that_names_the_thing_alone_is_about_it() -> None:
    """A mention in the text, a neighbour in the title or no title at all is not enough."""
    assert about("信用卡") == ["credit", "credit-more"]


def test_a_passage_that_also_speaks_of_what_is_wanted_stays() -> None:
    """A but not B: B's passage that gives A's figure beside its own is about both."""
    assert about("信用卡", wanted="储蓄卡退款") == ["credit"]


def test_a_kind_is_not_saved_by_the_genus_it_belongs_to() -> None:
    """退款但不是信用卡: that the credit card's passage speaks of refunds does not make it about another."""
    assert about("信用卡", wanted="退款") == ["credit", "credit-more"]


def test_figures_and_letters_are_named_whole() -> None:
    """48 is no part of 2048, and nothing is named by blanks."""
    assert about("2048") == ["err"] and about("48") == [] and about("err") == ["err"]
    assert about(" ") == [] and about("没有的东西") == []


def test_no_passages() -> None:
    """An empty knowledge base is about nothing."""
    assert Subjects(()).only_about(("信用卡",)).tolist() == []


def test_width_script_and_case_of_a_title_do_not_matter() -> None:
    """A title is compared as a question is: narrow, Simplified, in one case."""
    odd = Subjects((passage("a", "甲", "音响Ｘ２００"), passage("b", "乙", "電子發票")))
    assert odd.only_about(("x200",)).tolist() == [True, False]
    assert odd.only_about(("电子发票",)).tolist() == [False, True]
