"""The manifest: what was written comes back, cheap and thorough checks, and nothing unreadable believed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.voice_agent.wheels import sha
from voice_agent.weights import manifest
from voice_agent.weights.manifest import NAME, Manifest


def folder_with(tmp_path: Path, **files: bytes) -> Manifest:
    stamps = {}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        stamps[name] = manifest.stamp(tmp_path / name, sha(data))
    return Manifest("f" * 64, stamps)


def test_it_comes_back_as_written(tmp_path: Path) -> None:
    """Reading gives what was written, and no half-written file stays."""
    written = folder_with(tmp_path, a=b"one", b=b"two")
    manifest.write(tmp_path, written)
    assert manifest.read(tmp_path) == written
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", NAME]


def test_cheap_and_thorough_checks(tmp_path: Path) -> None:
    """Size and time are enough for the cheap check; contents alone count for the thorough one."""
    written = folder_with(tmp_path, a=b"one", b=b"two")
    assert manifest.unchanged(tmp_path, written)
    assert manifest.spoilt(tmp_path, written) == []
    times = os.stat(tmp_path / "a").st_mtime_ns
    (tmp_path / "a").write_bytes(b"0ne")
    os.utime(tmp_path / "a", ns=(times, times))
    assert manifest.unchanged(tmp_path, written)
    assert manifest.spoilt(tmp_path, written) == ["a"]
    os.utime(tmp_path / "b", ns=(times + 1, times + 1_000_000_000))
    assert not manifest.unchanged(tmp_path, written)
    (tmp_path / "b").unlink()
    assert not manifest.unchanged(tmp_path, written)
    assert manifest.spoilt(tmp_path, written) == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        json.dumps({"schema": 2, "fingerprint": "x", "files": {}}),
        json.dumps({"schema": 1, "fingerprint": "x"}),
        json.dumps({"schema": 1, "fingerprint": "x", "files": []}),
        json.dumps({"schema": 1, "fingerprint": "x", "files": {"a": {"size": 1}}}),
    ],
)
def test_what_cannot_be_understood_is_none(text: str, tmp_path: Path) -> None:
    """A cut, foreign or older manifest vouches for nothing."""
    assert manifest.read(tmp_path) is None
    (tmp_path / NAME).write_text(text, "utf-8")
    assert manifest.read(tmp_path) is None
