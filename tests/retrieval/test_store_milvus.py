"""Milvus in place of the embedded channels: the same rankings, the same filters, and nothing half built in use."""

from __future__ import annotations

import random
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

pytest.importorskip("pymilvus", reason="the milvus extra is not installed")
pytest.importorskip("milvus_lite", reason="the milvus extra is not installed")

from milvus_lite.server_manager import server_manager_instance

from retrieval.bm25 import Bm25
from retrieval.conditions import Conditions
from retrieval.dense import Dense
from retrieval.errors import StoreError
from retrieval.filters import Filters
from retrieval.gate import GateModel, thresholds_for
from retrieval.index import Index, build_index
from retrieval.milvus_channels import MilvusChannel, milvus_channels
from retrieval.milvus_rows import Collection, expression
from retrieval.phonetic import Phonetic
from retrieval.query import make_query
from retrieval.recall import RecallChannel
from retrieval.rerank import LateInteraction
from retrieval.search import Searcher, SearchSettings
from retrieval.store_milvus import MilvusStore, Place
from retrieval.types import Channel, Found, GateReason, Outcome, Passage, Ranking
from retrieval.waking import Waking
from tests.retrieval.letters import LetterEncoder, Reads, corpus, passage
from tests.retrieval.milvus_served import LiteServer, lite_server

TODAY = date(2026, 11, 30)
NASTY = 'v"1" or 1 == 1 \\ \n灯'
PASSAGES = (
    passage("refund", "退款在审核通过后到账。", title="退款到账", questions=("钱多久退回来", "退款多久")),
    passage("card", "银行卡付款的订单原路退回，退款3到5天到账。", tags=("退款", "卡")),
    passage("points", "每100个积分可以抵扣1元。", title="积分抵扣", tags=("积分",), version="2026"),
    passage("coupon", "优惠券在领取后生效。", title="优惠券", version=NASTY, tags=('a"b', "积分")),
    passage("old", "退款在30天内到账。", valid_to=date(2025, 12, 31)),
    passage("new", "退款在7天内到账。", valid_from=date(2026, 1, 1)),
    passage("error", "ERR_2048表示会话过期。", title="ERR_2048"),
    passage("blank", "……"),
)
QUESTIONS = (
    "退款多久到账",
    "积分怎么抵扣",
    "机分怎么底扣",
    "ERR_2048",
    "音杭卡退宽",
    "黄金价格",
    "钱什么时候退回来",
)


LARGE = 20_000
PAIRS = (
    "退款积分到账抵扣会话过期领取付款订单原路审核通过黄金价格充值立即发票抬头物流延误包裹签收地址修改手机号码会员等级客服"
    "电话门店营业时间周末换货质量问题维修保修配件安装上门预约取消规则说明"
)


def filler(count: int) -> tuple[Passage, ...]:
    """Passages of the words that are asked for, by a seed; one in ten is out of date."""
    rng, words = random.Random(7), [PAIRS[at : at + 2] for at in range(0, len(PAIRS), 2)]
    return tuple(
        passage(
            f"made-{n:05}",
            "".join(rng.choices(words, k=rng.randint(8, 24))) + f"{n}。",
            tags=("积分",) if n % 3 == 0 else (),
            valid_to=date(2025, 12, 31) if n % 10 == 0 else None,
        )
        for n in range(count)
    )


@pytest.fixture(scope="module")
def encoder() -> LetterEncoder:
    return LetterEncoder()


@pytest.fixture(
    scope="module", params=["path", "server", pytest.param("large server", marks=pytest.mark.slow)]
)
def where(request: pytest.FixtureRequest) -> str:
    """Milvus Lite within this process, as a server spoken to over gRPC, and that with 20,000 passages."""
    return str(request.param)


@pytest.fixture(scope="module")
def index(where: str, tmp_path_factory: pytest.TempPathFactory, encoder: LetterEncoder) -> Index:
    more = filler(LARGE - len(PASSAGES)) if where.startswith("large") else ()
    return build_index(
        tmp_path_factory.mktemp("index"), corpus(*PASSAGES, *more), encoder, token_passages=LARGE
    )


