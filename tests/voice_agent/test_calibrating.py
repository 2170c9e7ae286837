"""A calibration from questions to a file: asked of the real search and gate over a small knowledge base."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from retrieval.calibrate import Wanted
from retrieval.calibration import FILE, load, save
from retrieval.gate import GateModel, thresholds_for
from retrieval.homophones import NoRepairs
from retrieval.index import build_index
from retrieval.rerank import LateInteraction
from retrieval.search import Searcher, SearchSettings
from tests.retrieval.letters import LetterEncoder, Reads, corpus, passage
from tests.voice_agent.answering import answerer, extractive
from voice_agent.calibrating import Calibrator
from voice_agent.config import Config, Gate, Paths
from voice_agent.doors.calibrate import share
from voice_agent.errors import ConfigError, InputError
from voice_agent.evaluation.questions import Question
from voice_agent.gating import Gating, gating_of
from voice_agent.knowledge import Knowledge
from voice_agent.reply.answer import Asked

DAY = date(2026, 11, 30)
SUBJECTS = ("退款", "发票", "快递", "会员", "密码", "漫游", "宽带", "路由器", "积分", "保修")
PASSAGES = tuple(
    passage(f"p{i}", f"{name}由专人在当天处理完毕。", title=name) for i, name in enumerate(SUBJECTS)
)
ANSWERABLE = [
    Question(f"a{i}-{n}", "plain", Asked(f"{name}当天能处理吗{n}", DAY), (f"p{i}",), False)
    for i, name in enumerate(SUBJECTS)
    for n in range(2)
]
TO_REFUSE = [
    Question(f"r{n}", "off_topic", Asked(f"{what}{n}", DAY), (), True)
    for n, what in enumerate(("晚饭吃什么", "明早下雪吗", "股市涨了没", "谁写的小说") * 5)
]


@pytest.fixture(scope="module")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Knowledge]:
    encoder, made = LetterEncoder(id="e5-letters"), corpus(*PASSAGES)
    index = build_index(tmp_path_factory.mktemp("index"), made, encoder)
    reranker = LateInteraction(encoder, index.tokens)
    thresholds = thresholds_for(reranker, encoder.id)
    with Searcher(index, encoder, reranker) as searcher:
        gate = GateModel(searcher.known, reranker, thresholds, reader=Reads())
        whole = replace(answerer(extractive()), searcher=searcher, gate=gate, repairer=NoRepairs())
        yield Knowledge(made, index, encoder, reranker, whole, Gating(thresholds, "shipped", Reads()), {})


def test_questions_become_a_calibration(knowledge: Knowledge, tmp_path: Path) -> None:
    """Bound to its models and corpus, with weights for every channel, and both halves counted."""
    told: list[str] = []
    calibrator = Calibrator(
        [*ANSWERABLE, *TO_REFUSE], knowledge, Wanted(), lambda what, *_: told.append(what)
    )
    made = calibrator.run(SearchSettings())
    calibration = made.calibration
    assert (calibration.reranker, calibration.encoder) == (knowledge.reranker.id, knowledge.encoder.id)
    assert calibration.corpus == knowledge.corpus.sha
    assert set(calibration.weights) == set(calibration.blend) == {"bm25", "dense", "phonetic"}
    assert calibration.bound.chosen_on[1] + calibration.bound.seen_on[1] == len(TO_REFUSE)
    assert made.false_accept.total == len(TO_REFUSE) and made.false_reject.total == len(ANSWERABLE)
    assert {"融合", "门限"} < set(told)
    assert load(save(calibration, tmp_path)) == calibration


def test_one_kind_of_question_calibrates_nothing(knowledge: Knowledge) -> None:
    """Only answerable, or only to be refused: one line that says what to add."""
    for questions in (ANSWERABLE, TO_REFUSE):
        with pytest.raises(InputError, match="needs questions with an answer and questions to refuse"):
            Calibrator(questions, knowledge, Wanted(), lambda *_: None).run(SearchSettings())


def test_what_is_in_force_follows_the_file_beside_the_index(
    knowledge: Knowledge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None: shipped, or refused when one is required. This corpus's: stored. Another corpus's: stale."""
    monkeypatch.setattr("voice_agent.gating._reader", lambda *_: Reads())
    parts = knowledge.corpus, knowledge.encoder, knowledge.reranker
    config = Config(paths=Paths(index=tmp_path))
    strict = Config(paths=Paths(index=tmp_path), gate=Gate(require_calibrated=True))
    assert gating_of(config, *parts).state == "shipped"
    with pytest.raises(ConfigError, match="there is none; run voice-agent calibrate"):
        gating_of(strict, *parts)
    made = Calibrator([*ANSWERABLE, *TO_REFUSE], knowledge, Wanted(), lambda *_: None).run(SearchSettings())
    save(made.calibration, tmp_path)
    assert gating_of(strict, *parts).state == "stored"
    other = corpus(*PASSAGES, passage("more", "新加的一条。"))
    assert gating_of(config, other, *parts[1:]).state == "stale"
    with pytest.raises(ConfigError, match="older knowledge base"):
        gating_of(strict, other, *parts[1:])
    shadowed = Config(paths=Paths(index=tmp_path), gate=Gate(shadow=tmp_path / FILE))
    assert gating_of(shadowed, *parts).shadow == gating_of(config, *parts).thresholds
    missing = Config(paths=Paths(index=tmp_path), gate=Gate(shadow=tmp_path / "none.json"))
    with pytest.raises(ConfigError, match="gate.shadow: no calibration at"):
        gating_of(missing, *parts)


@pytest.mark.parametrize("text", ["0", "1", "2%", "-0.1", "nan", ""])
def test_a_share_is_between_0_and_1(text: str) -> None:
    """The command line says how to write it."""
    with pytest.raises(Exception, match=r"write it as 0\.02"):
        share(text)
