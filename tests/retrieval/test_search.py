"""One search end to end on letters for vectors: what is found, in what order, and what happens when a part fails."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from retrieval.errors import ModelError
from retrieval.filters import OpenRows
from retrieval.index import Index, build_index
from retrieval.recall import RecallChannel
from retrieval.rerank import LateInteraction, Scale
from retrieval.search import Searcher, SearchSettings, make_query
from retrieval.types import Channel, Found, Passage, PassageId, Query, Ranking, Wording
from tests.retrieval.letters import LetterEncoder, corpus, passage

TODAY = date(2026, 11, 30)
PASSAGES = (
    passage(
        "refund-card", "银行卡退款在3到5个工作日内到账。", title="银行卡退款", questions=("退到银行卡要几天",)
    ),
    passage("refund-balance", "余额退款立即到账。", title="余额退款"),
    passage("err-2048", "ERR_2048表示登录会话已过期，请重新登录。", title="错误代码ERR_2048"),
    passage("err-2049", "ERR_2049表示登录设备过多，请移除设备。", title="错误代码ERR_2049"),
    passage("ship-2025", "满99元包邮。", title="包邮门槛", valid_to=date(2025, 12, 31)),
    passage("ship-2026", "满79元包邮。", title="包邮门槛", valid_from=date(2026, 1, 1)),
    passage("lamp", "状态灯蓝色常亮表示联网正常。", title="状态灯"),
)


@pytest.fixture(scope="module")
def encoder() -> LetterEncoder:
    return LetterEncoder()


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, encoder: LetterEncoder) -> Index:
    return build_index(tmp_path_factory.mktemp("index"), corpus(*PASSAGES), encoder)


@pytest.fixture(scope="module")
def searcher(index: Index, encoder: LetterEncoder) -> Iterator[Searcher]:
    with Searcher(index, encoder, LateInteraction(encoder, index.tokens)) as searcher:
        yield searcher


def ids(found: Found) -> list[str]:
    return [e.passage.id for e in found.evidence]


def ask(searcher: Searcher, words: str, day: date = TODAY, limit: int = 10) -> Found:
    return searcher.search(make_query(words), day, limit)


def test_the_right_passage_comes_first_with_all_it_earned(searcher: Searcher) -> None:
    """Evidence carries each channel's rank and score, the fused and the rerank score, and the surface that matched."""
    found = ask(searcher, "退到银行卡几天到账")
    top = found.evidence[0]
    assert top.passage.id == "refund-card"
    assert top.surface == "退到银行卡要几天"
    assert set(top.hits) == {"bm25", "dense", "phonetic"} and top.hits["dense"].rank >= 1
    assert top.fused == dict(found.fused)[top.passage.id] > 0.0
    assert top.rerank is not None and 0.0 < top.rerank <= 1.0
    assert found.down == {} and found.searched == 6
    assert {"bm25", "dense", "recall", "rerank", "search"} <= set(found.timings_ms)


@pytest.mark.parametrize(
    "words", ["ERR_2048怎么办", "err 2048 是什么", "E R R 下划线二零四八", "不是2049，是ERR2048"]
)
def test_a_code_question_never_sees_the_neighbouring_code(searcher: Searcher, words: str) -> None:
    """The holder leads and a passage about another code only is no evidence, wherever the channels ranked it."""
    found = ask(searcher, words)
    assert ids(found)[0] == "err-2048"
    assert "err-2049" not in ids(found)


def test_a_code_nobody_holds_drops_nothing(searcher: Searcher) -> None:
    """Without a holder the neighbours stay visible: the gate, not the search, refuses."""
    found = ask(searcher, "ERR_2050怎么办")
    assert found.query.codes == ("err2050",)
    assert {"err-2048", "err-2049"} <= set(ids(found))


def test_what_is_not_valid_on_the_day_is_not_found(searcher: Searcher) -> None:
    """The expired policy is in no ranking and no evidence today; on its own day it is the one found."""
    today, then = ask(searcher, "满多少包邮"), ask(searcher, "满多少包邮", date(2025, 6, 1))
    assert ids(today)[0] == "ship-2026" and ids(then)[0] == "ship-2025"
    for found, gone in ((today, "ship-2025"), (then, "ship-2026")):
        assert gone not in ids(found) and gone not in dict(found.fused)
        assert all(gone not in dict(ranking) for ranking in found.rankings.values())