@pytest.fixture(scope="module")
def server(where: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiteServer | None]:
    if where == "path":
        yield None
        return
    with lite_server(tmp_path_factory.mktemp("served")) as started:
        yield started


@pytest.fixture(scope="module")
def store(server: LiteServer | None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusStore]:
    uri = server.uri if server else str(tmp_path_factory.mktemp("lite") / "kb.db")
    opened = MilvusStore(Place(uri, timeout_s=20.0))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def remote(store: MilvusStore, index: Index, encoder: LetterEncoder) -> dict[Channel, MilvusChannel]:
    return milvus_channels(store, index, encoder, Bm25(index.passages))


@pytest.fixture(scope="module")
def embedded(index: Index, encoder: LetterEncoder) -> dict[Channel, RecallChannel]:
    return {
        "bm25": Bm25(index.passages),
        "dense": Dense(encoder, index.ids, index.vectors, index.starts),
        "phonetic": Phonetic(index.passages),
    }


def same(ours: Ranking, theirs: Ranking, index: Index) -> None:
    """Equal scores and passages. Among thousands many share the last score: which of those stay is nobody's law."""
    assert [score for _, score in theirs] == pytest.approx([score for _, score in ours], rel=1e-5, abs=1e-6)
    first = ours
    if len(index.passages) > len(PASSAGES) and ours:
        first = [(pid, score) for pid, score in ours if score > ours[-1][1] * (1 + 1e-5)]
    assert [pid for pid, _ in theirs[: len(first)]] == [pid for pid, _ in first]


@pytest.mark.parametrize(
    "conditions", [Conditions(TODAY), Conditions(TODAY, ("积分",)), Conditions(TODAY, version=NASTY)]
)
@pytest.mark.parametrize("name", ["bm25", "dense", "phonetic"])
def test_rankings_agree_with_the_embedded_ones(
    remote: dict[Channel, MilvusChannel],
    embedded: Mapping[Channel, RecallChannel],
    index: Index,
    name: Channel,
    conditions: Conditions,
) -> None:
    """The same passages in the same order under the same conditions, scores to five digits, also with history."""
    agree(embedded[name], remote[name], index, conditions)


def agree(here: RecallChannel, there: MilvusChannel, index: Index, conditions: Conditions) -> None:
    open_rows = Filters(index.passages).open_rows(conditions.as_of, conditions.tags, conditions.version)
    for question in QUESTIONS:
        for query in (make_query(question), make_query(question, ("退款几天", "7天内到账"))):
            for limit in (2, 5):
                ours = here.rank(query, limit, open_rows)
                same(ours, there.rank_where(query, limit, open_rows, conditions), index)


def test_a_killed_server_refuses_cleanly_and_serves_again_when_it_is_back(
    server: LiteServer | None,
    remote: dict[Channel, MilvusChannel],
    embedded: Mapping[Channel, RecallChannel],
    index: Index,
    encoder: LetterEncoder,
) -> None:
    """While it is away, and while it loads what it has on disk, every channel is down and nothing is answered. Then the
    same search finds what it found before, without a restart of ours.
    """
    if server is None:
        pytest.skip("what runs within this process is not killed alone")
    reranker = LateInteraction(encoder, index.tokens)
    with Searcher(index, encoder, reranker, SearchSettings(deadline_ms=60_000.0), dict(remote)) as searcher:
        gate = GateModel(searcher.known, reranker, thresholds_for(reranker, "e5-small"), Reads())
        query = make_query(QUESTIONS[0])
        before = searcher.search(query, TODAY)
        assert before.down == {} and before.evidence
        server.kill()
        refused(searcher.search(query, TODAY), gate)
        server.start()
        after, deadline = searcher.search(query, TODAY), time.monotonic() + 300
        while after.down:
            assert time.monotonic() < deadline
            refused(after, gate)
            time.sleep(0.05)
            after = searcher.search(query, TODAY)
    assert (after.rankings, after.evidence) == (before.rankings, before.evidence)
    for name, channel in remote.items():
        agree(embedded[name], channel, index, Conditions(TODAY))


