"""Faults that users of other search and answer systems reported: each is named by what must not happen here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from retrieval.bm25 import Bm25
from retrieval.codes import find_codes
from retrieval.conditions import Conditions
from retrieval.filters import collapse
from retrieval.fusion import weighted_min_max, weighted_rrf
from retrieval.gate import LATE_INTERACTION, GateModel
from retrieval.index import Index, build_index
from retrieval.query import make_query
from retrieval.recall import RecallChannel
from retrieval.rerank import LateInteraction
from retrieval.search import Searcher
from retrieval.terms import Lexicon, terms
from retrieval.types import (
    Channel,
    Evidence,
    Found,
    Gate,
    GateReason,
    Hit,
    Outcome,
    PassageId,
    Ranking,
)
from tests.retrieval.letters import LetterEncoder, Reads, corpus, passage
from tests.retrieval.test_search import Scripted, Verdicts

TODAY = date(2026, 11, 30)
CARD = passage("card", "银行卡退款在3到5个工作日内到账。", "银行卡退款", ("退到银行卡要几天",))
BALANCE = passage("balance", "余额退款立即到账。", "余额退款")
X100 = passage("x100", "音响X100的购买链接在官网首页。", "音响X100")
X200 = passage("x200", "音响X200的购买链接在应用商城。", "音响X200")
OLD = passage("ship-2025", "代码SP99表示满99元包邮。", "包邮门槛", valid_to=date(2025, 12, 31))
NEW = passage("ship-2026", "满79元包邮。", "包邮门槛", valid_from=date(2026, 1, 1))
SCRIPT = passage("trad", "電子發票會寄到您的郵箱。", "電子發票", ("電子發票寄到哪裡",))
DELIVERY = passage("delivery", "加急配送最快2小时送达，每单加收18元。", "加急配送")
PASSAGES = (CARD, BALANCE, X100, X200, OLD, NEW, SCRIPT, DELIVERY)


@pytest.fixture(scope="module")
def encoder() -> LetterEncoder:
    return LetterEncoder()


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, encoder: LetterEncoder) -> Index:
    return build_index(tmp_path_factory.mktemp("index"), corpus(*PASSAGES), encoder)


@pytest.fixture(scope="module")
def searcher(index: Index, encoder: LetterEncoder) -> Iterator[Searcher]:
    with Searcher(index, encoder, LateInteraction(encoder, index.tokens)) as searcher:
        yield searcher


def ids(found: Found) -> list[str]:
    return [e.passage.id for e in found.evidence]


def gate_of(searcher: Searcher, index: Index, encoder: LetterEncoder) -> GateModel:
    reranker = LateInteraction(encoder, index.tokens)
    return GateModel(searcher.known, reranker, LATE_INTERACTION, reader=Reads())


def test_an_empty_index_refuses_by_its_name(tmp_path: Path, encoder: LetterEncoder) -> None:
    """Row 1: no passages is no ZeroDivisionError but NO_INDEX, and nothing is answered."""
    empty = build_index(tmp_path, corpus(), encoder)
    with Searcher(empty, encoder, LateInteraction(encoder, empty.tokens)) as nothing:
        gate = gate_of(nothing, empty, encoder).judge(nothing.search(make_query("退款几天到账"), TODAY))
    assert (gate.outcome, gate.reason) == (Outcome.REFUSE, GateReason.NO_INDEX)


def test_passages_without_a_word_do_not_stop_the_search(tmp_path: Path, encoder: LetterEncoder) -> None:
    """Row 5: a corpus of marks alone, or with marks in it, is searched without a fault."""
    for passages in ((passage("a", "……"), passage("b", "——！")), (passage("a", "……"), CARD)):
        index = build_index(tmp_path, corpus(*passages), encoder)
        with Searcher(index, encoder, LateInteraction(encoder, index.tokens)) as searcher:
            found = searcher.search(make_query("银行卡退款"), TODAY)
        assert found.down == {}
        assert ids(found)[:1] in (["a"], ["b"], ["card"]) and ("card" in ids(found)) is (CARD in passages)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("调用update-billing接口2次", "update"),
        ("续航T-350不错", "t350"),
        ("费率0.5%收取", "0.5%"),
        ("ERR_2048报错", "err2048"),
        ("固件V2.3.7发布", "v2.3.7"),
        ("T+3到账", "t+3"),
    ],
)
def test_signs_do_not_cut_what_belongs_together(text: str, whole: str) -> None:
    """Row 6: - % _ . and + inside a code or a figure are taken before the dictionary cuts."""
    assert whole in terms(text)


def test_a_middle_dot_does_not_break_a_users_word() -> None:
    """Row 6: a name with · is found by the user's word and by its parts."""
    assert Lexicon(["阿卜杜·拉赫曼"]).terms("请找阿卜杜·拉赫曼经理") != ()
    assert set(terms("阿卜杜·拉赫曼")) >= set(terms("拉赫曼"))