def test_nothing_asked_and_nothing_indexed_find_nothing(
    searcher: Searcher, encoder: LetterEncoder, tmp_path: Path
) -> None:
    """An empty question is not searched for; an empty index answers every question with nothing."""
    empty = ask(searcher, "嗯……")
    assert (empty.evidence, empty.rankings, empty.searched) == ((), {}, 6)
    bare = build_index(tmp_path, corpus(), encoder)
    with Searcher(bare, encoder, LateInteraction(encoder, bare.tokens)) as nothing:
        found = ask(nothing, "退款")
    assert (found.evidence, found.searched) == ((), 0)


def test_an_index_with_nothing_valid_is_an_empty_one(
    searcher: Searcher, index: Index, encoder: LetterEncoder
) -> None:
    """When the date closes everything there is nothing to search."""
    future = replace(index, passages=tuple(replace(p, valid_from=date(2030, 1, 1)) for p in index.passages))
    with Searcher(future, encoder, LateInteraction(encoder, index.tokens)) as closed:
        assert ask(closed, "退款").searched == 0


def test_limit_is_the_longest_list(searcher: Searcher) -> None:
    """At most `limit` passages of evidence."""
    assert len(ask(searcher, "退款到账", limit=2).evidence) == 2
    assert ask(searcher, "退款到账", limit=0).evidence == ()


def test_two_runs_and_many_threads_find_the_same(searcher: Searcher) -> None:
    """A search depends on its question and day only, also when several run at once."""
    questions = ["退款几天", "ERR_2048", "包邮", "灯"] * 3
    alone = [replace(ask(searcher, q), timings_ms={}) for q in questions]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda q: replace(ask(searcher, q), timings_ms={}), questions))
    assert together == alone


@dataclass
class Scripted:
    """A channel that returns, raises or waits as told."""

    ranking: Ranking = field(default_factory=list)
    fault: Exception | None = None
    release: threading.Event | None = None
    asked: list[tuple[str, int]] = field(default_factory=list)

    def rank(self, query: Query, limit: int, allowed: OpenRows) -> Ranking:
        self.asked.append((query.text, limit))
        if self.release is not None:
            self.release.wait(30)
        if self.fault is not None:
            raise self.fault
        return self.ranking


@dataclass
class Verdicts:
    """A reranker that scores by the first title it finds in a text, 0 for others."""

    by_title: dict[str, float] = field(default_factory=dict)
    fault: Exception | None = None
    id: str = "verdicts"
    scale: Scale = "unit"

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        if self.fault is not None:
            raise self.fault
        return [next((v for title, v in self.by_title.items() if title in text), 0.0) for text in texts]


def ranked(*names: str) -> Ranking:
    return [(PassageId(name), 1.0 - i / 10) for i, name in enumerate(names)]


def scripted(
    index: Index,
    encoder: LetterEncoder,
    channels: dict[Channel, RecallChannel],
    reranker: Verdicts | None = None,
    settings: SearchSettings | None = None,
) -> Searcher:
    return Searcher(index, encoder, reranker or Verdicts(), settings, channels)


def test_a_failing_channel_is_down_with_its_cause_and_the_other_still_finds(
    index: Index, encoder: LetterEncoder
) -> None:
    """Any exception of a channel becomes one line in `down`; its ranking is absent, never empty or 0."""
    broken = Scripted(fault=ZeroDivisionError("division by zero\nsecond line"))
    with scripted(index, encoder, {"bm25": broken, "dense": Scripted(ranked("lamp"))}) as searcher:
        found = ask(searcher, "灯")
    assert found.down == {"bm25": "ZeroDivisionError: division by zero"}
    assert set(found.rankings) == {"dense"} and ids(found) == ["lamp"]


def test_a_late_channel_is_down_and_comes_back_when_it_can(index: Index, encoder: LetterEncoder) -> None:
    """Past its deadline a channel is left behind, now and while it stays stuck; afterwards it serves again."""
    release = threading.Event()
    slow = Scripted(ranked("lamp"), release=release)
    settings = SearchSettings(deadline_ms=40.0)
    channels: dict[Channel, RecallChannel] = {"bm25": slow, "dense": Scripted(ranked("refund-card"))}
    with scripted(index, encoder, channels, settings=settings) as searcher:
        for _ in range(2):
            found = ask(searcher, "灯")
            assert set(found.down) == {"bm25"} and "late" in found.down["bm25"]
            assert "bm25" not in found.rankings and ids(found) == ["refund-card"]
        release.set()
        for _ in range(200):
            found = ask(searcher, "灯")
            if not found.down:
                break
        assert found.down == {} and set(ids(found)) == {"lamp", "refund-card"}


