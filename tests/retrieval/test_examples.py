"""Callers' questions beside the documents: read from files of their own, searched, and weighed by the gate."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from retrieval.corpus import Corpus, load_corpus
from retrieval.dense import Dense
from retrieval.errors import CorpusError, ModelError
from retrieval.example_files import examples_of
from retrieval.examples import ExampleSearch
from retrieval.gate import LATE_INTERACTION, WITH_EXAMPLES, decide, sureness, weighed
from retrieval.gauge import Gauge
from retrieval.index import build_index, open_index
from retrieval.last_asked import LastAsked
from retrieval.query import make_query
from retrieval.rerank import LateInteraction
from retrieval.search import Searcher, SearchSettings
from retrieval.types import GateReason, Outcome, PassageId
from tests.retrieval.letters import LetterEncoder, Vectors

DAY = date(2026, 11, 30)
LIGHT, BILL = PassageId("light"), PassageId("book#top-1")

ENTRY = {"id": "light", "title": "指示灯", "text": "指示灯红色表示光信号中断。"}
TOLD = {"id": "light", "examples": ["上不了网了咋办", "家里断网"], "near_misses": ["指示灯怎么换颜色"]}


def kb(folder: Path, *told: dict[str, object]) -> Path:
    """A knowledge base of an entry and a chapter, and lines about them."""
    folder = folder / "kb"
    folder.mkdir(exist_ok=True)
    (folder / "a.jsonl").write_text(json.dumps(ENTRY, ensure_ascii=False), encoding="utf-8")
    (folder / "book.md").write_text("# 账单\n\n账单每月三号出具。\n", encoding="utf-8")
    lines = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in told)
    (folder / "asked.examples.jsonl").write_text(lines, encoding="utf-8")
    return folder


def passages_of(corpus: Corpus) -> dict[str, tuple[str, ...]]:
    return {p.id: p.examples for p in corpus.passages}


def test_lines_add_examples_to_entries_and_to_chapters(tmp_path: Path) -> None:
    """A file of examples holds no passage; its lines reach passages of every kind of file."""
    corpus = load_corpus(kb(tmp_path, TOLD, {"id": BILL, "examples": ["几号出账"]}))
    assert passages_of(corpus) == {"light": ("上不了网了咋办", "家里断网"), BILL: ("几号出账",)}
    assert corpus.has_examples


def test_examples_change_the_corpus_and_only_their_own_passage(tmp_path: Path) -> None:
    """So that an index is made again, and only what was told about is encoded again."""
    bare, told = load_corpus(kb(tmp_path)), load_corpus(kb(tmp_path, TOLD))
    assert bare.sha != told.sha and not bare.has_examples
    assert [a.sha == b.sha for a, b in zip(bare.passages, told.passages, strict=True)] == [False, True]


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ({"id": "nobody", "examples": ["问"]}, "no passage 'nobody'"),
        ({"examples": ["问"]}, "id is missing"),
        ({"id": "light", "questions": ["问"]}, "unknown key questions"),
        ({"id": "light", "examples": "问"}, "list of questions"),
        ({"id": "light", "examples": [" "]}, "none of them empty"),
        ({"id": "light", "examples": ["问"], "near_misses": ["问"]}, "under both keys"),
        ({"id": "light", "examples": ["\ud800"]}, "half a character"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: dict[str, object], wrong: str) -> None:
    """One line with file, line and what is wrong."""
    place = kb(tmp_path)
    (place / "asked.examples.jsonl").write_text(f"\n{json.dumps(line)}\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=rf"asked\.examples\.jsonl:2: .*{wrong}"):
        load_corpus(place)


def test_a_question_told_twice_stands_once(tmp_path: Path) -> None:
    """Over several lines, in the order told."""
    more = {"id": "light", "examples": ["家里断网", "没网了"]}
    assert passages_of(load_corpus(kb(tmp_path, TOLD, more)))["light"] == (
        "上不了网了咋办",
        "家里断网",
        "没网了",
    )
    assert examples_of({"id": "x"}, "f:1").examples == ()


def searcher_of(folder: Path, settings: SearchSettings | None = None) -> Searcher:
    encoder = LetterEncoder()
    place = kb(folder, TOLD)
    index = build_index(folder / "index", load_corpus(place), encoder)
    return Searcher(index, encoder, LateInteraction(encoder, index.tokens), settings)


def test_a_caller_finds_by_another_callers_words(tmp_path: Path) -> None:
    """The words stand in no passage; the channel is asked, and off it is not there."""
    query = make_query("家里断网")
    with searcher_of(tmp_path) as searcher:
        found = searcher.search(query, DAY)
        assert found.rankings["examples"][0][0] == LIGHT and found.evidence[0].passage.id == LIGHT
    with searcher_of(tmp_path, SearchSettings(examples=False)) as searcher:
        assert "examples" not in searcher.channels and searcher.known.examples is None


def test_a_closed_passage_is_not_found_by_its_examples(tmp_path: Path) -> None:
    """Filters hold for examples, too."""
    with searcher_of(tmp_path) as searcher:
        closed = np.array([p.id != LIGHT for p in searcher.passages])
        channel = searcher.channels["examples"]
        assert isinstance(channel, ExampleSearch)
        assert [one for one, _ in channel.rank(make_query("家里断网"), 10, closed)] == [BILL]


def test_the_index_keeps_examples_and_only_new_ones_are_encoded(tmp_path: Path) -> None:
    """What the index before held is taken as it is, near misses behind examples."""
    encoder = LetterEncoder()
    place = kb(tmp_path, TOLD)
    first = build_index(tmp_path / "index", load_corpus(place), encoder)
    assert first.examples is not None
    kept = first.examples.of(LIGHT).copy()
    assert (len(first.examples.answered(LIGHT)), len(first.examples.missed(LIGHT))) == (2, 1)
    kb(tmp_path, TOLD, {"id": BILL, "examples": ["几号出账"]})
    second = build_index(tmp_path / "index", load_corpus(place), Silent(("几号出账",)))
    assert second.examples is not None and np.array_equal(second.examples.of(LIGHT), kept)
    assert open_index(tmp_path / "index", encoder).examples is not None


class Silent(LetterEncoder):
    """Encodes these questions and no other."""

    def __init__(self, allowed: Sequence[str]) -> None:
        super().__init__()
        self._allowed = set(allowed)

    def queries(self, texts: Sequence[str]) -> Vectors:
        assert set(texts) <= self._allowed
        return super().queries(texts)


def test_likeness_tells_an_example_from_a_near_miss(tmp_path: Path) -> None:
    """The very words of an example are as like as can be and lead; those of a near miss trail."""
    with searcher_of(tmp_path) as searcher:
        known = searcher.known.examples
        assert known is not None
        same, miss = (
            known.likeness(make_query("家里断网"), LIGHT),
            known.likeness(make_query("指示灯怎么换颜色"), LIGHT),
        )
        assert same.top == pytest.approx(1.0, abs=1e-5)
        assert same.lead is not None and miss.lead is not None and same.lead > miss.lead
        none = known.likeness(make_query("几号出账"), BILL)
        assert (none.top, none.lead) == (None, None)


def test_a_passage_without_examples_is_still_measured(tmp_path: Path) -> None:
    """By its own cosine and no lead: a new chapter must not be unanswerable for want of examples."""
    with searcher_of(tmp_path) as searcher:
        found = searcher.search(make_query("账单每月三号出具"), DAY)
        assert found.evidence[0].passage.id == BILL
        features = Gauge(searcher.known, "unit", 0.4, 0.02).measure(found)
        assert (features["example_top"], features["example_lead"]) == (features["dense_top"], 0.0)


GOOD = {
    "asked": 1.0, "searched": 2.0, "codes_covered": 1.0, "slot_stated": 1.0, "conditions_met": 1.0, "consistent": 1.0,
    "rerank_margin": 0.2, "rerank_lead": 0.4, "dense_top": 0.9, "bm25_lead": 0.4, "agreement": 1.0, "answers": 2.0,
    "tellable": 1.0, "named": 1.0, "example_top": 0.97, "example_lead": 0.05,
}  # fmt: skip


def test_where_examples_are_told_the_gate_needs_them() -> None:
    """They count only with thresholds fitted with them, and then what could not be measured refuses."""
    assert decide(GOOD, WITH_EXAMPLES).outcome is Outcome.ANSWER
    assert decide({**GOOD, "example_lead": None}, WITH_EXAMPLES).reason is GateReason.CHANNEL_DOWN
    assert sureness({**GOOD, "example_lead": -0.05}, WITH_EXAMPLES) < sureness(GOOD, WITH_EXAMPLES)
    assert "example_lead" not in weighed(LATE_INTERACTION)
    assert sureness({**GOOD, "example_lead": None}, LATE_INTERACTION) == sureness(GOOD, LATE_INTERACTION)


def test_a_question_is_encoded_once_for_all_who_ask() -> None:
    """Channels share its vectors; a fault is not kept."""
    counted = Counting()
    asked = LastAsked(counted)
    meaning = Dense(asked, [LIGHT], counted.passages(["问"]), np.array([0, 1]))
    for _ in range(2):
        meaning.rank(make_query("问"), 1, np.array([True]))
    assert counted.asked == 1
    counted.broken = True
    with pytest.raises(ModelError):
        asked.queries(["别的"])
    counted.broken = False
    assert len(asked.queries(["别的"])) == 1


class Counting(LetterEncoder):
    """Counts how often it is asked; may break."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0
        self.broken = False

    def queries(self, texts: Sequence[str]) -> Vectors:
        self.asked += 1
        if self.broken:
            raise ModelError("broken")
        return super().queries(texts)
