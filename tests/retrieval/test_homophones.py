"""Laws of the repair: what is mended, what is left alone, and what no repair can ever change."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.codes import find_codes
from retrieval.corpus import load_corpus
from retrieval.domain_terms import NEGATIONS, NUMERALS
from retrieval.facts import quantities
from retrieval.homophones import Repaired, Repairer
from retrieval.normalize import canonical
from tests.retrieval.letters import passage

DATA = Path(__file__).resolve().parents[2] / "data"


@lru_cache(maxsize=1)
def shipped() -> Repairer:
    return Repairer(load_corpus(DATA / "kb").passages)


@pytest.mark.parametrize(
    ("heard", "meant"),
    [
        ("机分底扣一单最多能底多少钱。", "积分抵扣一单最多能底多少钱。"),
        ("退宽几天", "退款几天"),
        ("到战时间", "到账时间"),
        ("油会劝怎么用", "优惠券怎么用"),
        ("定单没出库,收获地址田错了能改吗?", "定单没出库,收货地址田错了能改吗?"),
        ("警卡会员每月能免费曲剑几次。", "金卡会员每月能免费取件几次。"),
        ("黑卡会员进到偏远地区,也收负家运费吗?", "黑卡会员进到偏远地区,也收附加运费吗?"),
        ("录油器恢复出场以后", "路由器恢复出厂以后"),
        ("我爸的主卡签费停机了,我这张副卡还能打吗?", "我爸的主卡欠费停机了,我这张副卡还能打吗?"),
        ("我要邪号转往转走", "我要携号转网转走"),
        ("宽带 移集 要收多少钱", "宽带移机 要收多少钱"),
        ("APP退宽", "APP退款"),
        ("7天 无礼由退货的运费", "7天 无理由退货的运费"),
    ],
)
def test_what_whisper_misheard_is_mended(heard: str, meant: str) -> None:
    """Transcripts as whisper-base wrote them, by the shipped knowledge base; what is doubtful stays."""
    assert shipped().repair(heard).text == meant


@pytest.mark.parametrize(
    "text",
    [
        "什么时候发火",
        "买家承担运费吗",
        "我要买货",
        "我叫邓寄尘",
        "才给我看",
        "包有多少",
        "手机分期怎么弄",
        "统一发票",
        "免废吗",
        "3添内退款",
        "三个宫作日到账",
        "ERR_2048抱错",
        "退貨要多久",
        "",
        "，。",
    ],
)
def test_what_makes_sense_or_must_not_change_is_left_alone(text: str) -> None:
    """Dictionary words, names, stretches that cut through words, units behind figures, the other script."""
    for confidence in (None, 0.3, 0.95):
        assert shipped().repair(text, confidence) == Repaired(text, (), text)


def test_no_question_that_was_heard_rightly_is_touched() -> None:
    """All development questions of the shipped set, as they were asked."""
    lines = (DATA / "eval" / "dev.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    asked = [row.get("spoken", row["question"]) for row in rows]
    assert len(asked) > 400
    assert [text for text in asked if shipped().repair(text).repairs] == []


def test_the_corpus_never_repairs_itself() -> None:
    """Titles, questions and texts are what repairs are made from."""
    passages = load_corpus(DATA / "kb").passages
    texts = [text for p in passages for text in (p.title, *p.questions, p.text)]
    assert [text for text in texts if shipped().repair(text).repairs] == []


def test_a_repair_says_where_what_and_why() -> None:
    """Places are those of the raw text, blanks included; the key is the sound of the term."""
    done = shipped().repair("我的 机 分 和 退宽")
    assert done.raw == "我的 机 分 和 退宽"
    assert done.text == "我的 积分 和 退款"
    assert [(r.start, r.end, r.before, r.after, r.key) for r in done.repairs] == [
        (3, 6, "机 分", "积分", "ji fen"),
        (9, 11, "退宽", "退款", "tui kuan"),
    ]


@pytest.mark.parametrize(
    ("heard", "unsure", "unknown", "sure"),
    [("遗憾卡退款", 1, 0, 0), ("到战时间", 1, 1, 0), ("退宽几天", 1, 1, 1)],
)
def test_the_surer_the_recogniser_the_less_is_mended(
    heard: str, unsure: int, unknown: int, sure: int
) -> None:
    """A high confidence leaves only stretches that sound exactly like a term."""
    counts = [len(shipped().repair(heard, confidence).repairs) for confidence in (0.5, None, 0.95)]
    assert counts == [unsure, unknown, sure]


def test_a_term_that_is_written_rightly_is_not_swallowed() -> None:
    """退款 stays 退款 where a longer term would sound like it and its neighbours."""
    corpus = [passage(f"p{i}", "腿款到账。", title="腿款到账") for i in range(3)]
    corpus += [passage(f"q{i}", "退款。", title="退款") for i in range(3)]
    assert Repairer(corpus).repair("退款到战").text == "退款到账"


def test_an_empty_corpus_mends_nothing() -> None:
    """No terms, no repair."""
    assert Repairer([]).repair("退宽机分") == Repaired("退宽机分", (), "退宽机分")


def test_the_order_of_passages_does_not_matter() -> None:
    """The same corpus mends the same, whatever order it was read in."""
    passages = load_corpus(DATA / "kb").passages
    turned = Repairer(passages[::-1])
    for heard in ("机分底扣一单", "复卡签费停机", "边更套餐", "收获地址", "道帐"):
        assert turned.repair(heard) == shipped().repair(heard)


FRAGMENTS = st.sampled_from(
    [
        *"机分退宽到战账获址油会劝复卡签费续无礼由理添宫作日元个工天块月号点时折百千万",
        *NUMERALS,
        *NEGATIONS,
        "退宽",
        "机分",
        "收获地址",
        "工作日",
        "油会劝",
        "运费",
        "优惠券",
        "负家运费",
        "3",
        "20",
        "２",
        "ERR_2048",
        "RTX-4090",
        "GB",
        "%",
        " ",
        "，",
        "下划线",
        "杠",
        "幺",
        "貨",
        "①",
    ]
)
HEARD = st.lists(FRAGMENTS, max_size=24).map("".join)
CONFIDENCE = st.none() | st.floats(0.0, 1.0)


def facts(text: str) -> tuple[list[str], list[str], list[str], str]:
    """The codes, figures with units, letters and digits, and the negations and numerals of a text."""
    read = canonical(text)
    codes = find_codes(read)
    kept = [c for c in text if c.isascii() and c.isalnum()]
    signs = "".join(c for c in text if c in NEGATIONS + NUMERALS)
    return [c.key for c in codes], [q.key for q in quantities(read, codes)], kept, signs


@settings(max_examples=300, deadline=None)
@given(HEARD, CONFIDENCE)
def test_no_repair_changes_a_number_a_code_or_a_negation(text: str, confidence: float | None) -> None:
    """Codes, figures and their units as search reads them, Latin, numerals, negations: the same before and after."""
    assert facts(shipped().repair(text, confidence).text) == facts(text)


@settings(max_examples=300, deadline=None)
@given(HEARD | st.text(max_size=40), CONFIDENCE)
def test_the_repairs_are_the_whole_difference(text: str, confidence: float | None) -> None:
    """The raw text with each repair put in its place is the repaired text; repairs never overlap; all is repeatable."""
    done = shipped().repair(text, confidence)
    assert done.raw == text
    built, at = "", 0
    for repair in done.repairs:
        assert at <= repair.start < repair.end
        assert text[repair.start : repair.end] == repair.before != repair.after
        assert len(repair.after) >= 2
        built += text[at : repair.start] + repair.after
        at = repair.end
    assert built + text[at:] == done.text
    assert shipped().repair(text, confidence) == done
