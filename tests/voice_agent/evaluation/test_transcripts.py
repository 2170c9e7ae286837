"""Hearing: characters, the corpus's own terms, codes and figures, each against what was said."""

from __future__ import annotations

import pytest

from retrieval.domain_terms import DomainTerms
from retrieval.types import Passage, PassageId
from voice_agent.evaluation.recordings import Heard
from voice_agent.evaluation.transcripts import codes, figures, heard_measures, heard_row, keywords

CORPUS = [
    Passage(PassageId(f"p{n}"), "退款在审核通过后到账，积分可以抵扣运费。", title=title)
    for n, title in enumerate(("退款", "积分", "运费"))
]
TERMS = DomainTerms(CORPUS)


def heard(said: str, text: str, dropped: str | None = None) -> Heard:
    return Heard(said, text, 0.9, 500.0, dropped)


def test_keywords_are_the_corpus_terms_that_were_said() -> None:
    """A term counts where it stands, as often as it stands; ordinary words do not."""
    assert keywords("退款和退款的积分怎么算", TERMS) == {"退款": 2, "积分": 1}
    assert not keywords("今天天气怎么样", TERMS)


def test_a_figure_arrives_in_any_form_and_not_with_another_unit() -> None:
    """三个工作日 is 3个工作日 and not 3天; a code is no figure."""
    assert figures("要三个工作日") == figures("要3个工作日")
    assert figures("要3个工作日") != figures("要3天")
    assert figures("代码691，怎么办") == figures("代码691 怎么办") and figures("要3 天") == figures("要3天")
    assert not figures("ERR_2048") and codes("err 2048") == codes("ERR_2048")


def test_the_measures_by_hand() -> None:
    """Three of four terms, one of two figures, one figure nobody said, over all characters."""
    found = heard_measures(
        [heard("退款三天到账", "退款3天到账"), heard("积分抵扣5元", "机分抵扣50元")], TERMS
    )
    assert found["recordings"] == 2
    assert (found["keywords"]["count"], found["keywords"]["of"]) == (3, 4)
    assert (found["numbers"]["count"], found["numbers"]["of"], found["invented_numbers"]) == (1, 2, 1)
    assert found["cer"] == pytest.approx(3 / 12, abs=1e-4)
    assert found["exact"]["count"] == 0


def test_what_was_dropped_counts_as_all_characters_missed() -> None:
    """A dropped decoding is not left out of the rate."""
    found = heard_measures([heard("退款", "", "loop")], TERMS)
    assert found["cer"] == 1.0 and found["dropped"] == {"loop": 1}
    assert heard_row(heard("退款", "", "loop"))["cer"] == 1.0


def test_words_heard_where_nobody_spoke_are_counted_apart() -> None:
    """Noise has no error rate; what is made of it is a fault of its own."""
    found = heard_measures([heard("", "谢谢观看"), heard("", ""), heard("退款", "退款")], TERMS)
    assert (found["heard_in_silence"], found["cer"], found["exact"]["of"]) == (1, 0.0, 1)


def test_no_figure_said_is_no_rate() -> None:
    """None, not 1: there was nothing to get right."""
    found = heard_measures([heard("退款", "退款")], TERMS)
    assert found["numbers"]["share"] is None and found["cer"] == 0.0
