"""The converted encoder computes what a plain reading of the file says, whoever shares the batch."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray

from retrieval import e5_graph, e5_onnx
from retrieval.e5_onnx import REVISION, convert
from retrieval.errors import ModelError
from tests.retrieval.e5_bytes import LAYERS, WIDTH, WORDS, TinyE5, packed_file, tiny_e5

IDS = [0, 17, 4, 4, 31, 49, 2]


@pytest.fixture(scope="module")
def tiny() -> TinyE5:
    return tiny_e5()


@pytest.fixture(scope="module")
def session(tiny: TinyE5, tmp_path_factory: pytest.TempPathFactory) -> onnxruntime.InferenceSession:
    folder = tmp_path_factory.mktemp("e5")
    (folder / "tiny.bin").write_bytes(tiny.data)
    convert(folder / "tiny.bin", folder / "model.onnx")
    return onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])


def run(session: onnxruntime.InferenceSession, rows: list[list[int]]) -> NDArray[np.float32]:
    longest = max(map(len, rows))
    ids = np.array([row + [1] * (longest - len(row)) for row in rows], np.int64)
    mask = np.array([[1] * len(row) + [0] * (longest - len(row)) for row in rows], np.int64)
    (vectors,) = session.run(None, {"input_ids": ids, "attention_mask": mask})
    return np.asarray(vectors)


def cosines(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray((a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1))


def test_it_agrees_with_the_plain_forward_pass(tiny: TinyE5, session: onnxruntime.InferenceSession) -> None:
    """Every token's vector is that of float32 arithmetic but for eight-bit rounding, in direction and in length."""
    ours, plain = run(session, [IDS])[0], tiny.forward(IDS)
    assert ours.shape == (len(IDS), WIDTH)
    assert cosines(ours, plain).min() > 0.999
    assert np.abs(ours - plain).max() < 0.15


def test_company_and_padding_change_nothing(session: onnxruntime.InferenceSession) -> None:
    """A text's vectors are the same alone, beside a longer text, and beside one with far larger activations."""
    alone = run(session, [IDS])[0]
    among = run(session, [[0, 2], IDS, list(range(40))])[1, : len(IDS)]
    assert np.allclose(alone, among, atol=1e-5)


def test_the_model_names_its_source_and_revision(tiny: TinyE5, session: onnxruntime.InferenceSession) -> None:
    """Another source or revision gives another encoder id, so old indexes are not mixed with new vectors."""
    source = hashlib.sha256(tiny.data).hexdigest()[:12]
    facts = {"encoder": f"e5-{source}-r{REVISION}", "words": str(WORDS)}
    assert session.get_modelmeta().custom_metadata_map == facts


def test_the_same_source_gives_the_same_bytes(tiny: TinyE5, tmp_path: Path) -> None:
    """Conversion is a function of the file."""
    (tmp_path / "tiny.bin").write_bytes(tiny.data)
    convert(tmp_path / "tiny.bin", tmp_path / "a.onnx")
    convert(tmp_path / "tiny.bin", tmp_path / "b.onnx")
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


def test_a_failed_conversion_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole or not at all: a missing source, a foreign file, a model that does not run."""
    good = tiny_e5().data
    (tmp_path / "foreign.bin").write_bytes(packed_file({}))
    (tmp_path / "good.bin").write_bytes(good)
    before = sorted(tmp_path.iterdir())
    for source in ("none.bin", "foreign.bin"):
        with pytest.raises(ModelError):
            convert(tmp_path / source, tmp_path / "model.onnx")
    monkeypatch.setattr(e5_graph, "OPSET", 1)  # as if this machine's runtime did not know the operators
    with pytest.raises(ModelError, match="cannot run the model"):
        convert(tmp_path / "good.bin", tmp_path / "model.onnx")
    assert sorted(tmp_path.iterdir()) == before


def test_an_overflowing_encoder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights that yield no numbers on the first try are found at conversion, not in a call."""
    data = bytearray(tiny_e5().data)
    huge = np.full(WIDTH, 3e38, "<f4").tobytes()
    weight = tiny_e5().tensors[f"l{LAYERS - 1}.oln.w"].tobytes()
    at = data.index(weight)
    data[at : at + len(huge)] = huge
    (tmp_path / "huge.bin").write_bytes(bytes(data))
    with pytest.raises(ModelError, match="no number"):
        convert(tmp_path / "huge.bin", tmp_path / "model.onnx")
    assert [path.name for path in tmp_path.iterdir()] == ["huge.bin"]


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    """As a process: exit 1 and one line on standard error; usage when the arguments are not two."""
    (tmp_path / "text.bin").write_text("hello, hello, hello", "utf-8")
    command = [sys.executable, "-m", "retrieval.e5_onnx"]
    done = subprocess.run(
        [*command, str(tmp_path / "text.bin"), str(tmp_path / "model.onnx")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "E5S1" in done.stderr
    with pytest.raises(SystemExit, match="usage"):
        e5_onnx.main(["only-one"])
