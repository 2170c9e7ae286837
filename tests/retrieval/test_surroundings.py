"""Laws of what stands around a place."""

from __future__ import annotations

import pytest

from retrieval.readings import read_passage
from retrieval.surroundings import Likeness, surroundings

READING = read_passage("", "营业收入为15亿元，净利润为6亿元。")


def around(text: str, word: str) -> dict[str, float]:
    start = text.index(word)
    return dict(surroundings(text, start, start + len(word)))


def test_what_is_near_weighs_more() -> None:
    """The word beside a place before the one further off, and a stop halves what lies beyond it."""
    found = around("总收入是净利润为6元，其他", "6元")
    assert found["利润"] > found["收入"] > found["其他"]


def test_the_very_neighbours_are_told_by_their_side() -> None:
    """满200减30: 减 stands before the one and behind the other."""
    text = "满200减30"
    assert "<减" in around(text, "30")
    assert ">减" in around(text, "200")


def test_like_places_are_found_again() -> None:
    """净利润为 fits the figure of 净利润 better than that of 营业收入; itself it fits wholly."""
    here = Likeness(around("净利润为9元", "9元"), READING)
    text = READING.sentences[0].text
    assert here.to(around(text, "600000000元")) > here.to(around(text, "1500000000元"))
    same = around(text, "600000000元")
    assert Likeness(same, READING).to(same) == pytest.approx(1)
    assert Likeness({}, READING).to(same) == 0
