"""Laws of cutting documents into passages."""

from __future__ import annotations

from itertools import pairwise
from statistics import mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.chunk import CHARS_PER_TOKEN, ChunkRules, chunks
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
    """A paragraph within the limit is never cut; the second passage begins with the last sentence of the first."""
    one, other = SENTENCE * 5 + "甲地的规定到此为止，乙地的另外说。", SENTENCE * 6
    assert [c.text for c in chunks(parse(f"## 一\n\n{one}\n\n{other}"))] == [
        one,
        f"甲地的规定到此为止，乙地的另外说。\n{other}",
    ]


def test_a_long_paragraph_is_cut_between_sentences_with_overlap() -> None:
    """Every part is whole sentences within the limit and begins with the last sentences of the part before."""
    text = "".join(f"第{i}句，{SENTENCE}" for i in range(60))
    parts = [c.text for c in chunks(parse(f"## 一\n\n{text}"))]
    assert len(parts) > 2
    assert all(len(part) <= ChunkRules().limit and part.endswith("。") for part in parts)
    assert all(repeated(before, after) for before, after in pairwise(parts))


def repeated(before: str, after: str) -> int:
    """How many characters at the end of the one passage the next begins with."""
    return max(n for n in range(len(after)) if before.endswith(after[:n].rstrip("\n")))


@pytest.mark.parametrize("paragraph", [1, 3, 7, 400])
def test_long_running_text_gives_passages_of_300_to_512_tokens_that_overlap_by_a_tenth_or_more(
    paragraph: int,
) -> None:
    """At the sizes meant for long documents: however long its paragraphs, 10 to 15 % stands in both neighbours."""
    lengths = [9, 22, 31, 14, 40, 27, 18, 35, 25]
    said = [f"第{i:03}条" + "文" * lengths[i % 9] + "。" for i in range(400)]
    text = "\n\n".join("".join(said[i : i + paragraph]) for i in range(0, 400, paragraph))
    rules = ChunkRules.of_tokens(400, 480, 0.12)
    parts = [c.text for c in chunks(parse(f"## 一\n\n{text}"), rules)]
    assert all(300 <= len(part) / CHARS_PER_TOKEN <= 512 for part in parts[:-1])
    shares = [repeated(before, after) / len(after) for before, after in pairwise(parts[:-1])]
    assert 0.10 <= mean(shares) <= 0.15
    assert min(shares) > 0.05
    assert all(sentence in "".join(parts) for sentence in said)


def test_a_table_is_whole_or_keeps_its_head_in_every_part() -> None:
    """A table within the limit is never cut; in a longer one each row names its columns and each part its lead-in."""
    rows = [f"| 灯{i:02} | {SENTENCE} |" for i in range(40)]
    table = "\n".join(["各灯的含义如下。\n\n| 灯号 | 含义 |\n|---|---|", *rows])
    (whole,) = chunks(parse(f"## 一\n\n{table}"), ChunkRules(180, 4000))
    assert whole.text.count("的含义为") == 40
    parts = [c.text for c in chunks(parse(f"## 一\n\n{table}"))]
    assert len(parts) > 2
    for part in parts:
        lead, *lines = part.split("\n")
        assert lead == "各灯的含义如下。"
        assert all(line.startswith("灯号灯") and "的含义为" in line for line in lines)
    assert sum(part.count("的含义为") for part in parts) == 40


def test_a_list_that_is_cut_loses_and_repeats_no_item() -> None:
    """Steps are cut between items and none is said twice."""
    items = [f"{i}. 第{i}步，{SENTENCE}" for i in range(1, 41)]
    joined = "\n".join(items)
    parts = [c.text for c in chunks(parse(f"## 一\n\n{joined}"))]
    lines = "\n".join(parts).split("\n")
    assert [line.split("，")[0] for line in lines] == [f"{i}、第{i}步" for i in range(1, 41)]


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
    before = [c.key for c in chunks(parse(f"{long}甲。\n\n{long}乙。"))]
    after = [c.key for c in chunks(parse(f"{long}丙。\n\n{long}甲。\n\n{long}乙。\n\n{long}乙。"))]
    assert after[1:] == before


@pytest.mark.parametrize(
    "wrong", [{"target": 0}, {"target": 500, "limit": 400}, {"overlap": 0.5}, {"overlap": -0.1}]
)
def test_impossible_rules_are_refused(wrong: dict[str, float]) -> None:
    """Sizes that could not make progress do not exist."""
    with pytest.raises(ValueError, match="chunk rules"):
        ChunkRules(**wrong)  # type: ignore[arg-type]


@given(
    st.text(alphabet="#|-1. \n退货。，a", max_size=120), st.integers(1, 40), st.sampled_from([54, 180, 643])
)
@settings(max_examples=200, deadline=None)
def test_passages_are_bounded_and_never_empty(text: str, times: int, limit: int) -> None:
    """Whatever the document, no passage is over the limit and none is blank; keys are unique."""
    made = chunks(parse(text * times), ChunkRules(min(180, limit), limit, 0.3))
    assert all(chunk.text.strip() and len(chunk.text) <= limit for chunk in made)
    assert len({chunk.key for chunk in made}) == len(made)
