"""What was put on disk for a model: every file's size, time and sha256, in `manifest.json` beside the files.

The times make the check at start cheap: a file whose size and time are those of the manifest is the file that was
hashed. A copied folder has other times, and is hashed once more.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from voice_agent.weights.assemble import sha256_of

NAME = "manifest.json"
_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Stamp:
    """One file as it was when hashed."""

    size: int
    mtime_ns: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The files of one model folder, by name; `fingerprint` says which description of the catalogue made them."""

    fingerprint: str
    files: Mapping[str, Stamp]


def stamp(path: Path, sha256: str) -> Stamp:
    """The stamp of a file whose hash is known."""
    facts = path.stat()
    return Stamp(facts.st_size, facts.st_mtime_ns, sha256)


def read(folder: Path) -> Manifest | None:
    """None when there is no manifest that can be understood; then the folder proves nothing."""
    try:
        raw = json.loads((folder / NAME).read_text("utf-8"))
        if raw["schema"] != _SCHEMA:
            return None
        return Manifest(
            str(raw["fingerprint"]), {str(name): Stamp(**facts) for name, facts in raw["files"].items()}
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def write(folder: Path, manifest: Manifest) -> None:
    """Whole or not at all."""
    text = json.dumps({"schema": _SCHEMA, **asdict(manifest)}, indent=2, sort_keys=True)
    loose = folder / f"{NAME}.{os.getpid()}"
    loose.write_text(text + "\n", "utf-8")
    os.replace(loose, folder / NAME)


def unchanged(folder: Path, manifest: Manifest) -> bool:
    """Every file is there with the size and time of its stamp. Reads no contents."""
    return all(_same(folder / name, known) for name, known in manifest.files.items())


def spoilt(folder: Path, manifest: Manifest) -> list[str]:
    """Names of the files that are missing or whose contents are not those of the stamp. Reads everything."""
    return [
        name
        for name, known in manifest.files.items()
        if not (folder / name).is_file() or sha256_of(folder / name) != known.sha256
    ]


def _same(path: Path, known: Stamp) -> bool:
    try:
        facts = path.stat()
    except OSError:
        return False
    return facts.st_size == known.size and facts.st_mtime_ns == known.mtime_ns
