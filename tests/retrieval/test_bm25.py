"""Word search on corpora so small that textbook BM25 breaks, and on none at all."""

from __future__ import annotations

import numpy as np
import pytest

from retrieval.bm25 import Bm25, LuceneOkapi, lucene_idf
from retrieval.query import make_query
from retrieval.types import Passage, PassageId
from tests.retrieval.letters import passage

REFUND = passage("refund", "退款在审核通过后到账。", title="退款到账", questions=("钱多久退回来",))
ROUTER = passage("router", "路由器状态灯蓝色常亮表示联网。", title="状态灯")
INVOICE = passage("invoice", "电子发票在签收后开具。", title="电子发票")
COUPON = passage("coupon", "优惠券在领取后生效。", title="优惠券")


def rank(bm25: Bm25, words: str, limit: int = 10, closed: tuple[int, ...] = ()) -> list[str]:
    allowed = np.ones(len(bm25), dtype=np.bool_)
    allowed[list(closed)] = False
    return [pid for pid, _ in bm25.rank(make_query(words), limit, allowed)]


@pytest.mark.parametrize(
    "passages", [(REFUND, ROUTER), (REFUND, ROUTER, INVOICE), (REFUND, ROUTER, INVOICE, COUPON)]
)
def test_the_only_match_of_a_tiny_corpus_is_found_with_a_positive_score(
    passages: tuple[Passage, ...],
) -> None:
    """With 2, 3 and 4 documents a word in one or in half of them ranks its passage first, above 0."""
    bm25 = Bm25(passages)
    assert rank(bm25, "退款")[0] == "refund"
    assert rank(bm25, "路由器") == ["router"]
    assert float(bm25.scores(["退款"]).max()) > 0.0


def test_a_word_in_every_document_still_scores_above_zero() -> None:
    """The idf never reaches 0 or below, whatever share of the corpus holds the word."""
    for total in range(1, 60):
        assert all(lucene_idf(holding, total) > 0.0 for holding in range(total + 1))
    both = Bm25([passage("a", "退款流程"), passage("b", "退款时间")])
    assert sorted(rank(both, "退款")) == ["a", "b"]


def test_the_library_alone_would_get_it_wrong() -> None:
    """The override is needed: rank-bm25's own idf gives a word in half of two documents nothing or less."""
    from rank_bm25 import BM25Okapi

    documents = [["退款", "到账"], ["路由器", "灯"]]
    assert BM25Okapi(documents).get_scores(["退款"])[0] <= 0.0
    assert LuceneOkapi(documents).get_scores(["退款"])[0] > 0.0


def test_an_empty_corpus_and_one_without_words_find_nothing() -> None:
    """No passages, or only passages without a term: an empty ranking, no exception, no NaN."""
    assert rank(Bm25([]), "退款") == []
    blank = Bm25([passage("a", "……"), passage("b", "，。")])
    assert rank(blank, "退款") == []
    assert blank.scores(["退款"]).tolist() == [0.0, 0.0]
    assert blank.idf("退款") > 0.0


def test_a_passage_without_words_among_others_is_never_found() -> None:
    """A document of punctuation beside real ones neither raises nor ranks."""
    mixed = Bm25([passage("blank", "——"), REFUND])
    assert rank(mixed, "退款") == ["refund"]


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("退款在審核通過後三個工作日到賬", "退款审核后多久到账"),
        ("设备ａｂｂ１２３plus的说明", "abb123"),
        ("显卡RTX-4090的电源", "ＲＴＸ ４０９０"),
        ("错误0X80070005的处理", "零x八零零七零零零五"),
        ("不支持七天无理由退货", "7天无理由"),
    ],
)
def test_passage_and_question_meet_whatever_their_writing(text: str, asked: str) -> None:
    """Script, width, case, spoken codes and parts of codes: one tokenizer reads both."""
    channel = Bm25([Passage(PassageId("right"), text), Passage(PassageId("other"), "宽带移机收费")])
    assert [pid for pid, _ in channel.rank(make_query(asked), 5, np.array([True, True]))] == ["right"]


def test_unknown_words_and_empty_questions_find_nothing() -> None:
    """A score of 0 is no match and is not returned."""
    bm25 = Bm25([REFUND, ROUTER])
    assert rank(bm25, "黄金价格") == []
    assert rank(bm25, "") == []


def test_questions_and_title_are_searched() -> None:
    """Words that stand only in a question or only in the title find the passage."""
    bm25 = Bm25([REFUND, ROUTER, passage("titled", "见说明。", title="宽带移机")])
    assert rank(bm25, "退回来") == ["refund"]
    assert rank(bm25, "移机") == ["titled"]


def test_codes_one_digit_apart_do_not_match_each_other_whole() -> None:
    """ERR_2048 ranks above ERR_2049, though both share the part "err"."""
    bm25 = Bm25([passage("e9", "ERR_2049表示设备过多。"), passage("e8", "ERR_2048表示会话过期。"), ROUTER])
    assert rank(bm25, "ERR_2048")[0] == "e8"
    assert rank(bm25, "E R R 下划线二零四八")[0] == "e8"


def test_closed_rows_and_limit_are_kept() -> None:
    """What the filters closed is not ranked; at most `limit` are returned."""
    bm25 = Bm25([passage("a", "退款"), passage("b", "退款"), passage("c", "退款")])
    assert rank(bm25, "退款", closed=(0,)) == ["b", "c"]
    assert rank(bm25, "退款", limit=2) == ["a", "b"]


def test_a_rarer_word_weighs_more_and_a_missing_one_most() -> None:
    """idf falls with the number of passages that hold a term."""
    bm25 = Bm25([passage("a", "退款 发票"), passage("b", "退款 优惠券"), passage("c", "退款")])
    assert bm25.idf("没有的词") > bm25.idf("发票") > bm25.idf("退款") > 0.0


def test_history_is_searched_at_a_lower_weight() -> None:
    """A follow-up finds what the turn before spoke of, behind what it names itself."""
    bm25 = Bm25([passage("card", "信用卡退款"), passage("bank", "储蓄卡退款"), passage("other", "发票抬头")])
    allowed = np.ones(3, dtype=np.bool_)
    query = make_query("那信用卡呢", ("储蓄卡退款多久", "储蓄卡退款在审核后到账"))
    assert [pid for pid, _ in bm25.rank(query, 10, allowed)] == ["card", "bank"]
