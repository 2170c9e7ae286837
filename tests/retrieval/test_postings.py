"""The sparse matrix against the class whose statistics it holds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.bm25 import Bm25, LuceneOkapi, word_postings
from retrieval.postings import Postings, Tally
from retrieval.surfaces import document_text
from retrieval.terms import terms
from tests.retrieval.letters import passage

RELATIVE = 1e-6
"""A part is kept as float32: half a unit in its seventh digit, and scores only add up such parts, all positive."""

DOCUMENTS = st.lists(st.lists(st.sampled_from("甲乙丙丁戊己"), max_size=12), min_size=1, max_size=12)
ASKED = st.lists(st.sampled_from("甲乙丙丁戊己庚"), max_size=8)


def matrix(documents: list[list[str]]) -> Postings:
    made = word_postings(documents)
    assert made is not None
    return made


@given(DOCUMENTS.filter(any), ASKED)
def test_scores_are_those_of_rank_bm25(documents: list[list[str]], asked: list[str]) -> None:
    """For any corpus and question, repeats and unknown words among them: the class's own get_scores, to RELATIVE."""
    postings = matrix(documents)
    total = np.zeros(len(documents))
    postings.add(total, postings.weighed(asked))
    assert total == pytest.approx(LuceneOkapi(documents).get_scores(asked), rel=RELATIVE, abs=0.0)


@given(DOCUMENTS.filter(any), ASKED)
def test_rows_times_question_are_the_same_scores(documents: list[list[str]], asked: list[str]) -> None:
    """Read by row, as another store keeps it, the matrix gives what it gives by column."""
    postings = matrix(documents)
    total = np.zeros(len(documents))
    question = postings.weighed(asked)
    postings.add(total, question)
    rows = list(postings.by_row())
    assert len(rows) == len(documents)
    products = [sum(weight * row.get(column, 0.0) for column, weight in question.items()) for row in rows]
    assert products == pytest.approx(total.tolist(), rel=1e-9)


def test_passages_score_as_the_class_scores_them() -> None:
    """On real text through the real tokenizer: the channel's scores are rank-bm25's."""
    passages = [
        passage("a", "退款在审核通过后到账。", title="退款到账", questions=("钱多久退回来",)),
        passage("b", "ERR_2048表示会话过期，满500元可退款3天。"),
        passage("c", "……"),
    ]
    model = LuceneOkapi([list(terms(document_text(p))) for p in passages])
    for question in ("退款几天", "ERR_2048退款退款", "没有的话"):
        asked = list(terms(question))
        expected = model.get_scores(asked)
        assert Bm25(passages).scores(asked) == pytest.approx(expected, rel=RELATIVE, abs=0.0)


@pytest.mark.parametrize("documents", [[], [[]], [[], []]])
def test_without_words_there_is_no_matrix(documents: list[list[str]]) -> None:
    """No documents, or only empty ones: None, where the class itself divides by zero (rank_bm25#36)."""
    assert word_postings(documents) is None


def test_a_word_costs_eight_bytes_a_document_and_no_dictionary() -> None:
    """While counting and afterwards: two numbers for each distinct word of a text, repeats free."""
    postings = matrix([["甲", "甲", "乙"]] * 50)
    assert postings.rows.nbytes + postings.parts.nbytes == 8 * 2 * 50
    tally = Tally()
    for _ in range(50):
        tally.append({"甲": 2, "乙": 1})
    assert (tally.columns, len(tally.at), list(tally.times[:2])) == ({"甲": 0, "乙": 1}, 100, [2, 1])
    assert tally.at.itemsize + tally.times.itemsize == 8


def test_the_fingerprint_tells_corpora_apart() -> None:
    """Equal for equal documents, different when a count, a word or the order changes."""
    base = [["甲", "乙"], ["甲"]]
    assert matrix(base).fingerprint == matrix([list(words) for words in base]).fingerprint
    for other in ([["甲", "乙"], ["甲", "甲"]], [["甲", "丙"], ["甲"]], [["甲"], ["甲", "乙"]]):
        assert matrix(other).fingerprint != matrix(base).fingerprint