def test_a_word_inside_a_longer_english_word_is_not_cut_out() -> None:
    """Row 7: arn is a user's word; learn and arnica stay whole."""
    lexicon = Lexicon(["arn"])
    assert lexicon.terms("learn") == ("learn",) and lexicon.terms("arnica") == ("arnica",)
    assert lexicon.terms("报arn错") == ("报", "arn", "错")


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [("ＥＲＲ＿２０４８", "ERR_2048"), ("１２３４５６", "123456"), ("ＡＸ６０００", "AX6000")],
)
def test_wide_letters_and_figures_are_one_word(wide: str, narrow: str) -> None:
    """Row 8: full width is folded before cutting, so that digits do not fall apart."""
    assert terms(wide) == terms(narrow)
    assert [c.key for c in find_codes(wide)] == [c.key for c in find_codes(narrow)]


def test_a_word_with_a_blank_can_be_added() -> None:
    """Row 9: a name of two words is one term, written with or without its blank."""
    lexicon = Lexicon(["Galaxy Fold"])
    assert "galaxyfold" in lexicon.terms("我的galaxy fold坏了")
    assert set(lexicon.terms("galaxy fold")) == {"galaxyfold"}


def test_parts_of_a_code_are_found() -> None:
    """Row 10: who says 4090 finds RTX-4090, and the whole code finds it alone."""
    bm25 = Bm25([passage("gpu", "显卡RTX-4090须接满供电线。"), passage("other", "显卡保修36个月。")])
    everything = np.ones(2, dtype=np.bool_)
    for words in ("4090", "RTX 4090", "rtx4090"):
        assert [pid for pid, _ in bm25.rank(make_query(words), 5, everything)] == ["gpu"]


def judged(
    searcher: Searcher, index: Index, encoder: LetterEncoder, cosine: float, fused: float = 0.03
) -> Gate:
    """The gate on a search whose only good news is a high cosine."""
    near = [(p, 0.5, cosine - i / 1000) for i, p in enumerate((CARD, BALANCE, NEW, X100))]
    dense: Ranking = [(p.id, score) for p, _, score in near]
    evidence = tuple(
        Evidence(p, {"dense": Hit(rank, score)}, fused, rerank)
        for rank, (p, rerank, score) in enumerate(near, start=1)
    )
    found = Found(make_query("石头很开心"), {"bm25": [], "dense": dense}, dense, evidence, searched=7)
    return gate_of(searcher, index, encoder).judge(found)


@pytest.mark.parametrize("cosine", [0.7, 0.8, 0.85, 0.9])
def test_a_cosine_alone_never_answers(
    searcher: Searcher, index: Index, encoder: LetterEncoder, cosine: float
) -> None:
    """Row 14: unrelated texts stand at cosines of 0.8 and more; with no word and no lead nothing is answered."""
    assert judged(searcher, index, encoder, cosine).outcome is not Outcome.ANSWER


def test_the_gate_never_reads_a_fused_score(searcher: Searcher, index: Index, encoder: LetterEncoder) -> None:
    """Row 17: thresholds are of named features; the score before the reranker moves none of them."""
    low, high = (judged(searcher, index, encoder, 0.85, fused) for fused in (0.0001, 9.9))
    assert low == high


def test_what_the_filters_closed_comes_in_by_no_other_path(
    searcher: Searcher, index: Index, encoder: LetterEncoder
) -> None:
    """Row 19: the lookup of codes joins the lists after the channels, and holds to the same open rows."""
    today = searcher.search(make_query("SP99是什么"), TODAY)
    assert "ship-2025" not in ids(today) and "ship-2025" not in dict(today.fused)
    assert ids(searcher.search(make_query("SP99是什么"), date(2025, 6, 1)))[0] == "ship-2025"
    closed = searcher.search(make_query("SP99"), TODAY, conditions=Conditions(TODAY, tags=("没有",)))
    assert (closed.evidence, closed.searched) == ((), 0)


