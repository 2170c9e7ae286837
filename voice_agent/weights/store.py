"""The models on this machine, each in `<home>/<model>/` with its manifest: which are ready, and where."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import platformdirs

from voice_agent.errors import WeightsError
from voice_agent.weights import manifest
from voice_agent.weights.assemble import sha256_of
from voice_agent.weights.catalogue import CATALOGUE, Model, ModelFile, fingerprint
from voice_agent.weights.manifest import Manifest

State = Literal["ready", "spare", "missing", "damaged"]
"""`spare`: usable, with the stand-in for what npm would have brought. `damaged`: there, but not to be used."""


@dataclass(frozen=True, slots=True)
class Status:
    """How one model stands. `size` is bytes when finished; `note` says what is wrong or lacking, and what to do."""

    model: str
    state: State
    path: Path
    size: int
    licence: str
    note: str = ""

    @property
    def usable(self) -> bool:
        return self.state in ("ready", "spare")


def model_home() -> Path:
    """$VOICE_AGENT_HOME/models, else `voice-agent/models` in the user's cache directory. Need not exist."""
    home = os.environ.get("VOICE_AGENT_HOME")
    return (Path(home).expanduser() if home else platformdirs.user_cache_path("voice-agent")) / "models"


def named(name: str, catalogue: Sequence[Model] = CATALOGUE) -> Model:
    """Raises WeightsError for a name the catalogue does not know."""
    for model in catalogue:
        if model.name == name:
            return model
    raise WeightsError(
        f"there is no embedded model {name!r}: known are {', '.join(m.name for m in catalogue)}"
    )


def require(name: str, home: Path | None = None, catalogue: Sequence[Model] = CATALOGUE) -> Path:
    """The folder of a ready model. Cheap: sizes and times, unless the folder was copied here. Raises WeightsError."""
    found = status(named(name, catalogue), home)
    if not found.usable:
        raise WeightsError(f"model {name} is {found.state} in {found.path}: {found.note}")
    return found.path


def status(model: Model, home: Path | None = None) -> Status:
    """How a model stands, by the cheap check."""
    return _examine(model, (home or model_home()) / model.name, thorough=False)


def verify(models: Sequence[Model] = CATALOGUE, home: Path | None = None) -> list[Status]:
    """How each model stands, every byte hashed."""
    return [_examine(model, (home or model_home()) / model.name, thorough=True) for model in models]


def intact(file: ModelFile, folder: Path) -> bool:
    """Whether a file is there with the hash the catalogue knows. A converted file has none: never."""
    path = folder / file.name
    if file.sha256 is None or not path.is_file() or path.stat().st_size != file.size:
        return False
    return sha256_of(path) == file.sha256


def record(files: Sequence[ModelFile], folder: Path, made: Mapping[str, str]) -> Manifest:
    """Write the manifest of files just proved; `made` has the hashes the catalogue does not know."""
    stamps = {f.name: manifest.stamp(folder / f.name, made.get(f.name) or f.sha256 or "") for f in files}
    written = Manifest(fingerprint(tuple(files)), stamps)
    with suppress(OSError):  # a folder shared read-only is proved anew at each start instead
        manifest.write(folder, written)
    return written


def _examine(model: Model, folder: Path, *, thorough: bool) -> Status:
    def found(state: State, note: str = "") -> Status:
        return Status(model.name, state, folder, model.size, model.licence, note)

    mend = f"run `voice-agent models pull {model.name}`"
    if not folder.is_dir():
        return found("missing", mend)
    written = manifest.read(folder) or _adopt(model, folder)
    if written is None:
        return found("damaged", f"no manifest vouches for its files: {mend}")
    spare = _vouches(written, model.spare_files)
    if not spare and not _vouches(written, model.files):
        return found("damaged", f"made for another version of the catalogue: {mend}")
    if thorough or not manifest.unchanged(folder, written):
        bad = manifest.spoilt(folder, written)
        if bad:
            return found("damaged", f"{', '.join(bad)}: missing or changed; {mend}")
        _restamp(folder, written)
    return found("spare", model.spare_note) if spare else found("ready")


def _vouches(written: Manifest, files: tuple[ModelFile, ...]) -> bool:
    """Whether a manifest is of just these files, with the hashes the catalogue knows."""
    stamps = {file.name: written.files.get(file.name) for file in files}
    return (
        bool(files)
        and written.fingerprint == fingerprint(files)
        and stamps.keys() == written.files.keys()
        and all(f.sha256 is None or f.sha256 == written.files[f.name].sha256 for f in files)
    )


def _adopt(model: Model, folder: Path) -> Manifest | None:
    """A manifest for files that were put here by hand, if the catalogue alone can vouch for every one of them."""
    for files in (model.files, model.spare_files):
        if files and all(intact(file, folder) for file in files):
            return record(files, folder, {})
    return None


def _restamp(folder: Path, written: Manifest) -> None:
    stamps = {name: manifest.stamp(folder / name, known.sha256) for name, known in written.files.items()}
    if stamps != dict(written.files):
        with suppress(OSError):  # as above
            manifest.write(folder, Manifest(written.fingerprint, stamps))
