"""Which passages an answer may be written from: no more than it needs, and the best always."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from retrieval.citable import Citable
from retrieval.code_book import CodeBook
from retrieval.query import make_query
from retrieval.types import Evidence, Found, Passage, PassageId

SPEAKER = Passage(PassageId("x200"), "X200连不上网时，请长按顶部按键5秒重新配网。", "音箱X200联网")
ROUTER = Passage(PassageId("router"), "路由器恢复出厂设置须按住复位孔10秒。", "路由器恢复出厂")
OTHER = Passage(PassageId("x300"), "X300连不上网时，请断电重启。", "音箱X300联网")
ALL = (SPEAKER, ROUTER, OTHER)


def cited(
    question: str, scores: Sequence[float | None], *, passages: Sequence[Passage] = ALL, lead: float = 0.05
) -> list[str]:
    evidence = tuple(Evidence(p, rerank=score) for p, score in zip(passages, scores, strict=True))
    found = Found(make_query(question), {}, [], evidence, searched=len(passages))
    return [one.passage.id for one in Citable(CodeBook(ALL), "unit", lead=lead)(found)]


def test_a_clear_best_stands_alone() -> None:
    """What lies before a model is read from: a passage well behind the best is not shown."""
    assert cited("音箱连不上网", [0.9, 0.8, 0.7]) == ["x200"]


def test_rivals_are_all_shown() -> None:
    """Less than the lead behind, either may be the right one; exactly the lead is behind."""
    assert cited("音箱连不上网", [0.75, 0.625, 0.5], lead=0.25) == ["x200", "router"]
    assert cited("音箱连不上网", [0.9, 0.89, 0.88]) == ["x200", "router", "x300"]


def test_a_better_score_further_down_is_near() -> None:
    """The final order blends channels: one behind the best may be nearer by the reranker alone."""
    assert cited("音箱连不上网", [0.8, 0.9, 0.7]) == ["x200", "router"]


@pytest.mark.parametrize("question", ["X200换了路由器连不上了", "音响 X 200 换了路由连不上了"])
def test_where_a_code_is_asked_only_its_passages(question: str) -> None:
    """As near as they may be: another model's passage, and one of no model, are about something else."""
    assert cited(question, [0.9, 0.9, 0.9]) == ["x200"]


def test_a_code_nobody_holds_leaves_out_nobody() -> None:
    """The gate refuses it; what is shown then is for the record."""
    assert len(cited("X999连不上网", [0.9, 0.9, 0.9])) == 3


def test_without_scores_nothing_is_left_out() -> None:
    """A reranker that is down leaves the fused order, and no margin to go by."""
    assert len(cited("音箱连不上网", [None, None, None])) == 3


def test_logits_are_measured_by_tens() -> None:
    """Their sigmoids would be one and the same: 13 and 9 are far apart."""
    evidence = tuple(Evidence(p, rerank=score) for p, score in zip(ALL, (13.0, 12.8, 9.0), strict=True))
    found = Found(make_query("音箱连不上网"), {}, [], evidence, searched=3)
    assert [one.passage.id for one in Citable(CodeBook(ALL), "logit")(found)] == ["x200", "router"]


def test_nothing_found_nothing_cited() -> None:
    """And never more than `most`."""
    assert cited("音箱", [], passages=()) == []
    evidence = tuple(Evidence(p) for p in ALL)
    found = Found(make_query("音箱"), {}, [], evidence, searched=3)
    assert len(Citable(CodeBook(ALL), "unit", most=2)(found)) == 2