def test_with_every_channel_down_nothing_is_found_and_nothing_raises(
    index: Index, encoder: LetterEncoder
) -> None:
    """Both causes are told; there is no evidence."""
    channels: dict[Channel, RecallChannel] = {
        "bm25": Scripted(fault=MemoryError()),
        "dense": Scripted(fault=ModelError("no session")),
    }
    with scripted(index, encoder, channels) as searcher:
        found = ask(searcher, "灯")
    assert set(found.down) == {"bm25", "dense"} and "no session" in found.down["dense"]
    assert found.evidence == () and found.rankings == {}


def test_a_failing_reranker_leaves_the_fused_order_without_scores(
    index: Index, encoder: LetterEncoder
) -> None:
    """The reranker's fault is in `down`; evidence keeps the fused order and a rerank of None."""
    channels: dict[Channel, RecallChannel] = {
        "bm25": Scripted(ranked("lamp", "refund-card")),
        "dense": Scripted(ranked("lamp")),
    }
    with scripted(index, encoder, channels, Verdicts(fault=ModelError("gone"))) as searcher:
        found = ask(searcher, "灯")
    assert found.down == {"rerank": "ModelError: gone"}
    assert [(e.passage.id, e.rerank) for e in found.evidence] == [("lamp", None), ("refund-card", None)]


def test_nan_for_the_first_candidate_leaves_no_evidence(index: Index, encoder: LetterEncoder) -> None:
    """The likeliest passage could not be judged: no other may answer in its place."""
    channels: dict[Channel, RecallChannel] = {
        "bm25": Scripted(ranked("lamp", "refund-card")),
        "dense": Scripted(ranked("lamp")),
    }
    with scripted(index, encoder, channels, Verdicts({"状态灯": math.nan, "银行卡": 0.9})) as searcher:
        found = ask(searcher, "灯")
    assert found.evidence == () and "nan" in found.down["rerank"]


def test_nan_elsewhere_ranks_last(index: Index, encoder: LetterEncoder) -> None:
    """A broken score further down costs that passage its place, not the others theirs."""
    channels: dict[Channel, RecallChannel] = {
        "bm25": Scripted(ranked("lamp", "refund-card", "refund-balance"))
    }
    with scripted(
        index, encoder, channels, Verdicts({"银行卡": math.nan, "状态灯": 0.5, "余额": 0.9})
    ) as searcher:
        found = ask(searcher, "灯")
    assert [(e.passage.id, e.rerank) for e in found.evidence] == [
        ("refund-balance", 0.9),
        ("lamp", 0.5),
        ("refund-card", None),
    ]
    assert found.down == {}


def test_holders_of_a_code_are_candidates_even_if_no_channel_found_them(
    index: Index, encoder: LetterEncoder
) -> None:
    """The exact code is looked up, so that no channel's cut-off can lose it."""
    channels: dict[Channel, RecallChannel] = {
        "bm25": Scripted(ranked("err-2049", "lamp")),
        "dense": Scripted([]),
    }
    with scripted(index, encoder, channels, Verdicts({"状态灯": 0.9})) as searcher:
        found = ask(searcher, "ERR_2048")
    assert ids(found) == ["err-2048", "lamp"]
    assert found.evidence[0].hits == {} and found.evidence[0].fused == 0.0


def test_the_blend_lets_channels_speak_after_the_reranker(index: Index, encoder: LetterEncoder) -> None:
    """With a blend a channel's clear favourite can pass a hair's breadth of the reranker; without one it cannot."""
    channels: dict[Channel, RecallChannel] = {
        "bm25": Scripted(
            [(PassageId("lamp"), 9.0), (PassageId("refund-card"), 1.0), (PassageId("refund-balance"), 0.5)]
        )
    }
    verdicts = Verdicts({"银行卡": 0.52, "状态灯": 0.5, "余额": 0.0})
    with scripted(index, encoder, channels, verdicts, SearchSettings(blend={"bm25": 0.4})) as searcher:
        assert ids(ask(searcher, "灯"))[0] == "lamp"
    with scripted(index, encoder, channels, verdicts, SearchSettings(blend={})) as searcher:
        assert ids(ask(searcher, "灯"))[0] == "refund-card"


def test_weights_and_recall_reach_fusion_and_channels(index: Index, encoder: LetterEncoder) -> None:
    """The heavier channel decides the fused order, and each channel is asked for `recall` passages."""
    words, meaning = Scripted(ranked("lamp")), Scripted(ranked("refund-card"))
    settings = SearchSettings(recall=7, weights={"dense": 2.0})
    with scripted(index, encoder, {"bm25": words, "dense": meaning}, settings=settings) as searcher:
        found = ask(searcher, "灯")
    assert [pid for pid, _ in found.fused] == ["refund-card", "lamp"]
    assert words.asked == meaning.asked == [("灯", 7)]


