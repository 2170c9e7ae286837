"""Reranking: what a score means, who is judged in time, and what a number that is none may not do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from retrieval.encoded import encode_passages, starts_of
from retrieval.errors import ModelError
from retrieval.rerank import BLOCK, LateInteraction, Scale, as_unit, reorder, scores_within
from retrieval.surfaces import document_text
from retrieval.token_store import TokenStore, centre_of, count_holding, lengths_from, rows_by_text
from retrieval.types import Passage, PassageId
from tests.retrieval.letters import LetterEncoder, passage

A, B, C, D = (PassageId(name) for name in "abcd")


@dataclass
class Ruler:
    """Scores a text by its length. Each call costs `cost_s` on the clock it carries."""

    id: str = "ruler"
    scale: Scale = "unit"
    cost_s: float = 0.0
    now: float = 0.0
    calls: int = 0

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        self.now += self.cost_s
        self.calls += 1
        return [float(len(text)) for text in texts]

    def clock(self) -> float:
        return self.now


def test_logits_become_units_once_and_units_stay() -> None:
    """A score carries its scale: a logit goes through the sigmoid, a unit score is left alone, NaN stays NaN."""
    assert as_unit(0.0, "logit") == 0.5
    assert as_unit(13.0, "logit") < as_unit(27.0, "logit") <= 1.0
    assert as_unit(-800.0, "logit") == 0.0
    assert as_unit(0.007, "unit") == 0.007
    assert math.isnan(as_unit(math.nan, "logit")) and math.isnan(as_unit(math.nan, "unit"))


def test_without_pressure_every_text_is_scored() -> None:
    """Within the budget the answer is the reranker's own, in order."""
    texts = ["x" * n for n in range(1, 51)]
    assert scores_within(Ruler(), "q", texts, 1000.0, lambda: 0.0) == [float(n) for n in range(1, 51)]
    assert scores_within(Ruler(), "q", [], 1000.0, lambda: 0.0) == []


def test_the_budget_stops_between_blocks() -> None:
    """The first block always runs; when the time is up, the rest is None: not judged, which is not 0."""
    ruler = Ruler(cost_s=0.3)
    texts = ["x"] * (3 * BLOCK)
    scored = scores_within(ruler, "q", texts, 500.0, ruler.clock)
    assert [score is None for score in scored].index(True) == 2 * BLOCK
    assert len(scored) == len(texts) and ruler.calls == 2
    late = Ruler(cost_s=9.0)
    assert scores_within(late, "q", texts, 0.0, late.clock)[:BLOCK] == [1.0] * BLOCK


def test_a_reranker_that_loses_a_text_is_a_fault() -> None:
    """Scores that do not fit the texts would be given to the wrong passages."""

    class Short(Ruler):
        def scores(self, query: str, texts: Sequence[str]) -> list[float]:
            return super().scores(query, texts)[1:]

    with pytest.raises(ModelError, match="scores for"):
        scores_within(Short(), "q", ["a", "b"], 100.0, lambda: 0.0)


def test_the_better_score_goes_first_and_ties_keep_the_fused_order() -> None:
    """Order by falling score, stable."""
    order = reorder([A, B, C], [0.1, 0.9, 0.1]).order
    assert [pid for pid, _ in order] == [B, A, C]


def test_what_was_not_reached_stands_behind_in_its_order() -> None:
    """None is behind every judged passage and never treated as a score of 0."""
    order = reorder([A, B, C, D], [0.0, -5.0, None, None]).order
    assert order == ((A, 0.0), (B, -5.0), (C, None), (D, None))


def test_nan_ranks_last() -> None:
    """A passage whose score is no number stands behind even those not reached, without a score."""
    result = reorder([A, B, C, D], [0.2, math.nan, None, 0.3])
    assert result.order == ((D, 0.3), (A, 0.2), (C, None), (B, None))
    assert result.fault is None


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
def test_nan_on_the_first_candidate_returns_nothing(broken: float) -> None:
    """Where the likeliest passage could not be judged, the second best must not answer in its place."""
    result = reorder([A, B], [broken, 0.9])
    assert result.order == () and result.fault is not None and "a" in result.fault


def test_scores_must_fit_the_candidates() -> None:
    """Lengths that differ raise instead of shifting scores to other passages."""
    with pytest.raises(ValueError, match="zip"):
        reorder([A, B], [0.1])
    assert reorder([], []).order == ()


