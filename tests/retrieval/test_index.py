"""The index on disk: what goes in comes out, and nothing else is ever opened as if it were it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from retrieval.encoded import ENCODED_AT_ONCE
from retrieval.errors import ModelError, StoreError
from retrieval.generations import current_generation, file_sha
from retrieval.index import build_index, open_index
from retrieval.surfaces import document_text
from retrieval.types import PassageId
from retrieval.vectors import Vectors
from tests.retrieval.letters import LetterEncoder, corpus, passage

REFUND = passage(
    "refund",
    "退款在审核通过后到账。",
    title="退款",
    questions=("钱几天退", "退款多久"),
    valid_from=date(2026, 1, 1),
)
ROUTER = passage("router", "路由器状态灯蓝色常亮。", valid_to=date(2027, 1, 1), tags=("路由器", "灯"))
COUPON = passage("coupon", "优惠券不兑现金。", must_handoff=True)
CORPUS = corpus(REFUND, ROUTER)


def test_passages_and_vectors_survive_the_disk(tmp_path: Path) -> None:
    """Every field of every passage, the surface vectors and the token vectors come back as they were made."""
    encoder = LetterEncoder()
    built = build_index(tmp_path, CORPUS, encoder)
    opened = open_index(tmp_path, encoder, CORPUS)
    assert opened.passages == built.passages == CORPUS.passages
    assert (opened.corpus_sha, opened.corpus_version, opened.encoder_id) == (
        CORPUS.sha,
        CORPUS.version,
        "letters/1",
    )
    assert opened.ids == (PassageId("refund"), PassageId("router"))
    assert opened.starts.tolist() == [0, 3, 4]
    assert np.allclose(opened.vectors[1], encoder.passages(["钱几天退"])[0])
    tokens = opened.tokens.passage(document_text(ROUTER))
    assert tokens is not None and tokens.vectors.dtype == np.float16
    (fresh,) = encoder.token_vectors([document_text(ROUTER)], "passage")
    assert np.allclose(tokens.vectors.astype(np.float32), fresh.vectors, atol=1e-3)


def test_an_empty_corpus_makes_an_empty_index(tmp_path: Path) -> None:
    """No passages: an index that opens and holds nothing."""
    encoder = LetterEncoder()
    index = build_index(tmp_path, corpus(), encoder)
    assert (index.passages, index.vectors.shape, index.starts.tolist()) == ((), (0, encoder.dim), [0])
    assert open_index(tmp_path, encoder, corpus()).passages == ()


def test_a_passage_without_tokens_is_kept(tmp_path: Path) -> None:
    """Punctuation alone gives no token vectors; the passage and its neighbours keep their rows."""
    index = build_index(tmp_path, corpus(passage("marks", "……"), REFUND), LetterEncoder())
    marks, refund = (index.tokens.passage(document_text(p)) for p in index.passages)
    assert marks is not None and len(marks.vectors) == 0
    assert refund is not None and len(refund.vectors) > 0


def test_only_new_and_changed_passages_are_encoded_again(tmp_path: Path) -> None:
    """A rebuild encodes what has a new sha; the rest keeps its vectors, also when its place has changed."""
    encoder = LetterEncoder()
    before = build_index(tmp_path, CORPUS, encoder)
    encoder.seen.clear()
    changed = passage("refund", "退款在审核通过后3天到账。", title="退款")
    after = build_index(tmp_path, corpus(COUPON, ROUTER, changed), encoder)
    passages_read = {text for text in encoder.seen if "状态灯" in text}
    assert passages_read == set()
    assert any("3天" in text for text in encoder.seen) and any("优惠券" in text for text in encoder.seen)
    assert np.array_equal(after.vectors[after.starts[1]], before.vectors[before.starts[1]])
    assert np.array_equal(_tokens(after, 1), _tokens(before, 1))


def _tokens(index: object, row: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float16]]:
    from retrieval.index import Index

    assert isinstance(index, Index)
    return index.tokens.vectors[index.tokens.starts[row] : index.tokens.starts[row + 1]]


def test_passages_without_a_sha_are_always_encoded(tmp_path: Path) -> None:
    """A passage made by hand has no sha; two of those are never taken for one another."""
    bare = corpus(replace(REFUND, sha=""), replace(ROUTER, sha=""))
    encoder = LetterEncoder()
    build_index(tmp_path, bare, encoder)
    encoder.seen.clear()
    index = build_index(tmp_path, bare, encoder)
    assert any("状态灯" in text for text in encoder.seen)
    assert np.allclose(index.vectors[3], encoder.passages([ROUTER.text])[0])


def test_another_encoder_shares_nothing(tmp_path: Path) -> None:
    """Vectors of another model are neither opened nor reused."""
    build_index(tmp_path, CORPUS, LetterEncoder())
    other = LetterEncoder(id="letters/2")
    with pytest.raises(StoreError, match="made by letters/1, not by letters/2"):
        open_index(tmp_path, other, CORPUS)
    build_index(tmp_path, CORPUS, other)
    assert any("状态灯" in text for text in other.seen)
    assert open_index(tmp_path, other).encoder_id == "letters/2"


def test_a_changed_corpus_is_not_answered_from_the_old_index(tmp_path: Path) -> None:
    """The corpus hash must match; without a corpus to compare with, the index opens as it is."""
    encoder = LetterEncoder()
    build_index(tmp_path, CORPUS, encoder)
    with pytest.raises(StoreError, match="has changed"):
        open_index(tmp_path, encoder, corpus(REFUND))
    assert open_index(tmp_path, encoder).passages == CORPUS.passages


def test_no_index_is_a_store_error(tmp_path: Path) -> None:
    """A folder without an index says what to run."""
    with pytest.raises(StoreError, match="voice-agent index"):
        open_index(tmp_path / "nowhere", LetterEncoder())


@pytest.mark.parametrize(
    "name", ["vectors.npy", "token_vectors.npy", "starts.npy", "centres.npy", "passages.jsonl"]
)
def test_a_damaged_file_is_a_store_error(tmp_path: Path, name: str) -> None:
    """One byte more in any file and the index is refused."""
    encoder = LetterEncoder()
    build_index(tmp_path, CORPUS, encoder)
    with (current_generation(tmp_path) / name).open("ab") as stream:
        stream.write(b"x")
    with pytest.raises(StoreError, match="not as it was written"):
        open_index(tmp_path, encoder)


def forge(folder: Path, **facts: object) -> None:
    """Rewrites the manifest as an attacker or another version would: hashes right, facts changed."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["files"] = {name: file_sha(folder / name) for name in manifest["files"]}
    (folder / "manifest.json").write_text(json.dumps({**manifest, **facts}), encoding="utf-8")