def test_repeated_text_is_shown_once(encoder: LetterEncoder, tmp_path: Path) -> None:
    """Two chunks that overlap whole take one place of the list."""
    doubled = corpus(
        passage("whole", "七天内可以退货。定制商品除外。", title="退货"),
        passage("part", "定制商品除外。", title="退货"),
        passage("other", "退货运费由买家承担。", title="运费"),
    )
    index = build_index(tmp_path, doubled, encoder)
    channels: dict[Channel, RecallChannel] = {"bm25": Scripted(ranked("whole", "part", "other"))}
    with scripted(index, encoder, channels) as searcher:
        assert ids(ask(searcher, "退货")) == ["whole", "other"]


def test_history_is_searched_along(searcher: Searcher) -> None:
    """A follow-up that names nothing finds what the last turn was about."""
    history = ("状态灯是什么意思", "状态灯蓝色常亮表示联网正常。")
    alone = searcher.search(make_query("换成红的呢"), TODAY)
    follow_up = searcher.search(make_query("换成红的呢", history), TODAY)
    assert alone.rankings["bm25"] == []
    assert ids(follow_up)[0] == "lamp" and follow_up.rankings["bm25"][0][0] == "lamp"


def test_after_close_every_channel_is_down(index: Index, encoder: LetterEncoder) -> None:
    """A closed searcher finds nothing and says so; its threads have ended."""
    searcher = Searcher(index, encoder, LateInteraction(encoder, index.tokens))
    before = {t.name for t in threading.enumerate()}
    assert {"recall-bm25", "recall-dense"} <= before
    searcher.close()
    found = ask(searcher, "退款")
    assert set(found.down) == {"bm25", "dense", "phonetic"} and "closed" in found.down["bm25"]
    assert found.evidence == ()


def test_passages_are_returned_as_they_were_written(searcher: Searcher) -> None:
    """Nothing of a passage is normalised on its way through the search."""
    written: dict[str, Passage] = {p.id: p for p in PASSAGES}
    for evidence in ask(searcher, "退款到账").evidence:
        assert evidence.passage == written[evidence.passage.id]


@hypothesis_settings(max_examples=60)
@given(st.text(max_size=60))
def test_any_text_is_a_question(words: str) -> None:
    """Arbitrary Unicode neither raises nor yields a score that is no number."""
    searcher = _shared()
    found = ask(searcher, words)
    assert found.down == {}
    for evidence in found.evidence:
        assert evidence.rerank is not None and math.isfinite(evidence.rerank)
        assert all(math.isfinite(hit.score) for hit in evidence.hits.values())


_KEPT: list[Searcher] = []


def _shared() -> Searcher:
    """One searcher for all examples, in memory of this module; its threads are daemons."""
    if not _KEPT:
        import tempfile

        encoder = LetterEncoder()
        with tempfile.TemporaryDirectory() as folder:
            index = build_index(Path(folder), corpus(*PASSAGES), encoder)
        _KEPT.append(Searcher(index, encoder, LateInteraction(encoder, index.tokens)))
    return _KEPT[0]


def reworded(words: str, *also: Wording) -> Query:
    return replace(make_query(words), also=also)


def test_other_wordings_help_to_find_and_do_not_judge(searcher: Searcher) -> None:
    """A passage that only a rewriting finds becomes a candidate; scores and ranks shown stay the question's own."""
    plain = searcher.search(make_query("灯"), TODAY)
    also = searcher.search(reworded("灯", Wording("会话过期请重新登录", 1.0)), TODAY)
    assert "err-2048" in dict(also.fused) and also.rankings == plain.rankings
    assert dict(also.fused)["err-2048"] > dict(plain.fused).get("err-2048", 0.0)
    assert [e.rerank for e in also.evidence if e.passage.id == "lamp"] == [
        e.rerank for e in plain.evidence if e.passage.id == "lamp"
    ]


def test_a_wording_without_weight_changes_nothing(searcher: Searcher) -> None:
    """Weight 0 is off, and the question's own ranking outweighs a light rewriting."""
    plain = searcher.search(make_query("余额退款"), TODAY)
    assert searcher.search(reworded("余额退款", Wording("状态灯", 0.0)), TODAY).fused == plain.fused
    assert ids(searcher.search(reworded("余额退款", Wording("状态灯", 0.3)), TODAY))[0] == "refund-balance"
