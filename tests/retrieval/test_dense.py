"""Meaning search: the best surface speaks for its passage."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from retrieval.dense import Dense
from retrieval.errors import ModelError
from retrieval.query import make_query
from retrieval.surfaces import dense_surfaces
from retrieval.types import Passage, Query
from retrieval.vectors import Vectors
from tests.retrieval.letters import LetterEncoder, passage

PASSAGES = (
    passage("router", "路由器状态灯说明", questions=("指示灯不亮怎么处理",)),
    passage("refund", "审核通过后原路退回", title="退款", questions=("钱什么时候退", "退款到账要几天")),
    passage("coupon", "优惠券使用规则"),
)


def dense(passages: Sequence[Passage] = PASSAGES, encoder: LetterEncoder | None = None) -> Dense:
    encoder = encoder or LetterEncoder()
    surfaces = [dense_surfaces(p) for p in passages]
    texts = [text for own in surfaces for text in own]
    vectors = encoder.passages(texts) if texts else np.zeros((0, encoder.dim), dtype=np.float32)
    starts = np.cumsum([0, *map(len, surfaces)], dtype=np.int64)
    return Dense(encoder, [p.id for p in passages], vectors, starts)


def every(count: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.ones(count, dtype=np.bool_)


def test_a_question_of_the_passage_finds_it() -> None:
    """The passage's score is that of its nearest surface, here one of its questions word for word."""
    ranking = dense().rank(make_query("退款到账要几天"), 3, every(3))
    assert ranking[0][0] == "refund"
    assert ranking[0][1] == pytest.approx(1.0, abs=1e-5)
    assert len({pid for pid, _ in ranking}) == 3


def test_limit_and_closed_rows_are_kept() -> None:
    """A closed passage is not ranked, and at most `limit` come back."""
    allowed = np.array([True, False, True])
    assert "refund" not in dict(dense().rank(make_query("退款到账要几天"), 3, allowed))
    assert len(dense().rank(make_query("退款到账要几天"), 1, every(3))) == 1


def test_equal_passages_are_ordered_by_id() -> None:
    """Equal vectors tie, and ties go by id."""
    twins = dense([passage("b", "同一句话"), passage("a", "同一句话")])
    assert [pid for pid, _ in twins.rank(make_query("同一句话"), 2, every(2))] == ["a", "b"]


def test_an_empty_index_is_not_encoded_for() -> None:
    """Without passages nothing is found and the encoder is not asked."""
    encoder = LetterEncoder()
    assert dense([], encoder).rank(make_query("退款"), 5, every(0)) == []
    assert encoder.seen == []


def test_a_vector_that_is_no_number_is_a_fault_not_a_zero() -> None:
    """NaN from the encoder raises; it never becomes a ranking."""

    class Broken(LetterEncoder):
        def queries(self, texts: Sequence[str]) -> Vectors:
            return np.full((len(texts), self.dim), np.nan, dtype=np.float32)

    with pytest.raises(ModelError, match="not finite"):
        dense(encoder=Broken()).rank(make_query("退款"), 5, every(3))


def test_surfaces_must_fit_the_passages() -> None:
    """A passage without a vector could never be found, so it is refused."""
    with pytest.raises(ValueError, match="surface"):
        Dense(
            LetterEncoder(), [p.id for p in PASSAGES], np.zeros((1, 48), np.float32), np.array([0, 1, 1, 1])
        )


def test_history_leans_the_query_without_replacing_it() -> None:
    """With the turn before, the score mixes both cosines by their share."""
    query = make_query("那几天", ("退款到账要几天",))
    alone = dict(dense().rank(Query("", query.text), 3, every(3)))
    mixed = dict(dense().rank(query, 3, every(3)))
    assert mixed[PASSAGES[1].id] > alone[PASSAGES[1].id]
