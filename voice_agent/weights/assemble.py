"""Parts into finished files: joined, taken out of an npz, or converted; each proved before it may be used."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from voice_agent.errors import WeightsError
from voice_agent.weights.catalogue import TRAINED, ModelFile

CONVERT_LIMIT_S = 900.0
"""A conversion takes seconds; on a crowded machine it may take minutes, never a quarter of an hour."""

_BLOCK = 1 << 20


def sha256_of(path: Path) -> str:
    """Hex sha256 of a file, read in blocks."""
    digest = hashlib.sha256()
    for block in _blocks(path):
        digest.update(block)
    return digest.hexdigest()


def assemble(file: ModelFile, store: Path, folder: Path) -> str:
    """Make one file of a model in `folder` from the parts in `store`; returns its sha256.

    Raises WeightsError when what came out is not what the catalogue knows, or a conversion fails. A part that turns
    out to be spoilt is removed, so that the next pull fetches it again.
    """
    target = folder / file.name
    target.parent.mkdir(parents=True, exist_ok=True)
    sources = [store / part.sha256 for part in file.parts]
    match file.recipe:
        case "join":
            _join(sources, target)
        case "npz_array":
            _take_array(sources[0], file.argument, target)
        case "e5_onnx":
            _prove_parts(file, store)
            _convert("retrieval.e5_onnx", sources, target)
        case "e5_answers":
            _prove_parts(file, store)
            _convert("retrieval.answers_onnx", [*sources, _trained(file.argument)], target)
    made = sha256_of(target)
    if file.sha256 is not None and made != file.sha256:
        target.unlink()
        _prove_parts(file, store)
        raise WeightsError(
            f"{file.name} came out with another sha256 than the one we know: refused and removed"
        )
    return made


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as source:
        while block := source.read(_BLOCK):
            yield block


def _prove_parts(file: ModelFile, store: Path) -> None:
    for part in file.parts:
        path = store / part.sha256
        if sha256_of(path) != part.sha256:
            path.unlink()
            raise WeightsError(
                f"a part of {file.name} was spoilt on disk and is removed: run `voice-agent models pull` again"
            )


def _join(sources: list[Path], target: Path) -> None:
    with target.open("wb") as sink:
        for source in sources:
            sink.writelines(_blocks(source))


def _take_array(source: Path, name: str, target: Path) -> None:
    try:
        with np.load(source, allow_pickle=False) as arrays:
            array = arrays[name]
    except (OSError, ValueError, KeyError) as error:
        raise WeightsError(
            f"no array {name} can be read from the package of {target.name}: {error}"
        ) from error
    target.write_bytes(np.ascontiguousarray(array, "<f4").tobytes())


def _trained(sha256: str) -> Path:
    """The layers trained here, as they were published. Raises WeightsError."""
    path = Path(__file__).resolve().parents[2] / TRAINED
    if not path.is_file() or sha256_of(path) != sha256:
        raise WeightsError(f"{TRAINED} is missing or changed: check the project out again")
    return path


def _convert(module: str, sources: Sequence[Path], target: Path) -> None:
    """In a process of its own: the conversion needs several times the memory that a call has left."""
    command = [sys.executable, "-m", module, *map(str, sources), str(target)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=CONVERT_LIMIT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise WeightsError(
            f"{target.name} took over {CONVERT_LIMIT_S:.0f} s to convert: pull again"
        ) from error
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", errors="replace").strip().splitlines()
        why = lines[-1][:200] if lines else f"exit code {done.returncode}"
        raise WeightsError(f"{target.name} cannot be converted: {why}")
