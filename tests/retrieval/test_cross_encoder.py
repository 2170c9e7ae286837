"""The hub reranker, on tiny real models made here: random weights must fail the self-test, not rank in silence."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import pytest

from retrieval.cross_encoder import PROBE_QUESTION, PROBE_RELATED, PROBE_UNRELATED, CrossEncoderReranker
from retrieval.errors import ModelError
from retrieval.rerank import Reranker

VOCABULARY = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *dict.fromkeys(PROBE_QUESTION + PROBE_RELATED + PROBE_UNRELATED),
]


def tiny_model(folder: Path, labels: int = 1, safe: bool = True, dead: bool = False) -> Path:
    """A one-layer BERT classifier with random weights and a character vocabulary; `dead` answers 0 to everything."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY), encoding="utf-8")
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(5)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
        num_labels=labels,
    )
    model = BertForSequenceClassification(config)
    with torch.no_grad():
        model.classifier.weight.mul_(0.0 if dead else 50.0)
        model.classifier.bias.add_(3.0)
    if safe:
        model.save_pretrained(folder)
    else:
        config.save_pretrained(folder)
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
    return folder


@pytest.fixture(scope="module", autouse=True)
def _quiet() -> None:
    """torch and transformers warn while they are imported; that is theirs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import sentence_transformers  # noqa: F401  # imported for its side effects, before warnings are errors


@pytest.fixture(scope="module")
def untested(tmp_path_factory: pytest.TempPathFactory) -> CrossEncoderReranker:
    folder = tiny_model(tmp_path_factory.mktemp("tiny-cross-encoder"))
    return CrossEncoderReranker(str(folder), max_tokens=64, self_test=False)


def test_scores_are_finite_logits_one_a_text_in_order(untested: CrossEncoderReranker) -> None:
    """A score a text, the same alone as in a batch, and outside [0, 1]: no activation was applied."""
    reranker: Reranker = untested
    texts = [PROBE_RELATED, PROBE_UNRELATED, "退款", "灯"] * 5
    scores = reranker.scores(PROBE_QUESTION, texts)
    assert len(scores) == 20 and all(math.isfinite(score) for score in scores)
    assert scores[4:8] == pytest.approx(scores[:4], abs=1e-4)
    assert reranker.scores(PROBE_QUESTION, [texts[2]])[0] == pytest.approx(scores[2], abs=1e-4)
    assert max(map(abs, scores)) > 1.0
    assert reranker.scale == "logit"
    assert reranker.scores(PROBE_QUESTION, []) == []


def test_its_id_names_the_model(untested: CrossEncoderReranker) -> None:
    """Thresholds are stored under the id, so two models never share one."""
    assert "tiny-cross-encoder" in untested.id


def test_a_random_model_fails_the_self_test(tmp_path: Path) -> None:
    """A model whose related pair does not beat the unrelated one is refused at load, naming both scores."""
    for seed in range(2):
        dead = tiny_model(tmp_path / str(seed), dead=True)
        with pytest.raises(ModelError, match="self-test failed"):
            CrossEncoderReranker(str(dead), max_tokens=64)


def test_the_self_test_decides_by_the_known_pair(tmp_path: Path, untested: CrossEncoderReranker) -> None:
    """With random weights the outcome is the pair's own order: refused exactly when related is not above unrelated."""
    related, unrelated = untested.scores(PROBE_QUESTION, [PROBE_RELATED, PROBE_UNRELATED])
    folder = str(tiny_model(tmp_path / "again"))
    if related > unrelated:
        assert CrossEncoderReranker(folder, max_tokens=64).scale == "logit"
    else:
        with pytest.raises(ModelError, match="self-test failed"):
            CrossEncoderReranker(folder, max_tokens=64)


def test_a_model_with_two_outputs_is_no_reranker(tmp_path: Path) -> None:
    """A classifier of two labels has no one score and is refused."""
    with pytest.raises(ModelError, match="2 outputs"):
        CrossEncoderReranker(str(tiny_model(tmp_path, labels=2)), max_tokens=64, self_test=False)


def test_pickled_weights_are_refused(tmp_path: Path) -> None:
    """Only safetensors are loaded: a .bin beside a config is not even opened."""
    with pytest.raises(ModelError, match="safetensors"):
        CrossEncoderReranker(str(tiny_model(tmp_path, safe=False)), self_test=False)


def test_an_empty_folder_and_a_broken_model_are_one_line(tmp_path: Path) -> None:
    """What cannot be loaded says so in one line, with the name."""
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "model.safetensors").write_bytes(b"not a model")
    for folder, words in ((tmp_path, "safetensors"), (tmp_path / "broken", "cannot be loaded")):
        with pytest.raises(ModelError, match=words) as caught:
            CrossEncoderReranker(str(folder))
        assert "\n" not in str(caught.value) and str(folder) in str(caught.value)
