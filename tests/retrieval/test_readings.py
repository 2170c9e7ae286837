"""Laws of how sentences and passages are read for comparing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.readings import grams, read_passage, read_sentence

PASSAGE = read_passage("储蓄卡退款", "退款在审核通过后3到5个工作日到账。退款原路退回，不收手续费。")


def test_content_is_pairs_and_single_characters_without_small_words_and_figures() -> None:
    """不 的 and 3天 carry no content; a code does, digits and all."""
    assert grams("退货") == {"退", "货", "退货"}
    assert grams("不能退的货") == {"退", "货"} | {"退货"} - {"退货"} | grams("退 货")
    assert "err_2048" in grams("出现err_2048时")
    assert not any(gram.isdigit() for gram in grams("满200元减30元"))


def test_clauses_lie_in_their_sentence_and_are_cut_at_but() -> None:
    """但 and 不过 begin a clause of their own, 不过滤 does not."""
    sentence = read_sentence("可以退货但是定制的不退，不过滤网可以单独购买。")
    assert [clause.text for clause in sentence.clauses] == [
        "可以退货",
        "但是定制的不退",
        "不过滤网可以单独购买",
    ]
    assert all(sentence.text[c.start : c.end] == c.text for c in sentence.clauses)


def test_a_passage_knows_where_its_content_is_and_how_rare_it_is() -> None:
    """退款 stands in two clauses and weighs less than 手续."""
    assert len(PASSAGE.sentences) == 2
    assert PASSAGE.seldom["退款"] < PASSAGE.seldom["手续"]
    assert [PASSAGE.clauses[n][1].text for n in PASSAGE.where["手续"]] == ["不收手续费"]
    assert "储蓄" in PASSAGE.subject


def test_shares_run_from_nothing_to_all() -> None:
    """All of a clause's content is in that clause, none of it elsewhere."""
    clause = grams("手续费")
    assert PASSAGE.scale(clause).share(clause) == pytest.approx(1)
    assert PASSAGE.scale(clause).share(grams("天气")) == 0
    assert PASSAGE.scale(frozenset()).share(clause) == 0
    assert PASSAGE.nearest(clause) == pytest.approx(1)
    assert PASSAGE.nearest(grams("天气预报")) == 0
    assert PASSAGE.nearest(grams("储蓄卡")) == pytest.approx(1)


@given(st.text(max_size=60), st.text(max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_text_is_read_and_shares_are_shares(text: str, other: str) -> None:
    """Never raises; no share leaves 0 to 1."""
    reading = read_passage(text[:10], text)
    said = read_sentence(other)
    assert 0 <= reading.nearest(said.grams) <= 1.000001
    assert 0 <= reading.scale(said.grams).share(frozenset(reading.seldom)) <= 1.000001
