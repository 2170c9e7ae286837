"""Laws of the canonical text and of clean queries."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.normalize import canonical, clean_query, normalize, simplify, whole


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("ＲＴＸ－４０９０", "rtx-4090"),
        ("３．５折 １０：３０", "3.5折 10:30"),
        ("退款：3天", "退款：3天"),
        ("满2，300元", "满2，300元"),
        (" a \t b ", "a b"),
        ("a \t\n\n b\n", "a\nb"),
        ("\u200bＡ\ufeff", "a"),
        ("５％ ￥３０", "5% ¥30"),
    ],
)
def test_width_case_and_blanks_are_folded(raw: str, expected: str) -> None:
    """Wide letters, digits and signs become ASCII; Chinese marks stay, except the colon of a clock."""
    assert normalize(raw).text == expected


@pytest.mark.parametrize("text", ["①②", "½", "㎡", "【注意】", "〇"])
def test_it_is_not_nfkc(text: str) -> None:
    """①② must not become 12."""
    assert normalize(text).text == text


@given(st.text(max_size=60))
@settings(max_examples=300, deadline=None)
def test_every_character_knows_where_it_came_from(text: str) -> None:
    """Offsets are one a character, inside the original, never going backwards."""
    folded = normalize(text)
    assert len(folded.offsets) == len(folded.text)
    assert list(folded.offsets) == sorted(folded.offsets)
    assert all(0 <= i < len(text) for i in folded.offsets)


def test_a_span_leads_back_to_the_original() -> None:
    """What was found in the folded text can be shown as it was written."""
    raw = "请看  ＥＲＲ＿２０４８ 吧"
    folded = normalize(raw)
    start = folded.text.index("err")
    first, last = folded.span(start, start + len("err_2048"))
    assert raw[first:last] == "ＥＲＲ＿２０４８"
    assert folded.span(3, 3) == (0, 0)


def test_traditional_is_folded_for_comparing() -> None:
    """Two scripts of one word compare equal."""
    assert simplify("退款幾天到賬") == "退款几天到账"
    assert canonical("退款３個工作日") == canonical("退款三个工作日")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("嗯，那个，我想问一下退款多久到账啊", "退款多久到账"),
        ("您好，我想咨询一下，路由器怎么恢复出厂，谢谢", "路由器怎么恢复出厂"),
        ("你好请问E R R 下划线二零四八怎么处理？", "ERR_2048怎么处理"),
        ("客服你好我想问下能退吗", "能退吗"),
        ("就是我想问一下，两千块能分期吗", "2000块能分期吗"),
        ("我想退货", "我想退货"),
        ("额度不够怎么办", "额度不够怎么办"),
        ("客服热线几点上班", "客服热线几点上班"),
        ("咨询电话是多少", "咨询电话是多少"),
        ("不好意思，能退吗", "不好意思，能退吗"),
        ("V2.3.1怎么升级", "V2.3.1怎么升级"),
    ],
)
def test_fillers_go_only_from_the_edges_of_clauses(said: str, meant: str) -> None:
    """Greetings and fillers are dropped; the same characters inside a word or question stay."""
    assert clean_query(said) == meant


@pytest.mark.parametrize("noise", ["", " ", "嗯", "你好", "喂喂", "谢谢", "，。！", "嗯嗯，那个"])
def test_nothing_asked_is_an_empty_query(noise: str) -> None:
    """Only fillers means there is nothing to search."""
    assert clean_query(noise) == ""


@given(st.text(alphabet="嗯呃那个请问我想一下你好谢啊，。 不无没未能退货款ERX_", max_size=30))
@settings(max_examples=400, deadline=None)
def test_cleaning_never_drops_a_negation_or_a_code_letter(text: str) -> None:
    """不 无 没 未 and Latin letters survive whatever surrounds them."""
    cleaned = clean_query(text)
    assert [cleaned.count(c) for c in "不无没未ERX"] == [text.count(c) for c in "不无没未ERX"]


def test_halves_of_characters_are_no_text() -> None:
    """A lone surrogate from a JSON escape goes without a trace; the rest stays and knows where it stood."""
    assert normalize("退\ud800款").text == "退款" and normalize("退\ud800款").offsets == (0, 2)
    assert clean_query("\udfffERR_20\ud80048") == "ERR_2048" and canonical("\ud800") == ""
    assert whole("退\ud800款👍\n") == "退款👍\n"
