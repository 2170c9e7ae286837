"""The model that tells what answers from what is only near: its pairs, its proof at load, and what it knows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from retrieval import answerability
from retrieval.answerability import MODEL_FILE, Answerability, pair_ids
from retrieval.answers_onnx import convert
from retrieval.encoder import TOKENIZER_FILE
from retrieval.errors import ModelError
from tests.retrieval.e5_bytes import tiny_e5
from tests.retrieval.test_answers_onnx import trained
from tests.retrieval.test_encoder import tiny_tokenizer
from voice_agent.weights.store import require


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tiny.bin").write_bytes(tiny_e5().data)
    np.savez(tmp_path / "tuned.npz", **trained())  # type: ignore[arg-type]
    convert(tmp_path / "tiny.bin", tmp_path / "tuned.npz", tmp_path / MODEL_FILE)
    tiny_tokenizer().save(str(tmp_path / TOKENIZER_FILE))
    return tmp_path


def test_a_pair_is_one_sequence_with_two_ends_between() -> None:
    """Start, question, end, end, passage, end: the passage brings no start of its own."""
    ids = pair_ids(tiny_tokenizer(), "退款", "到账")
    question = tiny_tokenizer().encode("query: 退款").ids
    passage = tiny_tokenizer().encode("passage: 到账").ids
    assert ids == [*question, 2, *passage[1:]] and ids.count(0) == 1


def test_a_long_pair_is_cut(folder: Path) -> None:
    """However long the two are, the model reads them: 512 positions are never passed."""
    assert len(pair_ids(tiny_tokenizer(), "退" * 3000, "款" * 3000)) <= 512


def test_a_model_that_fails_the_known_pair_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random weights know nothing: with a pair they order wrongly, they are not loaded."""
    question, one, other = "退款", "到账", "天气"
    monkeypatch.setattr(answerability, "PROBE", (question, one, one))
    with pytest.raises(ModelError, match="known pair"):
        Answerability(folder)
    for probe in ((question, one, other), (question, other, one)):
        monkeypatch.setattr(answerability, "PROBE", probe)
        try:
            model = Answerability(folder)
        except ModelError:
            continue
        assert model.logits(question, []) == []
        assert len(model.logits(question, [one, other])) == 2
        break
    else:
        pytest.fail("neither order of the pair was accepted")


def test_a_folder_without_the_model_says_so(tmp_path: Path) -> None:
    """One line that names the file."""
    with pytest.raises(ModelError, match="answers.onnx"):
        Answerability(tmp_path)


@pytest.mark.models
def test_it_tells_what_answers_from_what_is_near() -> None:
    """Passages about the asked thing, with and without the asked fact; none of them is in the knowledge base."""
    model = Answerability(require("e5-small"))
    assert model.id.startswith("answerability-")
    cases = (
        (
            "咖啡机一次能磨多少豆子",
            "咖啡机\n豆仓可以装250克豆子，每次研磨20克。",
            "咖啡机\n用完后请倒掉接水盘里的水。",
        ),
        (
            "净水器滤芯多久换一次",
            "净水器\n净水器滤芯每6个月更换一次。",
            "净水器\n须安装在水槽下方，预留电源插座。",
        ),
        (
            "扫地机器人能不能擦木地板",
            "扫地机\n可以擦洗木地板，请把水量调到低档。",
            "扫地机\n尘盒可以用水冲洗。",
        ),
    )
    for question, answering, near in cases:
        yes, no = model.logits(question, (answering, near))
        assert yes > no, (question, yes, no)
