"""A folder replaced as a whole: what was current stays current until the next one is complete."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from retrieval import generations
from retrieval.errors import StoreError
from retrieval.generations import (
    ABANDONED_S,
    current_generation,
    new_generation,
    read_manifest,
    write_manifest,
)


def write(root: Path, text: str) -> Path:
    with new_generation(root) as folder:
        (folder / "data.txt").write_text(text, encoding="utf-8")
        write_manifest(folder, {"made": text})
    return current_generation(root)


def test_the_last_complete_generation_is_current_and_the_one_before_is_gone(tmp_path: Path) -> None:
    """Each new generation takes over as a whole; nothing of the old one is left."""
    first = write(tmp_path / "index", "one")
    second = write(tmp_path / "index", "two")
    assert read_manifest(second)["made"] == "two"
    assert not first.exists()
    assert sorted(p.name for p in (tmp_path / "index").iterdir()) == sorted(["current", second.name])


def test_a_crash_while_writing_leaves_what_was_current(tmp_path: Path) -> None:
    """An exception in the middle leaves the old generation, whole, and no half-written folder."""
    first = write(tmp_path, "one")
    with pytest.raises(KeyboardInterrupt), new_generation(tmp_path) as folder:
        (folder / "data.txt").write_text("half", encoding="utf-8")
        raise KeyboardInterrupt
    assert current_generation(tmp_path) == first
    assert read_manifest(first)["made"] == "one"
    assert len(list(tmp_path.glob("gen-*"))) == 1


def test_a_kill_just_before_the_exchange_leaves_what_was_current(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the process dies with everything written but the exchange, the old generation answers; the leftover is
    swept by the next writer.
    """
    first = write(tmp_path, "one")

    def die(*_: object) -> None:
        raise SystemExit(9)

    with monkeypatch.context() as patch:
        patch.setattr(generations, "_make_current", die)
        patch.setattr(generations.shutil, "rmtree", lambda *_, **__: None)
        with pytest.raises(SystemExit), new_generation(tmp_path) as folder:
            write_manifest(folder, {"made": "two"})
    assert current_generation(tmp_path) == first and folder.exists()
    third = write(tmp_path, "three")
    assert read_manifest(current_generation(tmp_path))["made"] == "three"
    assert [p.name for p in tmp_path.glob("gen-*")] == [third.name]


def test_a_generation_still_being_written_is_not_swept(tmp_path: Path) -> None:
    """Another process may be writing: only a folder that is complete or an hour old is removed."""
    (tmp_path / "gen-young").mkdir(parents=True)
    (tmp_path / "gen-old").mkdir()
    before = time.time() - ABANDONED_S - 5
    os.utime(tmp_path / "gen-old", (before, before))
    write(tmp_path, "one")
    assert (tmp_path / "gen-young").exists() and not (tmp_path / "gen-old").exists()


def test_no_generation_a_vanished_one_and_a_foreign_name_are_store_errors(tmp_path: Path) -> None:
    """What cannot be opened says so; the pointer never leads out of the folder."""
    with pytest.raises(StoreError, match="there is none"):
        current_generation(tmp_path)
    for name in ("gen-gone", "../elsewhere", "", "."):
        (tmp_path / "current").write_text(name, encoding="utf-8")
        with pytest.raises(StoreError):
            current_generation(tmp_path)


@pytest.mark.parametrize("damage", ["changed", "missing", "no manifest", "bad manifest", "empty manifest"])
def test_damage_is_found(tmp_path: Path, damage: str) -> None:
    """A file changed or missing, a manifest missing, cut or of another shape: never read as if it were whole."""
    folder = write(tmp_path, "one")
    manifest = folder / "manifest.json"
    if damage == "changed":
        (folder / "data.txt").write_text("two", encoding="utf-8")
    elif damage == "missing":
        (folder / "data.txt").unlink()
    elif damage == "no manifest":
        manifest.unlink()
    else:
        manifest.write_text('{"files": {' if damage == "bad manifest" else "[]", encoding="utf-8")
    with pytest.raises(StoreError, match="build it again"):
        read_manifest(folder)


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    """A file where the folder should be is a StoreError, not a traceback."""
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(StoreError, match="cannot be written"), new_generation(tmp_path / "file"):
        pytest.fail("the block must not run")
