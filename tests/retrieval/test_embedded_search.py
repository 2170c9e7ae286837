"""The embedded profile on the demo knowledge base: real encoder, real index, search and gate together.

Floors stand a little under what is measured, so that a change that costs quality is seen.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from retrieval.answerability import Answerability
from retrieval.corpus import load_corpus
from retrieval.encoder import OnnxE5Encoder
from retrieval.entry import fingerprinted
from retrieval.gate import GateModel, thresholds_for
from retrieval.homophones import Repairer
from retrieval.index import build_index
from retrieval.metrics import Judged, false_accept, hit_at, mean, wrong_answer
from retrieval.query import make_query
from retrieval.rerank import LateInteraction
from retrieval.search import Searcher
from retrieval.types import Found, Gate, GateReason, Outcome

pytestmark = pytest.mark.models

DATA = Path(__file__).parents[2] / "data"
TODAY = date(2026, 11, 30)


@dataclass(frozen=True, slots=True)
class Desk:
    """Repair, search and the gate that judges it, as an answer walks them, without callers' questions: they take a
    minute to encode, and the recorded calls are answered with them.
    """

    repairer: Repairer
    searcher: Searcher
    gate: GateModel

    def ask(self, question: str, history: tuple[str, ...] = (), day: date = TODAY) -> tuple[Found, Gate]:
        found = self.searcher.search(make_query(self.repairer.repair(question).text, history), day)
        return found, self.gate.judge(found)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    from voice_agent.weights.store import require

    encoder = OnnxE5Encoder(require("e5-small"), threads=2)
    whole = load_corpus(DATA / "kb")
    bare = [fingerprinted(replace(p, examples=(), near_misses=())) for p in whole.passages]
    index = build_index(tmp_path_factory.mktemp("kb"), replace(whole, passages=tuple(bare)), encoder)
    reranker = LateInteraction(encoder, index.tokens)
    with Searcher(index, encoder, reranker) as searcher:
        reader, thresholds = Answerability(require("e5-small")), thresholds_for(reranker, encoder.id)
        gate = GateModel(searcher.known, reranker, thresholds, reader=reader)
        yield Desk(Repairer(index.passages), searcher, gate)


@pytest.mark.parametrize("question", ["ERR_2048 报错怎么处理", "err2048怎么弄", "E R R 下划线二零四八"])
def test_a_code_is_answered_by_its_own_entry_only(desk: Desk, question: str) -> None:
    """ERR_2048 leads, and ERR_2049 is not even evidence."""
    found, gate = desk.ask(question)
    ids = [e.passage.id for e in found.evidence]
    assert ids[0] == "err-2048" and "err-2049" not in ids
    assert gate.outcome is Outcome.ANSWER


@pytest.mark.parametrize(
    "question", ["ERR_2050怎么处理", "X300音箱怎么配网", "RTX-4070要多少瓦电源", "0x80070006是什么"]
)
def test_a_code_that_is_not_there_is_refused(desk: Desk, question: str) -> None:
    """However near the neighbours score, a code no passage holds is refused by name."""
    _, gate = desk.ask(question)
    assert (gate.outcome, gate.reason) == (Outcome.REFUSE, GateReason.CODE_UNCOVERED)


@pytest.mark.parametrize("question", ["帮我预测下周黄金价格", "红烧肉怎么做才不柴", "明天上海下雨吗"])
def test_what_is_not_our_business_is_refused(desk: Desk, question: str) -> None:
    """Off-topic questions end in a refusal, not in the nearest passage."""
    assert desk.ask(question)[1].outcome is Outcome.REFUSE


@pytest.mark.parametrize("question", ["我要投诉你们", "充电宝冒烟了怎么办"])
def test_topics_for_a_person_go_to_a_person(desk: Desk, question: str) -> None:
    """However sure the search is."""
    _, gate = desk.ask(question)
    assert (gate.outcome, gate.reason) == (Outcome.REFUSE, GateReason.MUST_HANDOFF)


def questions() -> list[dict[str, Any]]:
    lines = (DATA / "eval" / "dev.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line]


@dataclass(frozen=True, slots=True)
class Asked:
    """One dev question with what came of it."""

    row: dict[str, Any]
    found: Found
    gate: Gate

    @property
    def ids(self) -> list[str]:
        return [e.passage.id for e in self.found.evidence]


@pytest.fixture(scope="module")
def asked(desk: Desk) -> list[Asked]:
    results = []
    for row in questions():
        last = (row.get("history") or [None])[-1]
        history = (last["question"], last["answer"]) if last else ()
        results.append(Asked(row, *desk.ask(row["question"], history, date.fromisoformat(row["as_of"]))))
    return results


def test_the_right_passage_is_among_the_first(asked: list[Asked]) -> None:
    """Over all answerable dev questions; codes nearly always first, and reranking above each channel alone."""
    answerable = [a for a in asked if a.row["expect"]]

    def recall(k: int, rankings: list[tuple[list[str], dict[str, Any]]]) -> float:
        return mean(hit_at(k, ids, row["expect"]) for ids, row in rankings) or 0.0

    ranked = [(a.ids, a.row) for a in answerable]
    assert recall(1, ranked) >= 0.85
    assert recall(3, ranked) >= 0.94
    codes = [(ids, row) for ids, row in ranked if row["kind"] == "code_lookalike"]
    assert recall(1, codes) >= 0.97
    for channel in ("bm25", "dense"):
        alone = [([pid for pid, _ in a.found.rankings[channel]], a.row) for a in answerable]  # type: ignore[index]
        assert recall(1, ranked) > recall(1, alone) + 0.05


def test_nothing_expired_is_ever_evidence(asked: list[Asked]) -> None:
    """Every passage of every evidence list is valid on the question's day."""
    for a in asked:
        day = date.fromisoformat(a.row["as_of"])
        assert all(e.passage.valid_on(day) for e in a.found.evidence), a.row["id"]
        assert all(e.rerank is not None for e in a.found.evidence), a.row["id"]


def test_wrong_answers_are_rarer_than_refusals(asked: list[Asked]) -> None:
    """What must be refused is seldom answered, topics for a person never, and a wrong passage nearly never."""
    judged = [
        Judged(a.gate.outcome, a.row["must_refuse"], bool(a.ids) and a.ids[0] in a.row["expect"])
        for a in asked
    ]
    assert (false_accept(judged).share or 0.0) <= 0.05
    assert (wrong_answer(judged).share or 0.0) <= 0.01
    answered = Counter(a.row["kind"] for a in asked if a.gate.outcome is Outcome.ANSWER)
    assert answered["must_handoff"] == 0
    assert answered["off_topic"] <= 2
    assert answered["code_lookalike"] >= 33 and answered["misheard"] >= 42


def test_a_search_is_repeatable(desk: Desk, asked: list[Asked]) -> None:
    """The same question finds the same evidence with the same scores."""
    for a in asked[::60]:
        last = (a.row.get("history") or [None])[-1]
        history = (last["question"], last["answer"]) if last else ()
        again, gate = desk.ask(a.row["question"], history, date.fromisoformat(a.row["as_of"]))
        assert again.evidence == a.found.evidence and gate == a.gate
