"""A folder that is replaced as a whole: generations side by side, and one small file that names the current one.

Writing happens in a folder of its own; only when it is complete is the `current` file exchanged, which the
file system does in one step. A crash at any moment leaves the generation that was current before.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from retrieval.errors import StoreError

CURRENT = "current"
MANIFEST = "manifest.json"
_PREFIX = "gen-"

ABANDONED_S = 3600.0
"""A generation older than this that is not current was left by a crash; a younger one may still be being written."""


@contextmanager
def new_generation(root: Path) -> Iterator[Path]:
    """A fresh folder to fill; when the block ends without an exception it has become the current generation.

    Raises StoreError when the folder cannot be written.
    """
    try:
        root.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=root))
        folder.chmod(0o755)
    except OSError as e:
        raise StoreError(f"index {root}: cannot be written ({e.strerror}); choose another paths.index") from e
    try:
        yield folder
        _make_current(root, folder)
    except OSError as e:
        shutil.rmtree(folder, ignore_errors=True)
        raise StoreError(
            f"index {root}: cannot be written ({e.strerror}); free some space and build again"
        ) from e
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    _sweep(root, folder.name)


def _make_current(root: Path, folder: Path) -> None:
    pointer = folder / CURRENT
    pointer.write_text(folder.name, encoding="utf-8")
    os.replace(pointer, root / CURRENT)


def _sweep(root: Path, kept: str) -> None:
    """Removes what is no longer current. A reader that has it open keeps reading on POSIX; elsewhere it stays."""
    limit = time.time() - ABANDONED_S
    for folder in root.glob(f"{_PREFIX}*"):
        finished = (folder / MANIFEST).exists()
        if folder.name != kept and (finished or folder.stat().st_mtime < limit):
            shutil.rmtree(folder, ignore_errors=True)


def current_generation(root: Path) -> Path:
    """The folder that is current. Raises StoreError when there is none."""
    try:
        name = (root / CURRENT).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as e:
        raise StoreError(f"index {root}: there is none; run voice-agent index") from e
    if not name.startswith(_PREFIX) or Path(name).name != name or not (root / name).is_dir():
        raise StoreError(f"index {root}: its current generation {name!r} is gone; run voice-agent index")
    return root / name


def write_manifest(folder: Path, facts: Mapping[str, Any]) -> None:
    """The facts, with the sha256 of every file of the folder under "files"."""
    files = {path.name: file_sha(path) for path in sorted(folder.iterdir())}
    text = json.dumps({**facts, "files": files}, ensure_ascii=False, indent=1)
    (folder / MANIFEST).write_text(text, encoding="utf-8")


def read_manifest(folder: Path) -> dict[str, Any]:
    """The facts, once every file they name has been found whole. Raises StoreError."""
    try:
        facts = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        changed = [name for name, sha in facts["files"].items() if file_sha(folder / name) != sha]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as e:
        raise StoreError(
            f"index {folder}: its manifest or a file of it is missing ({e}); build it again"
        ) from e
    if changed:
        raise StoreError(f"index {folder}: {changed[0]} is not as it was written; build it again")
    return dict(facts)


def file_sha(path: Path) -> str:
    """sha256 of a file, read in blocks."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