PASSAGES = (
    passage("refund", "退款在审核通过后到账", title="退款"),
    passage("router", "路由器状态灯蓝色常亮"),
    passage("both", "退款不适用于路由器"),
)


def store(passages: Sequence[Passage], encoder: LetterEncoder) -> TokenStore:
    rows, query_centre = encode_passages(passages, encoder, {})
    vectors = np.concatenate([row.token_vectors for row in rows])
    ids = np.concatenate([row.token_ids for row in rows])
    starts = starts_of(len(row.token_ids) for row in rows)
    centre = centre_of(vectors)
    texts = [document_text(p) for p in passages]
    return TokenStore(
        rows_by_text(texts),
        starts,
        ids,
        vectors,
        lengths_from(vectors, centre),
        count_holding(ids, starts),
        query_centre,
        centre,
    )


@pytest.fixture
def late() -> tuple[LateInteraction, LetterEncoder]:
    encoder = LetterEncoder()
    return LateInteraction(encoder, store(PASSAGES, encoder)), encoder


Late = tuple[LateInteraction, LetterEncoder]
TEXTS = [document_text(p) for p in PASSAGES]


def test_late_interaction_prefers_the_text_with_the_words(late: Late) -> None:
    """A question's characters find themselves in its own passage; scores lie in [0, 1] as the scale says."""
    reranker, _ = late
    scores = reranker.scores("退款到账", TEXTS)
    assert scores[0] == max(scores) and scores[1] == min(scores)
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert reranker.scale == "unit"


def test_a_rare_character_weighs_more_than_a_common_one(late: Late) -> None:
    """ "路" stands in two of three texts, "灯" in one: a question of both is nearer to the text with the rarer."""
    reranker, _ = late
    rare, common = reranker.scores("账路", [TEXTS[0], TEXTS[1]])
    assert rare > common


def test_indexed_texts_are_not_encoded_again(late: Late) -> None:
    """Scoring indexed texts encodes the question, once for all blocks of a search; an unknown text is encoded."""
    reranker, encoder = late
    encoder.seen.clear()
    reranker.scores("退款", TEXTS[:2])
    reranker.scores("退款", TEXTS[2:])
    assert encoder.seen == ["退款"]
    reranker.scores("退款", ["没有收录的一句话"])
    assert encoder.seen == ["退款", "没有收录的一句话"]


def test_stored_and_fresh_vectors_agree(late: Late) -> None:
    """A text scores the same from the index (half precision, precomputed lengths) as encoded on the spot."""
    reranker, encoder = late
    empty = LateInteraction(encoder, _without_rows(store(PASSAGES, encoder)))
    assert reranker.scores("退款到账", TEXTS) == pytest.approx(empty.scores("退款到账", TEXTS), abs=2e-3)


def _without_rows(full: TokenStore) -> TokenStore:
    return replace(full, rows={})


def test_blocks_do_not_change_scores(late: Late) -> None:
    """Many texts at once and one by one give one result."""
    reranker, _ = late
    together = reranker.scores("路由器退款", TEXTS)
    assert together == pytest.approx([reranker.scores("路由器退款", [text])[0] for text in TEXTS], abs=1e-6)


@pytest.mark.parametrize("question", ["", "？！", "。"])
def test_a_question_without_tokens_scores_nothing(late: Late, question: str) -> None:
    """No token, no score above 0, no division by zero."""
    assert late[0].scores(question, TEXTS) == [0.0, 0.0, 0.0]
    assert late[0].scores("退款", []) == []


def test_a_text_without_tokens_scores_zero_beside_others(late: Late) -> None:
    """An empty text neither raises nor shifts its neighbours' scores."""
    reranker, _ = late
    one, nothing, other = reranker.scores("退款", [TEXTS[0], "……", TEXTS[1]])
    assert nothing == 0.0
    assert [one, other] == pytest.approx(reranker.scores("退款", TEXTS[:2]))


def test_nan_from_the_encoder_comes_out_as_nan() -> None:
    """A broken vector shows in the score; it is never clipped to a number."""

    encoder = LetterEncoder()
    held = store(PASSAGES, encoder)
    vectors = held.vectors.copy()
    vectors[0] = np.nan
    broken = replace(held, vectors=vectors, lengths=lengths_from(vectors, held.passage_centre))
    scores = LateInteraction(encoder, broken).scores("退款", TEXTS)
    assert math.isnan(scores[0]) and not math.isnan(scores[1])
