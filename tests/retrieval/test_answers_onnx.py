"""The answerability model as a graph: e5's layers with the trained ones in their place, one number a pair."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray

from retrieval.answers_onnx import STEPS, convert, main
from retrieval.errors import ModelError
from tests.retrieval.e5_bytes import LAYERS, WIDTH, TinyE5, tiny_e5

LAST = f"l{LAYERS - 1}."
IDS = [0, 17, 4, 2, 2, 31, 49, 2]


def trained(seed: int = 3) -> dict[str, NDArray[Any]]:
    """The last layer's query matrix and the unit, as a training writes them."""
    dice = np.random.default_rng(seed)
    return {
        f"{LAST}q.w{STEPS}": dice.integers(-127, 128, (WIDTH, WIDTH)).astype(np.int8),
        f"{LAST}q.w.scales": dice.uniform(0.001, 0.003, WIDTH).astype(np.float32),
        "out.w": dice.normal(0, 1, (1, WIDTH)).astype(np.float32),
        "out.b": np.array([0.25], np.float32),
    }


def made(folder: Path, tensors: dict[str, NDArray[Any]]) -> Path:
    """Converts the tiny e5 with these tensors."""
    (folder / "tiny.bin").write_bytes(tiny_e5().data)
    np.savez(folder / "tuned.npz", **tensors)  # type: ignore[arg-type]
    convert(folder / "tiny.bin", folder / "tuned.npz", folder / "answers.onnx")
    return folder / "answers.onnx"


def logits(path: Path, rows: list[list[int]]) -> NDArray[np.float32]:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    longest = max(map(len, rows))
    ids = np.array([row + [1] * (longest - len(row)) for row in rows], np.int64)
    mask = np.array([[1] * len(row) + [0] * (longest - len(row)) for row in rows], np.int64)
    (out,) = session.run(None, {"input_ids": ids, "attention_mask": mask})
    return np.asarray(out)


def test_it_agrees_with_the_plain_forward_pass(tmp_path: Path) -> None:
    """The mean of the rows through the unit, with the trained matrix where there is one and e5's own elsewhere."""
    tensors = trained()
    plain: TinyE5 = tiny_e5()
    matrix = tensors[f"{LAST}q.w{STEPS}"].astype(np.float32) * tensors[f"{LAST}q.w.scales"][:, None]
    plain.tensors[f"{LAST}q.w"] = matrix
    expected = plain.forward(IDS).mean(axis=0) @ tensors["out.w"][0] + 0.25
    (ours,) = logits(made(tmp_path, tensors), [IDS])
    assert ours[0] == pytest.approx(float(expected), abs=0.1)
    untrained = tiny_e5().forward(IDS).mean(axis=0) @ tensors["out.w"][0] + 0.25
    assert abs(float(expected) - float(untrained)) > 0.001


def test_company_and_padding_change_nothing(tmp_path: Path) -> None:
    """A pair's number is the same alone and beside a longer pair: padding is in no mean."""
    path = made(tmp_path, trained())
    alone = logits(path, [IDS])[0]
    among = logits(path, [IDS, list(range(40))])[0]
    assert np.allclose(alone, among, atol=1e-4)


def test_other_weights_are_another_model(tmp_path: Path) -> None:
    """The id in the metadata is that of the trained tensors: thresholds of one never meet another."""
    names = set()
    for seed in (3, 4):
        folder = tmp_path / str(seed)
        folder.mkdir()
        session = onnxruntime.InferenceSession(str(made(folder, trained(seed))))
        names.add(session.get_modelmeta().custom_metadata_map["model"])
    assert len(names) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"out.w": np.zeros((1, WIDTH + 1), np.float32)}, "out.w"),
        ({"out.b": np.array([np.nan], np.float32)}, "out.b"),
        ({f"{LAST}q.w.scales": np.zeros(3, np.float32)}, "scales"),
        ({f"{LAST}q.w{STEPS}": np.zeros((2, 2), np.int8)}, "q.w"),
    ],
)
def test_tensors_that_do_not_fit_are_named(
    tmp_path: Path, change: dict[str, NDArray[Any]], said: str
) -> None:
    """A shape or a number that cannot be is refused at conversion, and nothing is left behind."""
    with pytest.raises(ModelError, match=said):
        made(tmp_path, {**trained(), **change})
    assert not (tmp_path / "answers.onnx").exists()


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    """Text, or an array that would have to be unpickled."""
    (tmp_path / "tiny.bin").write_bytes(tiny_e5().data)
    (tmp_path / "text.npz").write_text("hello", encoding="utf-8")
    np.savez(tmp_path / "object.npz", **{"out.w": np.array([{}], dtype=object)})  # type: ignore[arg-type]
    for name in ("text.npz", "object.npz", "none.npz"):
        with pytest.raises(ModelError):
            convert(tmp_path / "tiny.bin", tmp_path / name, tmp_path / "answers.onnx")
    with pytest.raises(SystemExit, match="usage"):
        main(["one"])
