"""Where a sentence is cut for synthesis."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.clauses import FEWEST, LONG, clauses
from audio.spelling import is_speakable

LONG_1 = "退货商品签收后七天内可以申请退款，运费由买家承担；"
LONG_2 = "定制商品除外，已经拆封的耳机也不支持退货、换货，请先联系客服。"


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("您好，请说。", ["您好，请说。"]),
        ("退款三天到账。", ["退款三天到账。"]),
        ("……", []),
        ("", []),
        ("很" * 50, ["很" * 50]),
        ("好。" + "很" * 39 + "。", ["好。", "很" * 39 + "。"]),
        # the first clause is heard while the second is made
        ("退货商品签收后七天内，可以在订单页申请退款。", ["退货商品签收后七天内，", "可以在订单页申请退款。"]),
        # a clause too short to bridge the making of the rest is no gain
        ("是的，退货商品签收以后七天之内可以在订单页申请退款。",
         ["是的，退货商品签收以后七天之内可以在订单页申请退款。"]),
        # no cut inside a number, an amount or a time
        ("价格" * 10 + "1,299元" + "价格" * 10, ["价格" * 10 + "1,299元" + "价格" * 10]),
        ("营业时间是每天10:30到18:00。", ["营业时间是每天10:30到18:00。"]),
    ],
)  # fmt: skip
def test_the_first_clause_is_cut_off_where_that_is_heard_sooner(text: str, pieces: list[str]) -> None:
    """Short texts and single clauses stay whole (A2: 1,299 and 10:30 are never cut)."""
    assert clauses(text) == pieces


def test_a_long_text_is_cut_into_sentences_and_clauses() -> None:
    """Every piece is at most LONG, and the first is short."""
    pieces = clauses(LONG_1 + LONG_2)
    assert "".join(pieces) == LONG_1 + LONG_2
    assert max(map(len, pieces)) <= LONG and len(pieces[0]) < len(LONG_1)


@given(st.text(st.sampled_from("退款运费。，；、！…”1,a "), max_size=140))
def test_no_word_is_lost_in_cutting(text: str) -> None:
    """Every letter and digit is spoken once and in order, and no piece is punctuation only."""
    pieces = clauses(text)
    assert [c for c in "".join(pieces) if c.isalnum()] == [c for c in text if c.isalnum()]
    assert all(map(is_speakable, pieces))


@given(st.lists(st.text("退款运费到账", min_size=1, max_size=12), min_size=1, max_size=6))
def test_no_piece_is_a_syllable_alone(parts: list[str]) -> None:
    """A piece of one or two characters sounds clipped: it is joined to its neighbour."""
    sentence = "，".join(parts) + "。"
    pieces = clauses(sentence)
    assert len(pieces) == 1 or min(sum(map(str.isalnum, piece)) for piece in pieces) >= FEWEST
