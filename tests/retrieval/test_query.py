"""Queries: what is searched, and how much the turn before weighs."""

from __future__ import annotations

import pytest

from retrieval.query import MOST_LEANING, make_query, voices


def test_a_question_is_cleaned_cut_and_its_codes_are_read() -> None:
    """Fillers go, spoken codes are written, the raw words stay."""
    query = make_query("喂，请问E R R 下划线二零四八怎么处理啊")
    assert query.raw.startswith("喂")
    assert "ERR_2048" in query.text and "请问" not in query.text
    assert query.codes == ("err2048",)
    assert "err2048" in query.terms


@pytest.mark.parametrize("noise", ["", "   ", "\n\n", "嗯", "呃……", "？！"])
def test_noise_is_an_empty_query(noise: str) -> None:
    """Blanks, fillers and marks ask nothing: no text, no terms, no codes."""
    query = make_query(noise)
    assert (query.text, query.terms, query.codes) == ("", (), ())


def test_history_is_kept_apart_and_brings_no_codes() -> None:
    """Earlier turns are searched along but never demand that their code be covered."""
    query = make_query("那要重启吗", ("ERR_2048怎么办", "请退出账号后重新登录。"))
    assert query.codes == ()
    assert len(query.history) == 2
    assert make_query("重启", ("嗯", "")).history == ()


def test_shares_sum_to_one_and_a_short_question_leans_more() -> None:
    """Alone a question is everything; with history a short one gives the turn before more, never the louder voice."""
    assert voices(make_query("退款多久到账")) == [("退款多久到账", 1.0)]
    short = voices(make_query("多少钱", ("上门安装",)))
    long = voices(make_query("我上个月买的那台冰箱现在能不能安排师傅上门安装一下", ("退款多久到账",)))
    for spoken in (short, long):
        assert sum(share for _, share in spoken) == pytest.approx(1.0)
    assert long[1][1] < short[1][1] < short[0][1]
    assert short[1][1] == pytest.approx(MOST_LEANING / (1 + MOST_LEANING))


@pytest.mark.parametrize("yes", ["要的", "好的，是的", "可以", "好啊", "需要"])
def test_a_bare_yes_asks_for_what_was_offered(yes: str) -> None:
    """The offer becomes the question, codes included; what was said stays in `raw`."""
    query = make_query(yes, ("耳机多久能到", "市区明天送达。要不要了解X200的加急配送？"))
    assert (query.raw, query.text, query.codes) == (yes, "要不要了解X200的加急配送", ("x200",))


@pytest.mark.parametrize(
    ("said", "answer"), [("好的", "3到5个工作日到账。"), ("不要", "要不要了解加急配送？"), ("好的", "")]
)
def test_only_a_yes_to_an_offer_is_one(said: str, answer: str) -> None:
    """A yes to a statement and a no to an offer are searched as they were said."""
    assert make_query(said, ("退款多久", answer)).text == said
