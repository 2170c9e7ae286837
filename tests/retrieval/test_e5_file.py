"""The e5 file: read as it was written, and nothing cut, foreign or impossible believed."""

from __future__ import annotations

import numpy as np
import pytest

from retrieval.e5_file import E5File, Sizes
from retrieval.errors import ModelError
from tests.retrieval import e5_bytes
from tests.retrieval.e5_bytes import EPS, HEADS, INNER, KINDS, LAYERS, POSITIONS, WIDTH, WORDS, tiny_e5


def test_sizes_and_tensors_are_those_written() -> None:
    """Sizes, plain tensors and four-bit blocks come out as they went in."""
    tiny = tiny_e5()
    file = E5File(tiny.data)
    expected = Sizes(WIDTH, LAYERS, HEADS, INNER, WORDS, POSITIONS, KINDS, float(np.float32(EPS)))
    assert file.sizes == expected
    assert np.array_equal(file.floats("emb.type", KINDS, WIDTH), tiny.tensors["emb.type"])
    blocks = file.blocks("l1.fi.w", INNER, WIDTH)
    assert np.array_equal(blocks.dequantised(), tiny.tensors["l1.fi.w"])
    assert blocks.nibbles.max() <= 15


def test_every_truncation_is_refused() -> None:
    """Wherever the file ends too early, it is a ModelError of one line, never another exception."""
    data = tiny_e5().data
    for size in [*range(400), *range(400, len(data), 997), len(data) - 1]:
        with pytest.raises(ModelError) as caught:
            E5File(data[:size])
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("at", "value", "says"),
    [
        (0, b"GGUF", "E5S1"),
        (4, b"\x02\0\0\0", "version 2"),
        (8, b"\0\0\0\0", "sizes"),
        (16, b"\x05\0\0\0", "5 heads"),
        (36, b"\0\0\xc0\x7f", "sizes"),
        (40, b"\x40\0\0\0", "blocks of 64"),
        (44, b"\xff\xff\xff\xff", "header"),
    ],
    ids=["magic", "version", "no width", "heads do not divide", "eps is NaN", "block size", "negative count"],
)
def test_impossible_headers_are_refused(at: int, value: bytes, says: str) -> None:
    """Each field is checked before it is used; the message says what is wrong."""
    data = bytearray(tiny_e5().data)
    data[at : at + len(value)] = value
    with pytest.raises(ModelError, match=says):
        E5File(bytes(data))


def test_a_tensor_of_another_kind_or_size_is_refused() -> None:
    """Asking for what is not there in that form is an error, not a reinterpretation of bytes."""
    file = E5File(tiny_e5().data)
    for wrong in (
        lambda: file.floats("emb.word", WORDS, WIDTH),
        lambda: file.blocks("emb.pos", POSITIONS, WIDTH),
        lambda: file.floats("emb.type", KINDS + 1, WIDTH),
        lambda: file.floats("nothing", 1),
    ):
        with pytest.raises(ModelError, match="holds no tensor"):
            wrong()


def test_values_that_are_no_numbers_are_refused() -> None:
    """A NaN in a tensor or in a scale never reaches the graph."""
    for kind, blob, read in (
        (0, np.array([np.nan], "<f4").tobytes(), lambda file: file.floats("x", 1)),
        (1, np.array([np.inf], "<f2").tobytes() + bytes(16), lambda file: file.blocks("x", 1, 32)),
    ):
        file = E5File(e5_bytes.packed_file({"x": (kind, blob)}))
        with pytest.raises(ModelError, match="no numbers"):
            read(file)
