"""Ranking by pooled vectors, for an index too large to hold its tokens."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from retrieval.errors import ModelError
from retrieval.gate import thresholds_for
from retrieval.index import Index, build_index
from retrieval.pooled import PooledVectors
from retrieval.query import make_query
from retrieval.rerank import LateInteraction
from retrieval.search import Searcher
from retrieval.surfaces import document_text
from tests.retrieval.letters import LetterEncoder, corpus, passage

PASSAGES = (
    passage("refund", "审核通过后原路退回", title="退款", questions=("钱什么时候退", "退款到账要几天")),
    passage("router", "路由器状态灯说明"),
    passage("coupon", "优惠券使用规则"),
)
TEXTS = [document_text(p) for p in PASSAGES]


@pytest.fixture
def encoder() -> LetterEncoder:
    return LetterEncoder()


@pytest.fixture
def index(tmp_path: Path, encoder: LetterEncoder) -> Index:
    return build_index(tmp_path, corpus(*PASSAGES), encoder, token_passages=2)


def test_the_nearest_surface_speaks_for_the_text(index: Index, encoder: LetterEncoder) -> None:
    """A question that stands in the passage scores 1; scores lie in [0, 1] as the scale says."""
    reranker = PooledVectors(encoder, index)
    scores = reranker.scores("退款到账要几天", TEXTS)
    assert scores[0] == pytest.approx(1.0, abs=1e-5) == max(scores)
    assert all(0.0 <= score <= 1.0 for score in scores) and reranker.scale == "unit"


def test_indexed_texts_are_not_encoded_and_others_are(index: Index, encoder: LetterEncoder) -> None:
    """Only the question is encoded, and a text the index does not hold; scores keep their places."""
    reranker = PooledVectors(encoder, index)
    encoder.seen.clear()
    mixed = reranker.scores("路由器", [TEXTS[0], "路由器", TEXTS[1]])
    assert encoder.seen == ["路由器", "路由器"]
    assert mixed[1] == pytest.approx(1.0, abs=1e-5)
    assert [mixed[0], mixed[2]] == pytest.approx(reranker.scores("路由器", TEXTS[:2]))
    assert reranker.scores("路由器", []) == []


def test_a_broken_vector_comes_out_as_nan(encoder: LetterEncoder, index: Index) -> None:
    """NaN is handed on for the search to see; clipping never makes a number of it."""
    broken = index.vectors.copy()
    broken[int(index.starts[1])] = np.nan
    scores = PooledVectors(encoder, replace(index, vectors=broken)).scores("灯", TEXTS)
    assert np.isnan(scores[1]) and np.isfinite(scores[0])


def test_no_threshold_of_late_interaction_decides_over_it(index: Index, encoder: LetterEncoder) -> None:
    """Cosines of pooled vectors on the thresholds of token vectors would let anything pass: there are none for it."""
    with pytest.raises(ModelError, match="no thresholds for pooled-vectors/1"):
        thresholds_for(PooledVectors(encoder, index), "e5-0123-r1")


def test_a_search_says_who_ranked(index: Index, encoder: LetterEncoder) -> None:
    """What was found names its reranker, so that a gate can refuse what it has no thresholds for."""
    with Searcher(index, encoder, PooledVectors(encoder, index)) as searcher:
        found = searcher.search(make_query("退款到账要几天"), date(2026, 11, 30))
    assert found.reranker == f"pooled-vectors/1 {encoder.id}" and found.evidence[0].passage.id == "refund"


def test_its_id_is_its_own(index: Index, encoder: LetterEncoder) -> None:
    """Thresholds are stored under the reranker's id: those of late interaction must not fit."""
    assert PooledVectors(encoder, index).id != LateInteraction(encoder, index.tokens).id
    assert encoder.id in PooledVectors(encoder, index).id
