"""The parts of the retrieval benches: paragraphs are chosen by seed, closed wholly, and rows are counted rightly."""

from __future__ import annotations

import json
import sys
from datetime import date
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from recall.cmrc import paragraphs, passages_of, question, sampled_questions, without, write_kb  # noqa: E402
from recall.layers import STEPS  # noqa: E402
from recall.table import Row, measured  # noqa: E402

from retrieval.corpus import load_corpus  # noqa: E402
from retrieval.filters import Filters  # noqa: E402
from retrieval.index import Index  # noqa: E402
from retrieval.token_store import TokenStore  # noqa: E402
from retrieval.types import Passage, PassageId  # noqa: E402

DAY = date(2026, 11, 30)


def squad(tmp_path: Path, count: int) -> Path:
    """A file in the form of the public set."""
    rows = [
        {
            "title": f"题{n}",
            "paragraphs": [
                {
                    "id": f"P{n}",
                    "context": f"第{n}段。",
                    "qas": [{"id": f"P{n}_Q{m}", "question": "问" * (m + 1)} for m in range(3)],
                }
            ],
        }
        for n in range(count)
    ]
    path = tmp_path / "squad.json"
    path.write_text(json.dumps({"data": rows}, ensure_ascii=False), encoding="utf-8")
    return path


def index_of(*ids: str) -> Index:
    passages = tuple(Passage(PassageId(one), "文") for one in ids)
    empty = np.zeros((0, 2), dtype=np.float32)
    tokens = TokenStore(
        rows={}, starts=np.zeros(1, dtype=np.int64), ids=np.zeros(0, dtype=np.int32), vectors=empty.astype(np.float16),
        lengths=np.zeros(0, dtype=np.float32), holding={}, query_centre=np.zeros(2, np.float32),
        passage_centre=np.zeros(2, np.float32),
    )  # fmt: skip
    return Index(passages, "", "", "e", empty, np.zeros(1, dtype=np.int64), tokens)


def test_the_same_paragraphs_on_every_run_and_in_the_files_order(tmp_path: Path) -> None:
    """Seeded; a choice of more than there are is all of them; the kb file loads as a corpus."""
    path = squad(tmp_path, 9)
    chosen = paragraphs(path, 4)
    assert chosen == paragraphs(path, 4) and [p.id for p in chosen] == sorted(p.id for p in chosen)
    assert len(paragraphs(path, None)) == len(paragraphs(path, 99)) == 9
    corpus = load_corpus(write_kb(tmp_path / "kb", chosen))
    assert [p.id for p in corpus.passages] == [p.id for p in chosen]
    with pytest.raises(SystemExit, match="--data"):
        paragraphs(tmp_path / "gone.json", None)


def test_a_larger_choice_of_questions_begins_with_the_smaller(tmp_path: Path) -> None:
    """So that what was heard for ten is not heard again for a hundred; long questions are left out."""
    chosen = paragraphs(squad(tmp_path, 9), None)
    few, many = sampled_questions(chosen, 5, 2), sampled_questions(chosen, 12, 2)
    assert many[:5] == few and len(many) == 12
    assert all(len(words) <= 2 for _, words, _ in many)


def test_a_paragraph_is_its_passage_or_its_parts() -> None:
    """P1 is not P10; a cut paragraph is all of its parts."""
    passages = index_of("P1", "P10", "P2#-1", "P2#-2").passages
    assert passages_of("P1", passages) == ("P1",)
    assert passages_of("P2", passages) == ("P2#-1", "P2#-2")
    assert question("q", "问", ()).must_refuse


def test_a_closed_passage_is_open_again_behind_the_block() -> None:
    """Every searcher asks its filters which rows are open; behind the block, also after a fault, all is as before."""
    index = index_of("P1", "P2", "P3")
    filters = Filters(index.passages)
    with pytest.raises(RuntimeError, match="inside"), without(["P2"], index):
        assert filters.open_rows(DAY).tolist() == [True, False, True]
        raise RuntimeError("inside")
    assert filters.open_rows(DAY).all()


def test_a_row_is_measured_against_the_shipped_one() -> None:
    """Recall, P50 and the paired difference; a row over fewer questions has none."""
    rows = {"shipped": Row(), "other": Row(), "part": Row()}
    for n in range(4):
        rows["shipped"].add(["a"], ["a"], 10.0)
        rows["other"].add(["b", "a"] if n else ["b", "c", "d", "a"], ["a"], 20.0 + n)
    rows["part"].add(["a"], ["a"], 1.0)
    table = measured(rows, "shipped")
    assert (table["other"]["recall@1"], table["other"]["recall@3"], table["other"]["recall@10"]) == (
        0.0,
        0.75,
        1.0,
    )
    assert table["other"]["p50_ms"] == 21.0
    assert table["other"]["against"] is not None and table["part"]["against"] is None
    assert table["shipped"]["against"] == [0.0, 0.0, 0.0]


def test_each_step_of_the_ablation_adds_one_layer() -> None:
    """Otherwise a step's gain could not be laid at one door."""
    steps = list(STEPS.values())[2:]  # before that single channels are compared
    for one, other in zip(steps, steps[1:], strict=False):
        names = ("channels", "codes_first", "history", "repair", "rerank", "blend")
        assert sum(getattr(one, name) != getattr(other, name) for name in names) == 1
