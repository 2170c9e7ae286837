"""Laws of the search by sound."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.bm25 import Bm25, LuceneOkapi
from retrieval.phonetic import SINGLE, Phonetic, pair_keys, single_keys
from retrieval.query import make_query
from retrieval.surfaces import document_text
from tests.retrieval.letters import passage

REFUND = passage("refund", "退款在审核通过后到账。", title="退款到账", questions=("钱多久退回来",))
POINTS = passage("points", "每100个积分可以抵扣1元。", title="积分抵扣")
COUPON = passage("coupon", "优惠券在领取后生效。", title="优惠券")
CARD = passage("card", "银行卡付款的订单原路退回。", title="银行卡")
ADDRESS = passage("address", "出库前可以修改收货地址。", title="收货地址")
ERROR = passage("error", "ERR_2048表示会话过期。", title="ERR_2048")
ALL = (REFUND, POINTS, COUPON, CARD, ADDRESS, ERROR)


def rank(channel: Phonetic, words: str, limit: int = 10, closed: tuple[int, ...] = ()) -> list[str]:
    allowed = np.ones(len(channel), dtype=np.bool_)
    allowed[list(closed)] = False
    return [pid for pid, _ in channel.rank(make_query(words), limit, allowed)]


@pytest.mark.parametrize(
    ("heard", "meant"),
    [
        ("退宽多久道仗", "refund"),
        ("机分怎么底扣", "points"),
        ("油会劝", "coupon"),
        ("音杭卡", "card"),
        ("怎么修改收获地址", "address"),
        ("收 获 地 止", "address"),
    ],
)
def test_a_misheard_question_finds_its_passage(heard: str, meant: str) -> None:
    """Homophones and near sounds rank the meant passage first, which word search need not find at all."""
    assert rank(Phonetic(ALL), heard)[0] == meant


def test_words_alone_would_not_find_it() -> None:
    """The channel is needed: 油会劝 shares no word with 优惠券."""
    allowed = np.ones(len(ALL), dtype=np.bool_)
    assert "coupon" not in dict(Bm25(ALL).rank(make_query("油会劝"), 10, allowed))


def test_codes_figures_and_latin_have_no_key() -> None:
    """What must match exactly is never compared by sound, and nothing is joined across it."""
    assert pair_keys("ERR_2048") == single_keys("ERR_2048") == []
    assert rank(Phonetic(ALL), "ERR_2048 1299 RTX4090") == []
    assert pair_keys("满500元券") == ["yuan quan"]
    assert pair_keys("券RTX4090卡") == []


def test_marks_part_and_blanks_join() -> None:
    """A recogniser's blank stands inside a word, a comma between two."""
    assert pair_keys("退 款") == pair_keys("退款") == ["tui kuan"]
    assert pair_keys("退，款") == []


def test_particles_are_no_single_keys() -> None:
    """的 and 吗 stand everywhere; as part of a pair they still count."""
    assert single_keys("退款的吗") == ["tui", "kuan"]
    assert "kuan de" in pair_keys("退款的")


@given(
    st.lists(
        st.sampled_from(["款宽", "积机", "分芬", "货获", "券劝", "址止", "账帐"]), min_size=1, max_size=8
    )
)
def test_tones_and_characters_do_not_matter(pairs: list[str]) -> None:
    """Two texts that read the same without tones have the same score in every passage."""
    channel = Phonetic(ALL)
    one, other = "".join(pair[0] for pair in pairs), "".join(pair[1] for pair in pairs)
    assert channel.scores(one).tolist() == channel.scores(other).tolist()


@given(st.text("退款宽积机分优油惠会券劝的 ，账战3", max_size=20))
def test_scores_are_those_of_bm25_over_the_keys(text: str) -> None:
    """Pairs by rank-bm25 itself, plus half of single syllables by the same: the postings only precompute it."""
    texts = [document_text(p) for p in ALL]
    pairs = LuceneOkapi([pair_keys(t) for t in texts]).get_scores(pair_keys(text))
    singles = LuceneOkapi([single_keys(t) for t in texts]).get_scores(single_keys(text))
    assert np.allclose(Phonetic(ALL).scores(text), pairs + SINGLE * singles)


@given(st.text(max_size=40))
def test_any_query_is_answered_with_finite_positive_scores(text: str) -> None:
    """Whatever is asked: no exception, no NaN, nothing that shares no sound, best first with ties by id."""
    ranking = Phonetic(ALL).rank(make_query(text), 10, np.ones(len(ALL), dtype=np.bool_))
    assert all(np.isfinite(score) and score > 0.0 for _, score in ranking)
    assert ranking == sorted(ranking, key=lambda pair: (-pair[1], pair[0]))


def test_an_empty_corpus_and_one_without_sounds_find_nothing() -> None:
    """No passages, or none with a Chinese character: an empty ranking."""
    assert rank(Phonetic([]), "退款") == []
    assert rank(Phonetic([passage("a", "……"), passage("b", "OK 200")]), "退款") == []
    assert rank(Phonetic(ALL), "") == []


def test_closed_rows_and_limit_are_kept() -> None:
    """What the filters closed is not ranked; at most `limit` are returned, ties by id."""
    channel = Phonetic([passage("b", "退款"), passage("a", "退款"), passage("c", "退款")])
    assert rank(channel, "退宽", closed=(1,)) == ["b", "c"]
    assert rank(channel, "退宽", limit=2) == ["a", "b"]


def test_history_is_searched_at_a_lower_weight() -> None:
    """A follow-up finds what the turn before spoke of, behind what it names itself."""
    channel = Phonetic(
        [passage("card", "信用卡退款"), passage("bank", "储蓄卡退款"), passage("other", "发票抬头")]
    )
    query = make_query("那新用卡呢", ("储蓄卡退款多久", "储蓄卡退款在审核后到账"))
    assert [pid for pid, _ in channel.rank(query, 10, np.ones(3, dtype=np.bool_))] == ["card", "bank"]


def test_titles_and_questions_are_heard_too() -> None:
    """A sound that stands only in a question finds the passage."""
    channel: Phonetic = Phonetic(ALL)
    found: list[str] = rank(channel, "前多九退回来")
    assert found[0] == "refund"