def refused(found: Found, gate: GateModel) -> None:
    """A fault in one line for each channel that is down, never an answer."""
    assert all(cause.startswith("StoreError: Milvus") and "\n" not in cause for cause in found.down.values())
    decided = gate.judge(found)
    assert (decided.outcome, decided.reason) == (Outcome.REFUSE, GateReason.CHANNEL_DOWN)


def test_a_whole_search_finds_the_same(
    store: MilvusStore, embedded: Mapping[Channel, RecallChannel], index: Index, encoder: LetterEncoder
) -> None:
    """The searcher takes these channels where its own stand, and its evidence is equal."""
    reranker, settings = LateInteraction(encoder, index.tokens), SearchSettings(deadline_ms=60_000.0)
    with (
        Searcher(index, encoder, reranker, settings, dict(embedded)) as here,
        Searcher(
            index,
            encoder,
            reranker,
            settings,
            lambda words: milvus_channels(store, index, encoder, words),
        ) as there,
    ):
        for question in QUESTIONS:
            one, other = (searcher.search(make_query(question), TODAY) for searcher in (here, there))
            for name, ours in one.rankings.items():
                same(ours, other.rankings[name], index)
            shown = 1 if len(index.passages) > len(PASSAGES) else None
            assert [e.passage for e in one.evidence[:shown]] == [e.passage for e in other.evidence[:shown]]
            assert other.down == {} and set(other.rankings) == {"bm25", "dense", "phonetic"}


def test_rows_that_only_the_index_knows_to_be_closed_do_not_take_a_place(
    remote: dict[Channel, MilvusChannel], index: Index, encoder: LetterEncoder
) -> None:
    """Where a condition is unknown to the server, more is asked for until the list is full."""
    open_rows = np.zeros(len(index.passages), dtype=np.bool_)
    open_rows[index.ids.index(PASSAGES[2].id)] = True
    for name in ("bm25", "dense", "phonetic"):
        channel: Channel = name  # type: ignore[assignment]  # a tuple of literals is widened to str
        ranking = remote[channel].rank_where(make_query("退款积分"), 1, open_rows, Conditions(TODAY))
        assert [pid for pid, _ in ranking] == ["points"]
    none = np.zeros(len(index.passages), dtype=np.bool_)
    assert remote["dense"].rank_where(make_query("退款"), 3, none, Conditions(TODAY)) == []


def test_a_question_of_unknown_words_asks_nothing(remote: dict[Channel, MilvusChannel], index: Index) -> None:
    """An empty sparse vector is no search: nothing is found and nothing raised."""
    everything = np.ones(len(index.passages), dtype=np.bool_)
    assert remote["bm25"].rank_where(make_query("xyzzy"), 3, everything, Conditions(TODAY)) == []
    assert remote["phonetic"].rank_where(make_query("!"), 3, everything, Conditions(TODAY)) == []


def test_sync_inserts_replaces_and_deletes(
    store: MilvusStore, encoder: LetterEncoder, tmp_path: Path
) -> None:
    """After a change exactly the passages of the new index are there; the same index again sends nothing."""
    changed = (
        replace(PASSAGES[0], text="退款在5天后到账。", sha="new sha"),
        *PASSAGES[2:],
        passage("added", "充值立即到账。"),
    )
    index = build_index(tmp_path, corpus(*changed), encoder)
    sent: list[int] = []
    channels = milvus_channels(store, index, encoder, Bm25(changed), lambda done, _: sent.append(done))
    everything = np.ones(len(changed), dtype=np.bool_)

    def found(question: str) -> list[str]:
        ranking = channels["bm25"].rank_where(make_query(question), 9, everything, Conditions(TODAY))
        return [pid for pid, _ in ranking]

    assert sent[-1] == len(index.vectors)
    assert found("充值") == ["added"] and "card" not in found("银行卡退款") and "refund" in found("5天")
    sent.clear()
    milvus_channels(store, index, encoder, Bm25(changed), lambda done, _: sent.append(done))
    assert sent == []