def test_another_format_and_arrays_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    """An index of another format, or whose parts disagree, is not read with whatever fits."""
    encoder = LetterEncoder()
    build_index(tmp_path, CORPUS, encoder)
    folder = current_generation(tmp_path)
    forge(folder, format=99)
    with pytest.raises(StoreError, match="format 99"):
        open_index(tmp_path, encoder)
    forge(folder, format=2, passages=7)
    with pytest.raises(StoreError, match="do not fit"):
        open_index(tmp_path, encoder)


def test_a_pickled_array_is_refused(tmp_path: Path) -> None:
    """An object array would run code when loaded; it is never loaded."""
    encoder = LetterEncoder()
    build_index(tmp_path, CORPUS, encoder)
    folder = current_generation(tmp_path)
    np.save(folder / "vectors.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    forge(folder)
    with pytest.raises(StoreError, match="cannot be read"):
        open_index(tmp_path, encoder)


def test_a_passage_line_of_another_shape_is_refused(tmp_path: Path) -> None:
    """An unknown field in a stored passage is a fault, not ignored."""
    encoder = LetterEncoder()
    build_index(tmp_path, CORPUS, encoder)
    folder = current_generation(tmp_path)
    line = json.loads((folder / "passages.jsonl").read_text(encoding="utf-8").splitlines()[0])
    (folder / "passages.jsonl").write_text(json.dumps({**line, "more": 1}) + "\n", encoding="utf-8")
    forge(folder)
    with pytest.raises(StoreError, match="cannot be read"):
        open_index(tmp_path, encoder)


def test_a_crash_while_encoding_leaves_the_index_before(tmp_path: Path) -> None:
    """When the encoder fails half-way, the old index answers as before."""

    class Failing(LetterEncoder):
        def passages(self, texts: Sequence[str]) -> Vectors:
            raise ModelError("out of memory")

    encoder = LetterEncoder()
    build_index(tmp_path, CORPUS, encoder)
    with pytest.raises(ModelError):
        build_index(tmp_path, corpus(COUPON), Failing())
    assert open_index(tmp_path, encoder, CORPUS).passages == CORPUS.passages


def test_progress_grows_to_its_total(tmp_path: Path) -> None:
    """Calls count texts encoded, never backwards, and end at the total announced from the first call on."""
    calls: list[tuple[int, int]] = []
    many = corpus(*(passage(f"p{i:03}", f"第{i}条", title=f"题{i}") for i in range(ENCODED_AT_ONCE + 5)))
    build_index(tmp_path, many, LetterEncoder(), lambda done, total: calls.append((done, total)))
    assert len({total for _, total in calls}) == 1
    assert [done for done, _ in calls] == sorted({done for done, _ in calls})
    assert calls[-1][0] == calls[-1][1]
    calls.clear()
    build_index(tmp_path, many, LetterEncoder(), lambda done, total: calls.append((done, total)))
    assert calls[-1][0] == calls[-1][1] < 2 * len(many.passages)


def test_above_the_limit_no_token_vectors_are_made(tmp_path: Path) -> None:
    """More passages than stated: no token is encoded or stored, the index and its manifest say so, recall is whole."""
    encoder = LetterEncoder()
    index = build_index(tmp_path, CORPUS, encoder, token_passages=1)
    manifest = json.loads((current_generation(tmp_path) / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["token_vectors"], manifest["token_passages"]) == (False, 1)
    assert not index.has_tokens and len(index.tokens.vectors) == 0 and len(index.vectors) == 4
    assert document_text(REFUND) not in encoder.seen
    assert build_index(tmp_path, CORPUS, encoder, token_passages=2).has_tokens


def test_crossing_the_limit_keeps_what_can_be_kept(tmp_path: Path) -> None:
    """Growing over it the surface vectors stay; coming back under it everything is encoded, for tokens are missing."""
    encoder = LetterEncoder()
    before = build_index(tmp_path, CORPUS, encoder)
    encoder.seen.clear()
    over = build_index(tmp_path, CORPUS, encoder, token_passages=1)
    assert encoder.seen == [] and np.array_equal(over.vectors, before.vectors)
    under = build_index(tmp_path, CORPUS, encoder)
    assert (
        np.array_equal(under.tokens.vectors, before.tokens.vectors) and document_text(REFUND) in encoder.seen
    )


def test_vectors_are_mapped_not_read(tmp_path: Path) -> None:
    """Surface and token vectors are views of the files, so that opening costs no memory for them."""
    index = build_index(tmp_path, CORPUS, LetterEncoder())
    for array in (index.vectors, index.tokens.vectors):
        assert isinstance(array.base, np.memmap) and not array.flags.writeable
