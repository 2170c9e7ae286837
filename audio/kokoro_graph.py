"""Kokoro's graph with one more input: how much of each phoneme is worth making into sound.

The model plans half a second of silence before a text and a second after it, and all of it was decoded only to be cut
away: of a short clause more than half. Here the plan (durations, pitch, loudness) is made as before and its silent ends
are cut off before the decoder, which is where the time goes. What remains is the same speech.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from audio.errors import ModelError
from audio.types import Samples

LIMITS = "limits"
"""Name of the new input: float32, one a token, in frames of 25 ms."""

LEAD_FRAMES = 9.0
"""Kept of the border before the text, 17 to 19 frames long. Speech sets in about three frames before it ends."""

LAST_FRAMES = 10.0
"""Kept of the last phoneme (a tone mark as a rule), planned 27 to 29 frames long; about four are heard."""

MARK_FRAMES = 1.0
"""Kept of the marks that close the text and of the border behind it: silence."""

FREE = 1e4
"""No limit: longer than any phoneme gets."""

_DURATIONS = "/encoder/Clip_output_0"
_PLANS = {
    "/encoder/MatMul_1_output_0": (2, 1),
    "/encoder/Reshape_output_0": (1, 2),
    "/encoder/Reshape_1_output_0": (1, 2),
}
"""What goes from the plan to the decoder (phonemes, pitch, loudness): its time axis, and its steps a frame."""

_MARKS = frozenset(",.!?;:…—\"'”’ ")


def with_limits(path: Path) -> bytes:
    """The model file with the input LIMITS, for onnxruntime. Raises ModelError when it is not that export."""
    # Imported here: only who speaks needs to read graphs.
    import onnx
    from google.protobuf.message import DecodeError
    from onnx import TensorProto, helper

    try:
        model = onnx.load_model_from_string(path.read_bytes())
    except (OSError, DecodeError) as fault:
        raise ModelError(f"{path}: cannot be read as a model: run `voice-agent models verify`") from fault
    made = [output for node in model.graph.node for output in node.output]
    if any(made.count(name) != 1 for name in (_DURATIONS, *_PLANS)):
        raise ModelError(f"{path}: not the expected export of Kokoro: run `voice-agent models verify`")
    nodes: list[Any] = []
    for node in model.graph.node:
        nodes.append(node)
        for plan in _PLANS.keys() & set(node.output):
            node.output[list(node.output).index(plan)] = _whole(plan)
            nodes.append(_cut(helper, plan))
        if _DURATIONS in node.output:
            nodes += _bounds(helper)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    model.graph.input.append(helper.make_tensor_value_info(LIMITS, TensorProto.FLOAT, [1, None]))
    for name, value in {"zero": 0, "one": 1, "two": 2}.items():
        model.graph.initializer.append(helper.make_tensor(_own(name), TensorProto.INT64, [1], [value]))
    return bytes(model.SerializeToString())


def limits(phonemes: Sequence[str]) -> Samples:
    """The limits of a text's tokens with the border at each end: shape (1, len + 2).

    >>> limits("hau,").tolist()
    [[9.0, 10000.0, 10000.0, 10.0, 1.0, 1.0]]
    """
    last = len(phonemes)
    while last > 1 and phonemes[last - 1] in _MARKS:
        last -= 1
    longest = np.full(len(phonemes) + 2, FREE, dtype=np.float32)
    longest[0], longest[last], longest[last + 1 :] = LEAD_FRAMES, LAST_FRAMES, MARK_FRAMES
    return longest.reshape(1, -1)


def _own(name: str) -> str:
    return f"{LIMITS}/{name}"


def _whole(plan: str) -> str:
    return f"{plan}_whole"


def _bounds(helper: Any) -> list[Any]:
    """Nodes that give the first frame to decode and the one after the last, and both in half frames."""

    def node(kind: str, inputs: Sequence[str], output: str, **attributes: object) -> Any:
        return helper.make_node(kind, inputs, [_own(output)], name=_own(output), **attributes)

    zero, one, two = map(_own, ("zero", "one", "two"))
    integer = 7  # TensorProto.INT64
    return [
        node("Min", [_DURATIONS, LIMITS], "kept"),
        node("Sub", [_DURATIONS, _own("kept")], "silent"),
        node("Slice", [_own("silent"), zero, one, one], "silent_first"),
        node("ReduceSum", [_own("silent_first"), one], "lead", keepdims=0),
        node("ReduceSum", [_own("silent"), one], "both_ends", keepdims=0),
        node("ReduceSum", [_DURATIONS, one], "frames", keepdims=0),
        node("Sub", [_own("frames"), _own("both_ends")], "sounding"),
        node("Add", [_own("sounding"), _own("lead")], "until"),
        node("Cast", [_own("lead")], "begin_1", to=integer),
        node("Cast", [_own("until")], "end_1", to=integer),
        node("Mul", [_own("begin_1"), two], "begin_2"),
        node("Mul", [_own("end_1"), two], "end_2"),
    ]


def _cut(helper: Any, plan: str) -> Any:
    axis, steps = _PLANS[plan]
    bounds = [_own(f"begin_{steps}"), _own(f"end_{steps}"), _own({1: "one", 2: "two"}[axis])]
    return helper.make_node("Slice", [_whole(plan), *bounds], [plan], name=f"{plan}_cut")
