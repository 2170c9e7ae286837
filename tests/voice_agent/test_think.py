"""The thinking filter: what is between the tags never comes out, however the stream is cut (FIELD A7 14)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice_agent.reply.think import ThinkFilter


def left(*pieces: str) -> str:
    """What remains of a stream: a void piece takes back all before it."""
    think, kept = ThinkFilter(), ""
    for piece in pieces:
        filtered = think.feed(piece)
        kept = filtered.text if filtered.void else kept + filtered.text
    return kept + think.finish()


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>算一下</think>三天。", "三天。"),
        ("您好。<think>a</think>三天。<THINKING >b</thinking>完。", "您好。三天。完。"),
        ("<think>一<think>二</think>三</think>四", "四"),
        ("<think>一<think>二</think>三", ""),
        ("<think>没有说完", ""),
        ("其实我在想</think>三天。", "三天。"),
        ("<reasoning>x</reasoning>三天", "三天"),
        ("a < b，<b>粗</b>，<thinker>，<th", "a < b，<b>粗</b>，<thinker>，<th"),
        ("三天。<", "三天。<"),
        ("<think></think>", ""),
        ("</think>", ""),
    ],
)
def test_what_is_left(text: str, answer: str) -> None:
    """Nested, unclosed, unopened and look-alike tags, in one piece and character by character."""
    assert left(text) == answer
    assert left(*text) == answer


@given(st.lists(st.sampled_from(["<think>", "</think>", "<", "think", ">", "三天。", " ", "/"])), st.data())
def test_the_cut_does_not_matter(parts: list[str], data: st.DataObject) -> None:
    """Any chunking gives the same text as the whole."""
    text = "".join(parts)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert left(*pieces) == left(text)


@given(st.text(alphabet="ab三<>/ think", max_size=40))
def test_nothing_between_the_tags_comes_out(thought: str) -> None:
    """Whatever stands between the first opening tag and the last closing one is gone."""
    assert "秘" not in left(*f"<think>{thought}秘</think>")
    assert left("<think>", thought.replace("<", ""), "</think>", "三天。") == "三天。"


def test_text_is_not_held_longer_than_a_tag_could_be() -> None:
    """A word comes out at once; only what may be the beginning of a tag waits."""
    think = ThinkFilter()
    assert think.feed("三天").text == "三天"
    assert think.feed("<thi").text == ""
    assert think.feed("rd>").text == "<third>"