def test_a_zero_is_a_value(searcher: Searcher) -> None:
    """Row 20: a limit, a weight and a score of 0 are what they say, not "unset"."""
    assert searcher.search(make_query("退款"), TODAY, limit=0).evidence == ()
    ranking: Ranking = [(PassageId("a"), 0.0)]
    assert weighted_rrf([(ranking, 0.0)]) == [] and weighted_rrf([(ranking, 1.0)]) != []
    scored = Evidence(CARD, {"dense": Hit(1, 0.0)}, 0.0, 0.0)
    assert collapse([scored], 1) == (scored,)


def test_filters_change_no_threshold(searcher: Searcher, index: Index, encoder: LetterEncoder) -> None:
    """Row 25: naming tags, a version or things not meant decides where to look, never how sure one must be."""
    gate = gate_of(searcher, index, encoder)
    plain = gate.judge(searcher.search(make_query("银行卡退款几天"), TODAY))
    narrowed = gate.judge(
        searcher.search(make_query("银行卡退款几天"), TODAY, conditions=Conditions(TODAY, without=("余额",)))
    )
    assert dict(plain.thresholds) == dict(narrowed.thresholds) == dict(LATE_INTERACTION)
    assert plain.features.keys() == narrowed.features.keys()


def test_a_passage_that_is_gone_is_in_no_later_search(tmp_path: Path, encoder: LetterEncoder) -> None:
    """Row 30: after a re-index without it, neither its text nor its vectors answer, also under a name used again."""
    first = build_index(tmp_path, corpus(CARD, BALANCE), encoder)
    again = passage("card", "门店营业到晚上十点。", "营业时间")
    second = build_index(tmp_path, corpus(again, BALANCE), encoder)
    assert not np.array_equal(first.vectors[: first.starts[1]], second.vectors[: second.starts[1]])
    with Searcher(second, encoder, LateInteraction(encoder, second.tokens)) as searcher:
        found = searcher.search(make_query("银行卡退款要几天到账"), TODAY)
    assert ids(found)[0] == "balance"
    assert all(e.passage != CARD for e in found.evidence)


def test_a_code_that_was_looked_up_is_judged_like_any_other(
    searcher: Searcher, index: Index, encoder: LetterEncoder
) -> None:
    """Row 32: a passage no channel found, brought in by its code, carries no score that would let it pass."""
    channels: dict[Channel, RecallChannel] = {"bm25": Scripted([]), "dense": Scripted([])}
    with Searcher(index, encoder, Verdicts(), channels=channels) as bare:
        found = bare.search(make_query("音响X100"), TODAY)
    assert ids(found) == ["x100"]
    assert gate_of(searcher, index, encoder).judge(found).outcome is not Outcome.ANSWER


def test_a_list_of_one_keeps_its_score() -> None:
    """Row 49: where all scores are equal there is no spread to divide by, and nothing becomes 0."""
    one: Ranking = [(PassageId("a"), 7.0)]
    assert weighted_min_max([(one, 1.0)])[0][1] > 0.0


def test_a_channel_that_repeats_a_passage_changes_nothing(index: Index, encoder: LetterEncoder) -> None:
    """Row 50: which copy of an id came first decides neither its text nor its place."""
    lists: tuple[Ranking, ...] = (
        [(CARD.id, 0.9), (CARD.id, 0.4), (NEW.id, 0.3)],
        [(CARD.id, 0.4), (CARD.id, 0.9), (NEW.id, 0.3)],
    )
    results = []
    for ranking in lists:
        channels: dict[Channel, RecallChannel] = {"bm25": Scripted(ranking)}
        with Searcher(index, encoder, Verdicts({"银行卡": 0.9}), channels=channels) as searcher:
            results.append(searcher.search(make_query("退款"), TODAY))
    assert results[0].fused == results[1].fused and ids(results[0]) == ids(results[1]) == [
        "card",
        "ship-2026",
    ]
    assert results[0].evidence[0].passage == CARD