def test_a_stored_index_answers_after_a_restart(encoder: LetterEncoder, tmp_path: Path) -> None:
    """A server that was started again has the collection on disk only: it is loaded, not sent again."""
    place = Place(str(tmp_path / "kb.db"), timeout_s=20.0)
    index = build_index(tmp_path / "index", corpus(*PASSAGES), encoder)
    store = MilvusStore(place)
    milvus_channels(store, index, encoder, Bm25(index.passages))
    store.close()
    server_manager_instance.release_server(place.uri)
    sent: list[int] = []
    again = MilvusStore(place)
    channels = milvus_channels(again, index, encoder, Bm25(index.passages), lambda done, _: sent.append(done))
    everything = np.ones(len(index.passages), dtype=np.bool_)
    for name in ("bm25", "dense", "phonetic"):
        assert channels[name].rank_where(make_query("退款"), 3, everything, Conditions(TODAY)) != []  # type: ignore[index]  # a tuple of literals is widened to str
    assert sent == []
    again.close()


class Failing:
    """A client that breaks off in the middle of writing."""

    def __init__(self, client: Any, name: str) -> None:
        self._client, self._name = client, name

    def __getattr__(self, name: str) -> Any:
        def broken(*_: object, **__: object) -> None:
            raise ConnectionResetError("the line went dead")

        return broken if name == self._name else getattr(self._client, name)


@pytest.mark.parametrize("step", ["insert", "load_collection", "search", "query", "alter_alias"])
def test_a_build_that_fails_leaves_the_collection_before_in_use(
    encoder: LetterEncoder, tmp_path: Path, step: str
) -> None:
    """Whatever step breaks, the alias still names the old rows, they still answer, and the next build succeeds."""
    store = MilvusStore(Place(str(tmp_path / "kb.db"), timeout_s=20.0))
    before = build_index(tmp_path / "one", corpus(*PASSAGES[:2]), encoder)
    after = build_index(tmp_path / "two", corpus(*PASSAGES[:3]), encoder)
    old = milvus_channels(store, before, encoder, Bm25(before.passages))
    name = store.current()
    whole = store._client
    store._client = Failing(whole, step)
    with pytest.raises(StoreError, match="the line went dead"):
        milvus_channels(store, after, encoder, Bm25(after.passages))
    store._client = whole
    assert store.current() == name
    everything = np.ones(2, dtype=np.bool_)
    assert old["bm25"].rank_where(make_query("退款"), 5, everything, Conditions(TODAY)) != []
    milvus_channels(store, after, encoder, Bm25(after.passages))
    assert store.current() != name
    with pytest.raises(
        StoreError
    ):  # whoever still reads the old rows is told, and never answered from the new ones
        old["bm25"].rank_where(make_query("退款"), 5, everything, Conditions(TODAY))
    store.close()


def test_an_index_cut_otherwise_is_another_collection(index: Index) -> None:
    """Words and their columns are part of the name: another tokenizer never reads these rows."""
    sounds = Phonetic(index.passages)
    plain = Collection(index, Bm25(index.passages), sounds)
    letters = Collection(index, Bm25(index.passages, tuple), sounds)
    assert plain.fingerprint == Collection(index, Bm25(index.passages), sounds).fingerprint
    assert plain.fingerprint != letters.fingerprint
    assert (
        plain.fingerprint != Collection(replace(index, corpus_sha="other"), plain.words, sounds).fingerprint
    )


