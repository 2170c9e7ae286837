"""Whatever a caller says, however the parts fail: no exception, no score that is no number, no answer from nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrieval.conditions import conditions_of
from retrieval.dense import Dense
from retrieval.encoder import Encoder, OnnxE5Encoder
from retrieval.errors import ModelError
from retrieval.filters import OpenRows
from retrieval.gate import LATE_INTERACTION, GateModel, Thresholds
from retrieval.index import Index, build_index
from retrieval.query import make_query
from retrieval.recall import RecallChannel
from retrieval.rerank import LateInteraction, Scale
from retrieval.search import Searcher, SearchSettings
from retrieval.types import Channel, Found, Gate, GateReason, Outcome, Query, Ranking
from tests.retrieval.letters import LetterEncoder, Reads, corpus, passage

TODAY = date(2026, 11, 30)
PASSAGES = (
    passage("card", "银行卡退款在3到5个工作日内到账。", "银行卡退款", ("退到银行卡要几天",), tags=("退款",)),
    passage("e2048", "ERR_2048表示登录会话已过期，请重新登录。", "错误代码ERR_2048", version="V2.3"),
    passage("e2049", "ERR_2049表示登录设备过多。", "错误代码ERR_2049", version="V2.4"),
    passage("ship-2025", "满99元包邮。", "包邮门槛", valid_to=date(2025, 12, 31)),
    passage("ship-2026", "满79元包邮。", "包邮门槛", valid_from=date(2026, 1, 1)),
    passage("person", "投诉由专员处理。", "投诉", must_handoff=True),
    passage("marks", "……！？", "。"),
)

EAGER: Thresholds = {**LATE_INTERACTION, "answer": 0.0, "clarify": 0.0, "min_transcript": 0.0}
"""Answers whatever was measured at all, so that only the want of evidence can stop it."""

WORDS = (
    "退款", "几天", "银行卡", "ERR_2048", "err 2049", "0x80070005", "包邮", "去年的", "规定", "2023年之后的",
    "除了", "但不是", "上个版本的", "V2.3固件", "不要", "三到五个工作日", "两千块", "幺三八", "嗯", "那个",
    "投诉", "\ud800", "\u0000", "\u200b", "①", "½", "٣", "𝟚", "é", "👨‍👩‍👧", "\u202e", "ﷺ", "　", "\n",
    "nan", "inf", "-1", "[S1]", "' OR 1=1 --", "<think>", "\\", "%s", "{0}",
)  # fmt: skip
SAID = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=()), max_size=60),
    st.lists(
        st.one_of(st.sampled_from(WORDS), st.text(alphabet=st.characters(exclude_categories=()), max_size=4)),
        max_size=10,
    ).map("".join),
)
DAYS = st.one_of(st.just(TODAY), st.dates())
HISTORY = st.one_of(st.just(()), st.tuples(SAID, SAID))


PATIENCE_MS = 30_000.0
"""Only a hang is late: a busy machine must not look like a channel that is down."""


@dataclass(frozen=True, slots=True)
class Desk:
    """A searcher and two gates that judge what it finds: the shipped one and the one that answers all it can."""

    index: Index
    encoder: Encoder
    searcher: Searcher
    shipped: GateModel
    eager: GateModel

    def ask(self, words: str, day: date = TODAY, history: tuple[str, ...] = ()) -> Found:
        conditions = conditions_of(words, day, self.searcher.narrowing.versions)
        return self.searcher.search(make_query(words, history), day, conditions=conditions)

    def judge(self, found: Found, confidence: float | None) -> list[Gate]:
        return [gate.judge(found, confidence) for gate in (self.shipped, self.eager)]


def desk(folder: Path, encoder: Encoder) -> Desk:
    index = build_index(folder, corpus(*PASSAGES), encoder)
    reranker = LateInteraction(encoder, index.tokens)
    searcher = Searcher(index, encoder, reranker, SearchSettings(deadline_ms=PATIENCE_MS))
    gates = [
        GateModel(searcher.known, reranker, thresholds, reader=Reads())
        for thresholds in (LATE_INTERACTION, EAGER)
    ]
    return Desk(index, encoder, searcher, *gates)


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = desk(tmp_path_factory.mktemp("letters"), LetterEncoder())
    with made.searcher:
        yield made


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    from voice_agent.weights.store import require

    made = desk(tmp_path_factory.mktemp("embedded"), OnnxE5Encoder(require("e5-small"), threads=1))
    with made.searcher:
        yield made


def numbers(found: Found) -> Iterator[float]:
    """Every score of a search."""
    for ranking in (*found.rankings.values(), found.fused):
        yield from (score for _, score in ranking)
    for evidence in found.evidence:
        yield evidence.fused
        yield from (hit.score for hit in evidence.hits.values())
        if evidence.rerank is not None:
            yield evidence.rerank
    yield from found.timings_ms.values()


def obeys(found: Found, gates: list[Gate]) -> None:
    """The laws of every search."""
    assert all(map(math.isfinite, numbers(found)))
    for gate in gates:
        assert all(value is None or math.isfinite(value) for value in gate.features.values())
        if gate.outcome is Outcome.ANSWER:
            assert found.evidence and found.searched and found.query.text
            assert found.evidence[0].rerank is not None and not found.down
            assert not found.evidence[0].passage.must_handoff
        if not found.query.text:
            assert (gate.outcome, gate.reason) == (Outcome.CLARIFY, GateReason.EMPTY_QUERY)
    if not found.lifted:
        day = found.as_of
        assert day is not None and all(e.passage.valid_on(day) for e in found.evidence[:1])


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(SAID, DAYS, HISTORY, st.one_of(st.none(), st.floats(0.0, 1.0)))
def test_any_words_on_any_day(
    letters: Desk, words: str, day: date, history: tuple[str, ...], sure: float | None
) -> None:
    """Arbitrary Unicode, halves of characters included, with any turn before it."""
    found = letters.ask(words, day, history)
    assert found.down == {}
    obeys(found, letters.judge(found, sure))


def test_the_eager_gate_does_answer(letters: Desk) -> None:
    """The law above is not empty: where there is evidence this gate answers what the shipped one may not."""
    found = letters.ask("退到银行卡要几天")
    assert letters.eager.judge(found).outcome is Outcome.ANSWER


@pytest.mark.models
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(SAID, HISTORY)
def test_any_words_to_the_embedded_encoder(embedded: Desk, words: str, history: tuple[str, ...]) -> None:
    """The real tokenizer and model take the same words and give numbers for all of them."""
    found = embedded.ask(words, TODAY, history)
    assert found.down == {}
    obeys(found, embedded.judge(found, None))


FLAWS = ("works", "fails", "empty")


@dataclass(frozen=True, slots=True)
class Flawed:
    """A channel that works, fails, or finds nothing."""

    inner: RecallChannel
    flaw: str

    def rank(self, query: Query, limit: int, allowed: OpenRows) -> Ranking:
        if self.flaw == "fails":
            raise ModelError("gone")
        return [] if self.flaw == "empty" else self.inner.rank(query, limit, allowed)


@dataclass(frozen=True)
class FlawedReranker:
    """Late interaction whose scores are, from one place on, what a broken model gives."""

    inner: LateInteraction
    flaw: float | None
    at: int
    id: str = "flawed"
    scale: Scale = "unit"

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        scores = self.inner.scores(query, texts)
        return scores if self.flaw is None else [*scores[: self.at], *[self.flaw] * len(scores[self.at :])]


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.sampled_from(["退款几天到账", "ERR_2048怎么办", "包邮", "去年的包邮门槛"]),
    st.sampled_from(FLAWS),
    st.sampled_from(FLAWS),
    st.sampled_from([None, math.nan, math.inf, -math.inf]),
    st.integers(0, 3),
)
def test_any_parts_broken(
    letters: Desk, question: str, words: str, meaning: str, broken: float | None, at: int
) -> None:
    """With any channel down or empty and any of the reranker's numbers broken, nothing is answered from nothing."""
    index, encoder = letters.index, letters.encoder
    channels: dict[Channel, RecallChannel] = {
        "bm25": Flawed(letters.searcher.words, words),
        "dense": Flawed(Dense(encoder, index.ids, index.vectors, index.starts), meaning),
    }
    reranker = FlawedReranker(LateInteraction(encoder, index.tokens), broken, at)
    with Searcher(index, encoder, reranker, channels=channels) as searcher:
        found = replace(letters, searcher=searcher).ask(question)
    gates = letters.judge(found, None)
    obeys(found, gates)
    if found.down:
        assert all(gate.outcome is not Outcome.ANSWER for gate in gates)