@pytest.mark.parametrize("nothing", ["", " ", "\n", "\n\n\t", "……", "嗯，那个", "\u200b", "\ud800", "？？"])
def test_nothing_asked_is_asked_again_and_not_searched(
    searcher: Searcher, index: Index, encoder: LetterEncoder, nothing: str
) -> None:
    """Row 52: blanks, marks, fillers and halves of characters reach no channel."""
    found = searcher.search(make_query(nothing), TODAY)
    assert (found.rankings, found.evidence) == ({}, ())
    gate = gate_of(searcher, index, encoder).judge(found)
    assert (gate.outcome, gate.reason) == (Outcome.CLARIFY, GateReason.EMPTY_QUERY)


def test_a_copy_that_was_read_in_twice_takes_one_place(tmp_path: Path, encoder: LetterEncoder) -> None:
    """Row 53: the same text under another id, and an overlapping piece of it, leave the list to others."""
    copies = (
        CARD,
        replace(CARD, id=PassageId("card-again")),
        passage("piece", "3到5个工作日内到账", CARD.title),
    )
    index = build_index(tmp_path, corpus(*copies, BALANCE), encoder)
    with Searcher(index, encoder, LateInteraction(encoder, index.tokens)) as searcher:
        found = searcher.search(make_query("银行卡退款几天到账"), TODAY, limit=2)
    assert len(found.evidence) == 2 and ids(found)[0] in ("card", "card-again", "piece")
    assert ids(found)[1] == "balance"


def test_it_means_what_the_last_turn_was_about(searcher: Searcher) -> None:
    """Row 54: 它的购买链接 after a question on X100 finds X100, not its neighbour."""
    for asked, meant, other in (("X100", "x100", "x200"), ("X200", "x200", "x100")):
        history = (f"音响{asked}怎么样", f"音响{asked}很受欢迎。")
        found = ids(searcher.search(make_query("它的购买链接", history), TODAY))
        assert found.index(meant) < found.index(other)


def test_a_yes_to_an_offer_finds_what_was_offered(searcher: Searcher) -> None:
    """Row 55: a bare yes says nothing by itself; after the agent's offer it asks for what was offered."""
    history = ("最快什么时候能到", "要不要了解加急配送？")
    for yes in ("要的", "是的", "可以"):
        assert ids(searcher.search(make_query(yes, history), TODAY))[0] == "delivery", yes


def test_an_empty_list_after_the_threshold_is_not_an_empty_knowledge_base(
    searcher: Searcher, index: Index, encoder: LetterEncoder
) -> None:
    """Row 56: the reason tells "nothing good enough" from "nothing there"."""
    gate = gate_of(searcher, index, encoder)
    poor = gate.judge(searcher.search(make_query("石头很开心"), TODAY))
    assert poor.outcome is not Outcome.ANSWER and poor.reason is not GateReason.NO_INDEX
    closed = gate.judge(searcher.search(make_query("退款"), TODAY, conditions=Conditions(TODAY, ("无",))))
    assert closed.reason is GateReason.NO_INDEX


@pytest.mark.parametrize(
    "odd",
    ["'", '"', "\\", "(", ")", "*", "?", "AND", "OR NOT", "~2", "^4", "title:", "--", "%s", "{0}", "[S1]"],
)
def test_no_sign_is_an_operator(searcher: Searcher, odd: str) -> None:
    """Row 57: there is no query language to break or to inject into; the words beside the sign still find."""
    for words in (f"{odd}银行卡退款几天到账", f"银行卡退款{odd}几天到账", f"银行卡退款几天到账{odd}"):
        found = searcher.search(make_query(words), TODAY)
        assert found.down == {} and ids(found)[0] == "card"


def test_a_traditional_text_is_found_and_shown_as_written(searcher: Searcher) -> None:
    """Row 58: only what is compared is made Simplified; the passage and its surface keep their script."""
    found = searcher.search(make_query("电子发票寄到哪里"), TODAY)
    assert found.evidence[0].passage == SCRIPT
    assert found.evidence[0].surface == "電子發票寄到哪裡"


def test_each_leg_is_told(searcher: Searcher) -> None:
    """Row 51: what every channel ranked and scored stands beside the fused list."""
    found = searcher.search(make_query("银行卡退款几天到账"), TODAY)
    assert {"bm25", "dense"} <= found.rankings.keys()
    top = found.evidence[0]
    for name, ranking in found.rankings.items():
        assert ranking[top.hits[name].rank - 1] == (top.passage.id, top.hits[name].score)
