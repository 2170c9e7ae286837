"""Laws of the corpus lint."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from retrieval.corpus import Corpus, load_corpus
from retrieval.lint import lint
from retrieval.types import Passage, PassageId

BASE = "普通商品签收后15天内可以无理由退货，退货商品须保持完好，配件和赠品须一并寄回。"


def passage(ident: str, text: str, **fields: Any) -> Passage:
    complete = {"source": "手册", "questions": ("问？",), "valid_from": date(2026, 1, 1)}
    return Passage(PassageId(ident), text, **{**complete, **fields})


def kinds(*passages: Passage) -> list[tuple[str, tuple[str, ...]]]:
    return [(f.kind, f.ids) for f in lint(Corpus(passages, "", ""))]


def test_a_clean_corpus_has_no_findings() -> None:
    """Different texts with dates, sources and questions are nothing to report."""
    assert kinds(passage("a", BASE), passage("b", "宽带移机每次收费60元。")) == []


def test_near_duplicates_that_are_valid_together_are_found() -> None:
    """One changed number is a near duplicate, unless one of the two has ended."""
    other = BASE.replace("15天", "7天")
    assert ("near_duplicate", ("a", "b")) in kinds(passage("a", BASE), passage("b", other))
    ended = passage("b", other, valid_from=date(2025, 1, 1), valid_to=date(2025, 12, 31))
    assert kinds(passage("a", BASE), ended) == []


def test_every_near_pair_is_found_whatever_the_order() -> None:
    """Looking only at rare character pairs loses none of the pairs that comparing all would find."""
    texts = [BASE[:i] + "改" + BASE[i + 1 :] for i in range(0, len(BASE), 4)]
    made = [passage(f"p{i}", text) for i, text in enumerate(texts)]
    found = {ids for kind, ids in kinds(*made) if kind == "near_duplicate"}

    def pairs(text: str) -> set[str]:
        plain = "".join(c for c in text if c.isalnum())
        return {plain[i : i + 2] for i in range(len(plain) - 1)}

    expected = {
        (one.id, other.id)
        for i, one in enumerate(made)
        for other in made[i + 1 :]
        if len(pairs(one.text) & pairs(other.text)) >= 0.8 * len(pairs(one.text) | pairs(other.text))
    }
    assert found == expected
    assert len(found) > 10


def test_two_versions_valid_on_one_day_are_found() -> None:
    """The older must end before the newer begins."""
    old = passage("a", "旧规则。", title="退货", version="2025.1", valid_from=date(2025, 1, 1))
    new = passage("b", "新的规定不同。", title="退货", version="2026.1")
    assert ("version_overlap", ("a", "b")) in kinds(old, new)
    ended = passage(
        "a", "旧规则。", title="退货", version="2025.1", valid_to=date(2025, 12, 31), valid_from=None
    )
    assert "version_overlap" not in {kind for kind, _ in kinds(ended, new)}


def test_a_version_that_a_later_one_replaced_is_listed_once() -> None:
    """Both are dated rightly: the old one is no fault, but the author should know that it is there."""
    old = passage(
        "a", "旧规则。", title="退货", version="2025.1", valid_from=None, valid_to=date(2025, 12, 31)
    )
    new = passage("b", "新的规定不同。", title="退货", version="2026.1")
    other = replace(old, id=PassageId("c"), title="换货", text="换货的老办法。")
    assert kinds(old, new, other) == [("superseded", ("a",))]


def test_a_conflict_is_one_line_with_both_values() -> None:
    """The author reads which passages, which values, and the sentences."""
    one, other = (passage(i, f"宽带移机每次收费{n}元。", title="移机") for i, n in (("a", 60), ("b", 100)))
    found = lint(Corpus((one, other), "", ""))[0]
    assert (found.kind, found.ids) == ("conflict", ("a", "b"))
    assert "a says 60元 where b says 100元" in found.message
    assert "\n" not in found.message


def test_what_lacks_a_date_a_source_or_a_question_is_listed_once_a_kind() -> None:
    """One line per kind with all ids; chunks of manuals need no questions."""
    bare = passage("a", "甲乙。", source="", questions=(), valid_from=None)
    chunk = passage("m#一-1", "丙丁。", questions=())
    assert kinds(bare, chunk, passage("b", "戊己。", questions=())) == [
        ("no_date", ("a",)),
        ("no_source", ("a",)),
        ("no_question", ("a", "b")),
    ]


def test_the_demo_knowledge_base_has_no_conflicts_duplicates_or_overlapping_versions() -> None:
    """What we ship keeps its own rules."""
    demo = load_corpus(Path(__file__).resolve().parents[2] / "data" / "kb")
    assert {f.kind for f in lint(demo)} <= {"superseded", "no_date", "no_source", "no_question"}
