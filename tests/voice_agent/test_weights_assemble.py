"""Parts become the file that is known, or nothing."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from tests.retrieval.e5_bytes import tiny_e5
from tests.voice_agent.wheels import joined, part, sha
from voice_agent.errors import WeightsError
from voice_agent.weights.assemble import assemble, sha256_of
from voice_agent.weights.catalogue import ModelFile


def stored(store: Path, data: bytes) -> bytes:
    (store / sha(data)).write_bytes(data)
    return data


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "parts").mkdir()
    return tmp_path / "parts"


def test_parts_are_joined_in_order(store: Path, tmp_path: Path) -> None:
    """End to end, in the order given, in a folder of its own if the name has one."""
    a, b = stored(store, b"first"), stored(store, b"second")
    file = joined("sub/whole.bin", part("p", "a", a), part("p", "b", b), data=a + b)
    assert assemble(file, store, tmp_path / "model") == sha(a + b)
    assert (tmp_path / "model/sub/whole.bin").read_bytes() == b"firstsecond"
    assert sha256_of(tmp_path / "model/sub/whole.bin") == sha(a + b)


def test_a_whole_of_another_hash_is_refused_and_removed(store: Path, tmp_path: Path) -> None:
    """Right parts, wrong whole: the catalogue is wrong, nothing is used."""
    a = stored(store, b"first")
    file = joined("whole.bin", part("p", "a", a), data=b"other")
    with pytest.raises(WeightsError, match="another sha256"):
        assemble(file, store, tmp_path)
    assert not (tmp_path / "whole.bin").exists()


def test_a_part_spoilt_on_disk_is_removed(store: Path, tmp_path: Path) -> None:
    """What was right when fetched and is not now is fetched again by the next pull, not for ever refused."""
    a = stored(store, b"first")
    (store / sha(a)).write_bytes(b"fir5t")
    file = joined("whole.bin", part("p", "a", a), data=a)
    with pytest.raises(WeightsError, match="spoilt"):
        assemble(file, store, tmp_path)
    assert not (store / sha(a)).exists()
    assert not (tmp_path / "whole.bin").exists()


def archive(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, voice=array)
    return buffer.getvalue()


def test_an_array_becomes_raw_float32(store: Path, tmp_path: Path) -> None:
    """Little-endian float32 without a header, whatever the layout in the archive."""
    array = np.arange(6, dtype=np.float64).reshape(2, 3).T
    data, raw = stored(store, archive(array)), array.astype("<f4").tobytes()
    file = ModelFile("v.bin", (part("p", "v.npz", data),), len(raw), sha(raw), "npz_array", "voice")
    assemble(file, store, tmp_path)
    assert (tmp_path / "v.bin").read_bytes() == raw
    with pytest.raises(WeightsError, match="no array other"):
        assemble(replace(file, argument="other"), store, tmp_path)


def test_a_pickled_array_is_never_opened(store: Path, tmp_path: Path) -> None:
    """An object array would run code: it is an error like any unreadable archive."""
    data = stored(store, archive(np.array([{"a": 1}], dtype=object)))
    file = ModelFile("v.bin", (part("p", "v.npz", data),), 4, None, "npz_array", "voice")
    with pytest.raises(WeightsError, match="no array voice"):
        assemble(file, store, tmp_path)


def test_an_e5_file_becomes_an_encoder(store: Path, tmp_path: Path) -> None:
    """Converted in a process of its own; the hash returned is that of the file made."""
    data = stored(store, tiny_e5().data)
    file = ModelFile("model.onnx", (part("p", "e5.bin", data),), 1, None, "e5_onnx", "1")
    made = assemble(file, store, tmp_path)
    assert made == sha256_of(tmp_path / "model.onnx")
    onnxruntime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])


def test_a_failed_conversion_is_one_line(store: Path, tmp_path: Path) -> None:
    """The converter's own last word is passed on; a spoilt source is found before it is converted."""
    data = stored(store, b"no such thing as an encoder")
    file = ModelFile("model.onnx", (part("p", "e5.bin", data),), 1, None, "e5_onnx", "1")
    with pytest.raises(WeightsError, match=r"model\.onnx cannot be converted: not an e5 file") as caught:
        assemble(file, store, tmp_path)
    assert "\n" not in str(caught.value)
    (store / sha(data)).write_bytes(tiny_e5().data)
    with pytest.raises(WeightsError, match="spoilt"):
        assemble(file, store, tmp_path)