def test_what_is_slow_to_wake_is_woken_once() -> None:
    """Whoever asks meanwhile begins nothing; a try that failed is followed by another."""
    waking, go, begun = Waking(), threading.Event(), []

    def load() -> None:
        begun.append(1)
        assert go.wait(20)
        if len(begun) == 1:
            raise StoreError("not yet")

    for _ in range(3):
        waking.begin(load)
    assert waking.under_way and begun == [1]
    go.set()
    for tries in (1, 2):
        while waking.under_way:
            time.sleep(0.005)
        assert len(begun) == tries
        waking.begin(load)


def test_nobody_there_is_one_line_in_time() -> None:
    """A closed port is a store error that names the address and what to check; no trace of the client's own kind."""
    with pytest.raises(StoreError, match=r"http://127.0.0.1:9: cannot connect .* check milvus.uri") as told:
        MilvusStore(Place("http://127.0.0.1:9", timeout_s=0.5))
    assert "\n" not in str(told.value)


def test_a_server_that_never_answers_is_left_after_the_timeout() -> None:
    """A peer that accepts and says nothing costs the timeout, not the call."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        uri = f"http://127.0.0.1:{silent.getsockname()[1]}"
        told: list[BaseException] = []

        def connect() -> None:
            try:
                MilvusStore(Place(uri, timeout_s=0.5))
            except StoreError as e:
                told.append(e)

        thread = threading.Thread(target=connect, daemon=True)
        thread.start()
        thread.join(30)
    assert not thread.is_alive() and len(told) == 1


def test_a_server_that_is_gone_takes_its_channels_down(
    index: Index, encoder: LetterEncoder, tmp_path: Path
) -> None:
    """A search that the store cannot serve is a fault in `down`, never an empty ranking that looks like no match."""
    store = MilvusStore(Place(str(tmp_path / "kb.db"), timeout_s=20.0))
    with Searcher(
        index,
        encoder,
        LateInteraction(encoder, index.tokens),
        channels=lambda words: milvus_channels(store, index, encoder, words),
    ) as searcher:
        store._client = Failing(store._client, "search")
        found = searcher.search(make_query("退款"), TODAY)
    assert set(found.down) == {"bm25", "dense", "phonetic"} and found.rankings == {}
    assert all(cause.startswith("StoreError: Milvus") for cause in found.down.values())


@hypothesis_settings(max_examples=40, deadline=None)
@given(st.text(max_size=12), st.text(max_size=12))
def test_no_value_becomes_an_operator(tag: str, version: str) -> None:
    """Whatever stands in a tag or version is one quoted string of the filter: unquoted, nothing of it is left."""
    import json

    written = expression(Conditions(TODAY, (tag,), version))
    day = TODAY.toordinal()
    head = f"valid_from <= {day} and valid_to >= {day} and version == "
    assert written.startswith(head)
    read, end = json.JSONDecoder().raw_decode(written[len(head) :])
    rest = written[len(head) + end :]
    assert read == version and rest.startswith(" and array_contains_all(tags, ") and rest.endswith(")")
    assert json.loads(rest.removeprefix(" and array_contains_all(tags, ")[:-1]) == [tag]


def test_sparse_rows_times_question_are_the_scores(index: Index) -> None:
    """The inner product of a stored row and a question is the embedded score, for words and for sounds."""
    collection = Collection(index, Bm25(index.passages), Phonetic(index.passages))
    first = [row for row in collection.rows() if row["id"].endswith("#0")]
    passages: tuple[Passage, ...] = index.passages
    assert [row["passage"] for row in first] == [p.id for p in passages]
    for question in QUESTIONS:
        query = make_query(question)
        for field, asked, scores in (
            ("words", collection.asked_words(query.text), collection.words.scores(query.terms)),
            ("sounds", collection.asked_sounds(query.text), collection.sounds.scores(query.text)),
        ):
            got = [sum(w * row[field].get(d, 0.0) for d, w in asked.items()) for row in first]
            assert got == pytest.approx(scores.tolist(), rel=1e-6, abs=1e-9)
