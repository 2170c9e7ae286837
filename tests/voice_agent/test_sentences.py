"""The sentence buffer: whole sentences with their marks, whatever the pieces they come in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice_agent.reply.sentences import MAX_SENTENCE, SentenceBuffer


def cut(*pieces: str) -> list[str]:
    buffer = SentenceBuffer()
    found = [sentence for piece in pieces for sentence in buffer.feed(piece)]
    return found + buffer.finish()


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("订单已发货。[S1]请留意。[S2]", ["订单已发货。[S1]", "请留意。[S2]"]),
        ("订单已发货[S1]。请留意[S2]。", ["订单已发货[S1]。", "请留意[S2]。"]),
        ("运费10元。【S1】【S2】满99元包邮。", ["运费10元。【S1】【S2】", "满99元包邮。"]),
        ("他说“可以退。”然后走了。", ["他说“可以退。”然后走了。"]),
        ("（须在7天内。）逾期不办。", ["（须在7天内。）逾期不办。"]),
        ("共1,299元，固件V2.3.1，满意度3.5%。好。", ["共1,299元，固件V2.3.1，满意度3.5%。", "好。"]),
        ("营业到10:30。", ["营业到10:30。"]),
        ("Price is 3.5 yuan. Call us! 好的", ["Price is 3.5 yuan.", " Call us!", " 好的"]),
        ("1. 打开设置。2. 重启。", ["1. 打开设置。", "2. 重启。"]),
        ("可以吗？！当然……是的", ["可以吗？！", "当然……", "是的"]),
        ("第一行\n第二行", ["第一行\n", "第二行"]),
        ("见http://a.cn/x?id=1。好", ["见http://a.cn/x?id=1。", "好"]),
        ("1.\n打开设置。（2）\n重启。", ["1.\n打开设置。", "（2）\n重启。"]),
    ],
)
def test_where_sentences_end(text: str, sentences: list[str]) -> None:
    """Ends, closers and marks belong to their sentence; numbers, versions, times and quotes are never cut."""
    assert cut(text) == sentences
    assert cut(*text) == sentences


def test_a_sentence_is_held_until_its_marks_are_known() -> None:
    """After the full stop a mark may still come, in pieces; the next sentence's first character settles it."""
    buffer = SentenceBuffer()
    assert buffer.feed("三天到账。") == []
    assert buffer.feed("[") == [] and buffer.feed("S1") == []
    assert buffer.feed("]") == []
    assert buffer.feed("节") == ["三天到账。[S1]"]


def test_text_without_an_end_is_handed_over_at_the_limit() -> None:
    """A generator that never ends a sentence cannot hold the call; the check refuses what is cut so."""
    assert [len(part) for part in cut("长" * (MAX_SENTENCE + 5))] == [MAX_SENTENCE, 5]


@given(
    st.text(alphabet="好退款3.15,，。！？；…\n []【】S1“”（）A:%", max_size=120),
    st.lists(st.integers(1, 9), max_size=60),
)
def test_nothing_is_lost_or_doubled(text: str, sizes: list[int]) -> None:
    """The sentences joined are the stream, white space apart, and do not depend on how it was cut."""
    pieces, rest = [], text
    for size in sizes:
        pieces.append(rest[:size])
        rest = rest[size:]
    found = cut(*pieces, rest)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert found == cut(text)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("三天到账。[S1]原路", ["三天到账。[S1]"]),
        ("三天到账[S1]。原路退回。[S", ["三天到账[S1]。"]),
        ("三天到账。[S1]", ["三天到账。[S1]"]),
        ("三天到账。", []),
        ("价格是3.", []),
        ("", []),
    ],
)
def test_a_stream_that_is_cut_leaves_only_whole_sentences(text: str, whole: list[str]) -> None:
    """An unended tail is dropped, and so is a last sentence whose mark may have been on its way (FIELD A2)."""
    buffer = SentenceBuffer()
    assert [sentence for piece in text for sentence in buffer.feed(piece)] + buffer.cut() == whole
    assert buffer.finish() == []
