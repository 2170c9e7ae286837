"""The hub adapter on a tiny random BERT made here: the real loading code, offline."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from retrieval.encoder import Encoder, SentenceTransformerEncoder
from retrieval.errors import ModelError

LETTERS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"退款到账多久银行卡天气为查询：abc"]
WIDTH, LONGEST = 16, 24
INSTRUCTION = "为查询："


def tokenizer_of_letters() -> Tokenizer:
    """One token a character, between [CLS] and [SEP]."""
    words = {letter: number for number, letter in enumerate(LETTERS)}
    tokenizer = Tokenizer(models.WordPiece(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


@pytest.fixture(scope="module", autouse=True)
def offline() -> Iterator[None]:
    """No hub may be asked, whatever the test does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentence-transformers folder with one layer of random weights, as safetensors."""
    transformers = pytest.importorskip("transformers")
    sentence_transformers = pytest.importorskip("sentence_transformers")
    import torch

    torch.manual_seed(3)
    bare, whole = tmp_path_factory.mktemp("bert"), tmp_path_factory.mktemp("st")
    config = transformers.BertConfig(
        vocab_size=len(LETTERS),
        hidden_size=WIDTH,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=LONGEST,
    )
    transformers.BertModel(config).save_pretrained(bare)
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer_of_letters(), pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
    ).save_pretrained(bare)
    model = sentence_transformers.SentenceTransformer(
        str(bare), device="cpu"
    )  # mean pooling is its own choice
    model.max_seq_length = LONGEST
    model.save(str(whole))
    return whole


@pytest.fixture(scope="module")
def encoder(folder: Path) -> Encoder:
    return SentenceTransformerEncoder(str(folder), INSTRUCTION, local_files_only=True, threads=1)


def test_the_instruction_stands_before_queries_only(encoder: Encoder) -> None:
    """A query is the instruction and the text; a passage is the text alone."""
    query, passage = encoder.queries(["退款"]), encoder.passages(["退款"])
    assert np.allclose(query, encoder.passages([f"{INSTRUCTION}退款"]), atol=1e-5)
    assert not np.allclose(query, passage, atol=1e-3)


def test_rows_are_unit_vectors_in_the_order_asked(encoder: Encoder) -> None:
    """One float32 unit row a text; no texts give no rows."""
    texts = ["退款多久到账", "卡", "银行卡"]
    rows = encoder.passages(texts)
    assert (rows.shape, rows.dtype, encoder.dim) == ((3, WIDTH), np.float32, WIDTH)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    for text, row in zip(texts, rows, strict=True):
        assert np.allclose(encoder.passages([text])[0], row, atol=1e-5)
    assert encoder.passages([]).shape == (0, WIDTH)


def test_token_vectors_are_of_the_text_alone(encoder: Encoder) -> None:
    """No special token and nothing of the instruction; ids belong to the strings; cut where the model cuts."""
    first, empty, long = encoder.token_vectors(["退款a", "", "卡" * 99], "query")
    assert first.tokens == ("退", "款", "a")
    assert first.ids.tolist() == [LETTERS.index(token) for token in first.tokens]
    assert np.allclose(np.linalg.norm(first.vectors, axis=1), 1, atol=1e-5)
    assert (empty.tokens, empty.vectors.shape) == ((), (0, WIDTH))
    assert len(long.tokens) == encoder.max_tokens - 2 - len(INSTRUCTION)
    assert encoder.max_tokens == LONGEST
    (stored,) = encoder.token_vectors(["退款a"], "passage")
    assert stored.tokens == first.tokens
    assert encoder.token_vectors([], "query") == []


def test_the_id_changes_with_the_weights_and_the_passage_instruction(folder: Path, tmp_path: Path) -> None:
    """Whatever changes a passage's vector changes the id, so that the index is built again."""
    plain = SentenceTransformerEncoder(str(folder))
    assert plain.id == SentenceTransformerEncoder(str(folder), "问：").id
    assert plain.id != SentenceTransformerEncoder(str(folder), "", "答：").id
    before = plain.id
    weights = next(folder.rglob("*.safetensors"))
    weights.write_bytes(weights.read_bytes())
    assert SentenceTransformerEncoder(str(folder)).id != before


def test_a_pickle_is_never_opened(folder: Path, tmp_path: Path) -> None:
    """Weights that are there only as a pickle are refused before any library sees them."""
    import torch
    from safetensors.torch import load_file

    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    weights = next(tmp_path.rglob("*.safetensors"))
    torch.save(load_file(weights), weights.with_name("pytorch_model.bin"))
    SentenceTransformerEncoder(str(tmp_path))  # beside safetensors it is merely ignored
    weights.unlink()
    with pytest.raises(ModelError, match="pickle"):
        SentenceTransformerEncoder(str(tmp_path))


def test_a_model_that_cannot_be_had_is_one_line(tmp_path: Path) -> None:
    """Neither a name that is not in the cache nor an empty folder gives more than a ModelError that names it."""
    for name in ("nobody/no-such-model", str(tmp_path)):
        with pytest.raises(ModelError) as caught:
            SentenceTransformerEncoder(name, local_files_only=True)
        assert name in str(caught.value)
        assert "\n" not in str(caught.value)


def test_without_the_extra_the_mend_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedded installation has no sentence-transformers: the message says how to get it."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ModelError, match=r"voice-agent\[hub\]"):
        SentenceTransformerEncoder("BAAI/bge-small-zh-v1.5")
