"""The embedded encoder on a tiny real model: prefixes, pooling, order, what counts as a token, faults."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from retrieval.e5_onnx import convert
from retrieval.encoder import MODEL_FILE, TOKENIZER_FILE, Encoder, OnnxE5Encoder
from retrieval.errors import ModelError
from tests.retrieval.e5_bytes import POSITIONS, WIDTH, WORDS, tiny_e5

PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁query", "▁passage", ":", "▁", *"退款到账多久银行卡天气abc", "▁a"]


def tiny_tokenizer() -> Tokenizer:
    """Unigram over single characters and the prefixes, spaces marked as SentencePiece does."""
    tokenizer = Tokenizer(models.Unigram([(piece, -1.0 - len(PIECES) / 99) for piece in PIECES], unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return tokenizer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny-e5")
    (folder / "tiny.bin").write_bytes(tiny_e5().data)
    convert(folder / "tiny.bin", folder / MODEL_FILE)
    tiny_tokenizer().save(str(folder / TOKENIZER_FILE))
    return folder


@pytest.fixture(scope="module")
def encoder(folder: Path) -> Encoder:
    return OnnxE5Encoder(folder)


TEXTS = ["退款多久到账", "卡", "银行卡退款", "天气"]


def test_rows_are_unit_vectors_in_the_order_asked(encoder: Encoder) -> None:
    """One float32 unit row a text; neither order nor company matters; no texts give no rows."""
    rows = encoder.passages(TEXTS)
    assert (rows.shape, rows.dtype) == ((4, WIDTH), np.float32)
    assert encoder.dim == WIDTH
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    for text, row in zip(TEXTS, rows, strict=True):
        assert np.allclose(encoder.passages([text])[0], row, atol=1e-5)
    assert not np.allclose(rows[0], rows[1], atol=1e-3)
    assert encoder.passages([]).shape == (0, WIDTH)
    assert encoder.token_vectors([], "query") == []


def test_a_vector_is_the_mean_of_the_prefixed_tokens(encoder: Encoder, folder: Path) -> None:
    """`query: ` and `passage: ` stand before the text, and every token counts once, the special ones too."""
    session = onnxruntime.InferenceSession(str(folder / MODEL_FILE), providers=["CPUExecutionProvider"])
    for rows, prefix in ((encoder.queries(["退款"]), "query: "), (encoder.passages(["退款"]), "passage: ")):
        ids = np.array([tiny_tokenizer().encode(f"{prefix}退款").ids], np.int64)
        (tokens,) = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        mean = tokens[0].mean(axis=0)
        assert np.allclose(rows[0], mean / np.linalg.norm(mean), atol=1e-6)


def test_token_vectors_are_of_the_text_alone(encoder: Encoder) -> None:
    """No special token, no prefix, no bare space; ids belong to the strings; the query's are not the passage's."""
    asked, empty, spaced = encoder.token_vectors(["退款a", "", "卡 a b"], "query")
    assert asked.tokens == ("退", "款", "a")
    assert asked.ids.tolist() == [PIECES.index(token) for token in asked.tokens]
    assert asked.vectors.shape == (3, WIDTH)
    assert np.allclose(np.linalg.norm(asked.vectors, axis=1), 1, atol=1e-6)
    assert (empty.tokens, empty.ids.shape, empty.vectors.shape) == ((), (0,), (0, WIDTH))
    assert spaced.tokens == ("卡", "▁a", "b")
    (stored,) = encoder.token_vectors(["退款a"], "passage")
    assert stored.tokens == asked.tokens
    assert not np.allclose(stored.vectors, asked.vectors, atol=1e-3)


def test_a_long_text_is_cut(encoder: Encoder) -> None:
    """Beyond `max_tokens` nothing is read, and nothing breaks."""
    assert encoder.max_tokens == POSITIONS
    long, longer = encoder.passages(["退" * 600, "退" * 600 + "天气"])
    assert np.array_equal(long, longer)


def test_the_id_is_the_models_own(encoder: Encoder) -> None:
    """What the converter wrote into the model."""
    assert encoder.id.startswith("e5-")


def test_what_cannot_be_loaded_is_named(folder: Path, tmp_path: Path) -> None:
    """A missing model, a missing or broken tokenizer, an ONNX file of someone else: one line with the path."""

    def fault() -> str:
        with pytest.raises(ModelError) as caught:
            OnnxE5Encoder(tmp_path)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    assert str(tmp_path / MODEL_FILE) in fault()
    model = onnx.load(str(folder / MODEL_FILE))
    (tmp_path / MODEL_FILE).write_bytes(model.SerializeToString())
    assert str(tmp_path / TOKENIZER_FILE) in fault()
    (tmp_path / TOKENIZER_FILE).write_text("{}", "utf-8")
    assert str(tmp_path / TOKENIZER_FILE) in fault()
    tiny_tokenizer().save(str(tmp_path / TOKENIZER_FILE))
    del model.metadata_props[:]
    (tmp_path / MODEL_FILE).write_bytes(model.SerializeToString())
    assert "does not say which encoder" in fault()


def test_a_tokenizer_of_another_model_is_refused(folder: Path, tmp_path: Path) -> None:
    """The runtime would read past the word table without a word: the sizes are compared at load."""
    shutil.copy(folder / MODEL_FILE, tmp_path)
    tokenizer = tiny_tokenizer()
    tokenizer.add_tokens([f"词{number}" for number in range(WORDS)])
    tokenizer.save(str(tmp_path / TOKENIZER_FILE))
    with pytest.raises(ModelError, match="words the model has not"):
        OnnxE5Encoder(tmp_path)


def test_a_fault_while_running_is_a_model_error(folder: Path, tmp_path: Path) -> None:
    """What the runtime says, here to a table of only eight positions, is translated to one line."""
    shutil.copy(folder / TOKENIZER_FILE, tmp_path)
    model = onnx.load(str(folder / MODEL_FILE))
    table = next(tensor for tensor in model.graph.initializer if tensor.name == "positions")
    table.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(table)[:8].copy(), "positions"))
    (tmp_path / MODEL_FILE).write_bytes(model.SerializeToString())
    encoder = OnnxE5Encoder(tmp_path)
    assert encoder.queries(["退"]).shape == (1, WIDTH)
    with pytest.raises(ModelError, match="failed on 1 texts") as caught:
        encoder.queries(["退款到账多久"])
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def real() -> Iterator[Encoder]:
    from voice_agent.weights.store import require

    yield OnnxE5Encoder(require("e5-small"), threads=min(2, os.cpu_count() or 1))


@pytest.mark.models
def test_the_real_encoder_finds_what_was_meant(real: Encoder) -> None:
    """Each question is nearest to its own passage."""
    passages = [
        "审核通过后，退款在3到5个工作日内退回银行卡。",
        "指示灯红色常亮表示光纤没有信号。",
        "积分满一百可以换一张优惠券。",
    ]
    scores = (
        real.queries(["退款什么时候到账", "路由器亮红灯怎么办", "积分能换什么"]) @ real.passages(passages).T
    )
    assert scores.argmax(axis=1).tolist() == [0, 1, 2]
    assert real.dim == 384


@pytest.mark.models
def test_the_real_encoder_does_not_look_at_neighbours(real: Encoder) -> None:
    """The same passage alone and beside others is the same vector, so an index may be built in any order."""
    texts = ["退款", "ERR_2048 表示登录令牌过期，请重新登录。" * 8, "0x80070005", "好"]
    together = real.passages(texts)
    alone = np.concatenate([real.passages([text]) for text in texts])
    assert np.abs(together - alone).max() < 1e-5
