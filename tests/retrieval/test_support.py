"""Laws of support by content: what is said must stand in what is cited, and not rather in something else."""

from __future__ import annotations

from retrieval.alignment import claim_of
from retrieval.readings import read_passage
from retrieval.support import unfounded

REFUND = read_passage("退款", "退款在审核通过后原路退回付款账户。")
ROUTER = read_passage("路由器", "恢复出厂设置须按住路由器的复位孔。")


def fault(sentence: str, question: str = "") -> str:
    return unfounded(claim_of(sentence, question, (REFUND,), [], None), [ROUTER])


def test_what_the_passage_says_is_founded() -> None:
    """In its own words and in others."""
    assert fault("退款在审核通过后原路退回付款账户。") == ""
    assert fault("审核通过以后，退款会原路退回您的付款账户。") == ""


def test_what_nobody_says_is_not() -> None:
    """Nothing in common with the cited passage."""
    assert "shares 0." in fault("今天下午有雷阵雨。")


def test_what_another_passage_says_is_wrongly_cited() -> None:
    """It shares more with the passage of another mark."""
    assert fault("退款时要按住路由器的复位孔恢复出厂设置。") != ""


def test_a_clause_that_was_added_is_found() -> None:
    """A true sentence with an invented tail; what the caller asked may be taken up."""
    sentence = "退款会原路退回付款账户，同时赠送电影观影兑换券。"
    assert "电影观影" in fault(sentence)
    assert fault(sentence, "同时赠送电影观影兑换券吗") == ""


def test_a_word_of_another_passage_is_found() -> None:
    """A figure of the cited passage said of a thing that only the next one knows; seen from a real model."""
    card = read_passage("显卡RTX-4080供电要求", "显卡RTX-4080的机箱长度须留出34厘米以上。")
    indoors = read_passage("户内条件", "弱电箱内建议留出一本书大小的空间。")

    def told(sentence: str, question: str = "") -> str:
        return unfounded(claim_of(sentence, question, (card,), [], None), [indoors])

    assert told("弱电箱内须留出34厘米以上。") == "弱电箱 is of another passage"
    assert told("机箱长度须留出34厘米以上。") == ""
    assert told("弱电箱内须留出34厘米以上。", "弱电箱留多少") == ""
