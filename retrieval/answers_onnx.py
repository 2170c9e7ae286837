"""The answerability model made: `python -m retrieval.answers_onnx E5_FILE TUNED TARGET`, when models are pulled.

A cross-encoder: question and passage in one sequence through e5's layers, of which the upper ones were trained further
by `scripts/train_reranker`, then the mean of the rows and one linear unit. TUNED is an .npz of just those upper
layers and the unit; the words and the lower layers come from the encoder's own file. The graph takes `input_ids` and
`attention_mask`, int64 (b, l), and gives `logit`, float32 (b, 1).
"""

from __future__ import annotations

import hashlib
import io
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray

from retrieval import e5_graph
from retrieval.e5_file import Blocks, E5File, Floats, Sizes
from retrieval.e5_onnx import read
from retrieval.errors import ModelError

REVISION = "1"
"""Raised whenever the graph computes anything else: thresholds were chosen for these numbers."""

STEPS = ".steps"
"""Suffix of a matrix kept as int8 (rows, columns), with float32 scales (rows,) under `.scales`."""


class Tuned:
    """e5's file with the tensors of a training in their place."""

    def __init__(self, file: E5File, tensors: Mapping[str, NDArray[np.generic]]) -> None:
        self._file = file
        self._tensors = tensors

    @property
    def sizes(self) -> Sizes:
        return self._file.sizes

    def floats(self, name: str, *shape: int) -> Floats:
        """A float32 tensor, trained if it is there. Raises ModelError."""
        if name not in self._tensors:
            return self._file.floats(name, *shape)
        return self._shaped(name, self._tensors[name].astype(np.float32), shape)

    def matrix(self, name: str, rows: int, columns: int) -> Floats:
        """A matrix, trained if it is there. Raises ModelError."""
        steps = self._tensors.get(name + STEPS)
        if steps is None:
            return self._file.matrix(name, rows, columns)
        scales = self._shaped(f"{name}.scales", self._tensors[f"{name}.scales"].astype(np.float32), (rows,))
        return self._shaped(name, steps.astype(np.float32), (rows, columns)) * scales[:, None]

    def blocks(self, name: str, rows: int, columns: int) -> Blocks:
        """The word table is never trained."""
        return self._file.blocks(name, rows, columns)

    def _shaped(self, name: str, values: Floats, shape: tuple[int, ...]) -> Floats:
        if values.shape != shape or not np.isfinite(values).all():
            raise ModelError(f"the trained tensor {name} is {values.shape} or not finite, not {shape}")
        return values


def convert(source: Path, tuned: Path, target: Path) -> None:
    """Writes the ONNX file, whole or not at all, and sees it run. Raises ModelError."""
    data, trained = read(source), read(tuned)
    facts = {"model": f"answerability-{hashlib.sha256(trained).hexdigest()[:12]}-r{REVISION}"}
    e5_graph.write(build(Tuned(E5File(data), _tensors(tuned.name, trained)), facts), target)


def build(weights: Tuned, facts: dict[str, str]) -> onnx.ModelProto:
    """The model. Raises ModelError when a tensor is missing or has another shape."""
    graph, x = e5_graph.begin(weights)
    for number in range(weights.sizes.layers):
        x = e5_graph.layer(graph, weights, f"l{number}.", x)
    graph.node("Reshape", [x, "shape"], "token_vectors")
    graph.constant("axis_1", np.array([1], np.int64))
    graph.constant("axis_2", np.array([2], np.int64))
    graph.node("Cast", ["attention_mask"], "kept", to=onnx.TensorProto.FLOAT)
    graph.node("Unsqueeze", ["kept", "axis_2"], "kept_rows")
    graph.node("Mul", ["token_vectors", "kept_rows"], "kept_vectors")
    graph.node("ReduceSum", ["kept_vectors", "axis_1"], "sum", keepdims=0)
    graph.node("ReduceSum", ["kept", "axis_1"], "count", keepdims=1)
    graph.node("Div", ["sum", "count"], "mean")
    width = weights.sizes.width
    graph.constant("unit.w", weights.floats("out.w", 1, width).T)
    graph.constant("unit.b", weights.floats("out.b", 1))
    graph.node("MatMul", ["mean", "unit.w"], "unit.x")
    graph.node("Add", ["unit.x", "unit.b"], "logit")
    return graph.finished("logit", ["b", 1], {**facts, "words": str(weights.sizes.words)})


def _tensors(name: str, data: bytes) -> dict[str, NDArray[np.generic]]:
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return {key: arrays[key] for key in arrays.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise ModelError(f"{name} is no file of trained tensors: {error}") from error


def main(arguments: list[str]) -> None:
    """The command. A fault is its last word on stderr, exit code 1."""
    if len(arguments) != 3:
        raise SystemExit("usage: python -m retrieval.answers_onnx E5_FILE TUNED TARGET")
    try:
        convert(Path(arguments[0]), Path(arguments[1]), Path(arguments[2]))
    except ModelError as error:
        raise SystemExit(str(error)) from error


if __name__ == "__main__":
    main(sys.argv[1:])
