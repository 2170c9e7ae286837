"""Laws of cutting documents into passages."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.chunk import ChunkRules, chunks
from retrieval.markdown import parse

SENTENCE = "这是一句二十个字左右的说明文字，写得长些。"


def test_a_section_that_fits_is_one_passage() -> None:
    """Facts under one heading stay together."""
    made = chunks(parse(f"# 手册\n\n## 灯号\n\n{SENTENCE}\n\n{SENTENCE}"))
    assert [(c.key, c.path, c.text) for c in made] == [
        ("灯号-1", ("手册", "灯号"), f"{SENTENCE}\n{SENTENCE}")
    ]


def test_no_passage_crosses_a_heading() -> None:
    """Two headings are two passages however short they are."""
    assert [c.text for c in chunks(parse("# 手册\n\n甲。\n\n## 一\n\n乙。\n\n## 二\n\n丙。"))] == [
        "甲。",
        "乙。",
        "丙。",
    ]


def test_full_passages_are_cut_between_paragraphs() -> None:
    """A paragraph within the limit is never cut."""
    paragraph = SENTENCE * 6
    assert [c.text for c in chunks(parse(f"## 一\n\n{paragraph}\n\n{paragraph}"))] == [paragraph, paragraph]


def test_a_long_paragraph_is_cut_between_sentences_with_overlap() -> None:
    """Every part is whole sentences within the limit and begins with the last sentence of the part before."""
    text = "".join(f"第{i}句，{SENTENCE}" for i in range(60))
    parts = [c.text for c in chunks(parse(f"## 一\n\n{text}"))]
    assert len(parts) > 2
    assert all(len(part) <= ChunkRules().limit and part.endswith("。") for part in parts)
    for before, after in zip(parts, parts[1:], strict=False):
        assert before.endswith(after.split("。")[0] + "。")


def test_the_lead_in_of_a_list_or_table_stays_with_it() -> None:
    """各灯的含义如下。 means nothing without what follows."""
    rows = "\n".join(f"| 灯{i} | {SENTENCE} |" for i in range(5))
    made = chunks(parse(f"## 一\n\n{SENTENCE * 5}各灯的含义如下。\n\n| 灯 | 含义 |\n|---|---|\n{rows}"))
    assert made[0].text == SENTENCE * 5
    assert made[1].text.startswith("各灯的含义如下。\n灯0的含义为")
    assert made[1].text.count("\n") == 5


def test_keys_survive_edits_elsewhere() -> None:
    """Adding a section before or text after changes no other passage's id."""
    one = "# 手册\n\n## 灯号\n\n甲。\n\n## 保养\n\n乙。"
    two = "# 新手册名\n\n## 新章\n\n丁。\n\n## 灯号\n\n甲。\n\n## 保养\n\n乙。"
    keys = {c.text: c.key for c in chunks(parse(one))}
    later = {c.text: c.key for c in chunks(parse(two))}
    assert keys.items() <= later.items()


def test_text_without_headings_has_hashed_keys() -> None:
    """No running number: a paragraph put before changes no key, and a repeated one is one passage."""
    long = SENTENCE * 7
    before = {c.text: c.key for c in chunks(parse(f"{long}甲。\n\n{long}乙。"))}
    after = {c.text: c.key for c in chunks(parse(f"{long}丙。\n\n{long}甲。\n\n{long}乙。\n\n{long}乙。"))}
    assert before.items() <= after.items()
    assert len(after) == 3


@pytest.mark.parametrize(
    "wrong", [{"target": 0}, {"target": 500, "limit": 400}, {"overlap": 0.5}, {"overlap": -0.1}]
)
def test_impossible_rules_are_refused(wrong: dict[str, float]) -> None:
    """Sizes that could not make progress do not exist."""
    with pytest.raises(ValueError, match="chunk rules"):
        ChunkRules(**wrong)  # type: ignore[arg-type]


@given(st.text(alphabet="#|-1. \n退货。，a", max_size=120), st.integers(1, 40))
@settings(max_examples=200, deadline=None)
def test_passages_are_bounded_and_never_empty(text: str, times: int) -> None:
    """Whatever the document, no passage is over the limit and none is blank; keys are unique."""
    made = chunks(parse(text * times))
    assert all(chunk.text.strip() and len(chunk.text) <= ChunkRules().limit for chunk in made)
    assert len({chunk.key for chunk in made}) == len(made)
