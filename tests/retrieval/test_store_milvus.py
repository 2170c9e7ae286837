"""Milvus in place of the embedded channels: the same rankings, the same filters, and nothing half built in use."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
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
from retrieval.index import Index, build_index
from retrieval.milvus_channels import MilvusChannel, milvus_channels
from retrieval.milvus_rows import Collection, expression
from retrieval.phonetic import Phonetic
from retrieval.query import make_query
from retrieval.recall import RecallChannel
from retrieval.rerank import LateInteraction
from retrieval.search import Searcher
from retrieval.store_milvus import MilvusStore, Place
from retrieval.types import Channel, Passage, Ranking
from tests.retrieval.letters import LetterEncoder, corpus, passage

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


@pytest.fixture(scope="module")
def encoder() -> LetterEncoder:
    return LetterEncoder()


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, encoder: LetterEncoder) -> Index:
    return build_index(tmp_path_factory.mktemp("index"), corpus(*PASSAGES), encoder)


def listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Milvus Lite as a server of its own, spoken to over gRPC."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "milvus_lite", "server", "--port", str(port), "--host", "127.0.0.1"]
    folder = tmp_path_factory.mktemp("served")
    process = subprocess.Popen(
        [*command, "--data-dir", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 180
    while not listening(port) and time.monotonic() < deadline:
        time.sleep(0.1)
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    process.wait(10)


@pytest.fixture(scope="module", params=["path", "server"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusStore]:
    uri = (
        str(tmp_path_factory.mktemp("lite") / "kb.db")
        if request.param == "path"
        else request.getfixturevalue("server")
    )
    opened = MilvusStore(Place(uri, timeout_s=20.0))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def remote(store: MilvusStore, index: Index, encoder: LetterEncoder) -> dict[Channel, MilvusChannel]:
    return milvus_channels(store, index, encoder, Bm25(index.passages))


def embedded(index: Index, encoder: LetterEncoder) -> dict[Channel, RecallChannel]:
    return {
        "bm25": Bm25(index.passages),
        "dense": Dense(encoder, index.ids, index.vectors, index.starts),
        "phonetic": Phonetic(index.passages),
    }


def same(ours: Ranking, theirs: Ranking) -> None:
    assert [pid for pid, _ in theirs] == [pid for pid, _ in ours]
    assert [score for _, score in theirs] == pytest.approx([score for _, score in ours], rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(
    "conditions", [Conditions(TODAY), Conditions(TODAY, ("积分",)), Conditions(TODAY, version=NASTY)]
)
@pytest.mark.parametrize("name", ["bm25", "dense", "phonetic"])
def test_rankings_agree_with_the_embedded_ones(
    remote: dict[Channel, MilvusChannel],
    index: Index,
    encoder: LetterEncoder,
    name: Channel,
    conditions: Conditions,
) -> None:
    """The same passages in the same order under the same conditions, scores to five digits, also with history."""
    ours = embedded(index, encoder)[name]
    open_rows = Filters(index.passages).open_rows(conditions.as_of, conditions.tags, conditions.version)
    for question in QUESTIONS:
        for query in (make_query(question), make_query(question, ("退款几天", "7天内到账"))):
            for limit in (2, 5):
                same(
                    ours.rank(query, limit, open_rows),
                    remote[name].rank_where(query, limit, open_rows, conditions),
                )


def test_a_whole_search_finds_the_same(store: MilvusStore, index: Index, encoder: LetterEncoder) -> None:
    """The searcher takes these channels where its own stand, and its evidence is equal."""
    reranker = LateInteraction(encoder, index.tokens)
    with (
        Searcher(index, encoder, reranker, channels=embedded(index, encoder)) as here,
        Searcher(
            index, encoder, reranker, channels=lambda words: milvus_channels(store, index, encoder, words)
        ) as there,
    ):
        for question in QUESTIONS:
            one, other = (searcher.search(make_query(question), TODAY) for searcher in (here, there))
            assert [e.passage for e in one.evidence] == [e.passage for e in other.evidence]
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


@pytest.mark.parametrize("step", ["insert", "load_collection", "query", "alter_alias"])
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
