"""Laws of citation marks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.marks import find_marks, strip_marks


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("需要3天[S1]。", ["S1"]),
        ("需要3天。[S1]", ["S1"]),
        ("需要3天【S1】。", ["S1"]),
        ("需要3天［Ｓ１］。", ["S1"]),
        ("需要3天(S1)。", ["S1"]),
        ("需要3天（S1）。", ["S1"]),
        ("需要3天[s01]。", ["S1"]),
        ("需要3天[S1,S2]。", ["S1", "S2"]),
        ("需要3天[S1，S2]。", ["S1", "S2"]),
        ("需要3天[S1、S2]。", ["S1", "S2"]),
        ("需要3天[S1 S2]。", ["S1", "S2"]),
        ("需要3天[S1][S2]。", ["S1", "S2"]),
        ("需要3天[S1-S3]。", ["S1", "S2", "S3"]),
        ("需要3天[S1-3]。", ["S1", "S2", "S3"]),
        ("需要3天[S1至S3]。", ["S1", "S2", "S3"]),
        ("需要3天。S1、S2", ["S1", "S2"]),
        ("“可以退。”S1", ["S1"]),
    ],
)
def test_every_form_is_read(text: str, ids: list[str]) -> None:
    """Brackets of both widths, lists, ranges, and bare ids behind a sentence end; what is left is the sentence."""
    marks = find_marks(text)
    assert [ident for mark in marks for ident in mark.ids] == ids
    assert strip_marks(text) in ("需要3天。", "“可以退。”")


@pytest.mark.parametrize(
    "text",
    [
        "[1]",
        "[1,2]",
        "【6†标题】",
        "[ID:0]",
        "[ID:0, ID:5]",
        "ID 1提到",
        "Document 2",
        "[来源S1]",
        "[文档1]",
        "[S]",
        "[S1",
        "[S1-S9]",
        "[S3-S1]",
        "[S1,S2,S3,S4,S5]",
    ],
)
def test_what_is_not_understood_is_reported_and_left(text: str) -> None:
    """An unknown form, a backward or long range is a bad mark: it blocks, and is not silently removed."""
    marks = find_marks(f"需要3天{text}。")
    assert len([mark for mark in marks if mark.bad]) >= 1
    assert all(mark.bad for mark in marks)
    assert strip_marks(f"需要3天{text}。") == f"需要3天{text}。"


@pytest.mark.parametrize(
    "text",
    [
        "【注意】不可拆机",
        "（1）打开；一、关上；①重启",
        "满足S1、S2条件",
        "需要3天S1。",
        "Galaxy S3电池",
        "见附件[说明]",
    ],
)
def test_ordinary_text_is_no_mark(text: str) -> None:
    """Stems, notes and products in running text are not citations."""
    assert find_marks(text) == []


def test_a_product_named_like_a_mark_is_no_bare_mark() -> None:
    """A phone S3 in the passages: 支持。S3支持快充 begins a sentence about it."""
    assert find_marks("支持快充。S3支持无线充", taken={"s3"}) == []
    assert find_marks("支持快充。S3支持无线充")[0].ids == ("S3",)
    assert find_marks("支持快充[S3]", taken={"s3"})[0].ids == ("S3",)


def test_blanks_before_a_mark_go_with_it() -> None:
    """No hole is left in the spoken sentence."""
    assert strip_marks("需要 3 天 [S1] 。") == "需要 3 天 。"


@given(st.text(alphabet="[]【】()（）S s12,、-~。，†ID:退", max_size=30))
@settings(max_examples=500, deadline=None)
def test_marks_never_overlap_and_stripping_removes_the_good_ones(text: str) -> None:
    """Any text is parsed; marks are ordered and apart."""
    marks = find_marks(text)
    assert all(one.end <= other.start for one, other in zip(marks, marks[1:], strict=False))
    assert all(0 <= mark.start < mark.end <= len(text) for mark in marks)
    strip_marks(text)


@given(st.text(max_size=200), st.lists(st.sampled_from(["s1", "s12", "退"]), max_size=2))
@settings(deadline=None)
def test_any_text_at_all_is_parsed(text: str, taken: list[str]) -> None:
    """Arbitrary Unicode: nothing is raised, positions are the text's own, and without a mark nothing is taken away."""
    marks = find_marks(text, taken)
    assert all(0 <= mark.start < mark.end <= len(text) for mark in marks)
    assert marks or strip_marks(text, taken) == text
