"""What a reranker reads of a long passage: its title and the sentences that the question is about."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from retrieval.sentences import split_sentences
from retrieval.span import best_span

LONG = "无理由退货\n" + "签收之后请保留包装。" * 20 + "定制商品不支持无理由退货。" + "其他事项见说明。" * 20


def test_the_answering_sentence_is_kept_wherever_it_stands() -> None:
    """Far inside a long passage the sentence that shares the question's words is read, with the title."""
    span = best_span("定制的商品能退货吗", LONG, 60)
    assert "定制商品不支持无理由退货。" in span
    assert span.startswith("无理由退货\n") and len(span) <= 60


def test_a_short_text_is_read_whole() -> None:
    """Nothing is cut that fits."""
    assert best_span("退货", "退货\n七天内可以退货。", 60) == "退货\n七天内可以退货。"


def test_a_sentence_is_never_cut() -> None:
    """One sentence longer than the limit is read whole: half of one says something else."""
    sentence = "除" + "很" * 100 + "外均可退货。"
    assert best_span("退货", f"标题\n短句。{sentence}", 40) == f"标题\n{sentence}"


@example("", "\n。\n。", 2)
@given(st.text(max_size=30), st.text(alphabet="退货款天。！\n七可以", max_size=200), st.integers(1, 80))
def test_a_span_is_made_of_whole_sentences_in_order(question: str, text: str, limit: int) -> None:
    """Whatever is asked of whatever text: what is read stands in the text, and nothing but sentences is left out."""
    span = best_span(question, text, limit)
    body = span.partition("\n")[2] or span
    assert body.strip() in text or "".join(body.split()) in "".join(text.split())
    if len(text) <= limit:
        assert span == text
    run_on = "".join(text.split())  # line ends between sentences are not kept
    assert all("".join(sentence.split()) in run_on for sentence in split_sentences(body))
