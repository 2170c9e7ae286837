"""Packets that nobody has taken yet: one file each, until they are sent or refused for good."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MAX_FILES = 1000
"""Bound of the folder. So many undelivered calls mean that nobody looks, and a full disk would stop the journals."""

_OWNER_ONLY = 0o600


@dataclass(frozen=True, slots=True)
class Spooled:
    """A packet in the spool: its key (the call's id) and the JSON text that is sent."""

    key: str
    body: bytes


class Spool:
    """`folder/<call>.json`. Packets that the receiver will never take are moved to `folder/refused`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, packet: Spooled) -> None:
        """On the disk when this returns; replaces the earlier packet of the call. Raises OSError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        target = self._path(packet.key)
        if not target.exists() and sum(1 for _ in self.folder.glob("*.json")) >= MAX_FILES:
            raise OSError(f"{self.folder}: {MAX_FILES} packets wait here undelivered; see why and clear it")
        beside = target.with_suffix(".tmp")
        with open(beside, "wb", opener=_open_private) as file:
            file.write(packet.body)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)

    def waiting(self) -> Iterator[Spooled]:
        """The packets that wait, oldest first; what cannot be read is passed over. Raises OSError."""
        for path in sorted(self.folder.glob("*.json"), key=_age):
            try:
                yield Spooled(path.stem, path.read_bytes())
            except FileNotFoundError:  # sent meanwhile by another process
                continue

    def drop(self, key: str) -> None:
        """It was taken."""
        self._path(key).unlink(missing_ok=True)

    def refuse(self, key: str) -> None:
        """The receiver will not take it as it is: kept aside for a person. Raises OSError."""
        aside = self.folder / "refused"
        aside.mkdir(parents=True, exist_ok=True)
        os.replace(self._path(key), aside / f"{key}.json")

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.json"


def _age(path: Path) -> tuple[float, str]:
    try:
        return path.stat().st_mtime, path.name
    except FileNotFoundError:
        return 0.0, path.name


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, _OWNER_ONLY)
