"""What the person who takes over is given, and where it is delivered."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Withheld:
    """A sentence that was not spoken, and the verdict's reason."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class HandoffPacket:
    """The call so far, for a human. `question` is what the recogniser wrote, `evidence` the passages looked at."""

    call: str
    turn: int
    reason: str
    question: str
    detail: str = ""
    evidence: tuple[tuple[str, str], ...] = ()
    withheld: Withheld | None = None
    history: tuple[tuple[str, str], ...] = ()
    added: tuple[str, ...] = field(default=())

    def with_words(self, text: str) -> HandoffPacket:
        """The same packet with what the caller said while being handed over."""
        return replace(self, added=(*self.added, text))


class HandoffSink(Protocol):
    """Where packets go. Delivering the same call again replaces the earlier packet."""

    def deliver(self, packet: HandoffPacket) -> str:
        """Returns where it went, for the journal. Raises OSError when it could not be delivered."""
        ...


class FileHandoffSink:
    """One JSON file a call, masked like everything that reaches the disk, replaced as a whole."""

    def __init__(self, folder: Path, mask: Callable[[str], str]) -> None:
        self._folder = folder
        self._mask = mask

    def deliver(self, packet: HandoffPacket) -> str:
        self._folder.mkdir(parents=True, exist_ok=True)
        target = self._folder / f"{packet.call}.json"
        beside = target.with_suffix(".tmp")
        beside.write_text(
            json.dumps(_masked(asdict(packet), self._mask), ensure_ascii=False, indent=1), "utf-8"
        )
        os.replace(beside, target)
        return str(target)


def _masked(value: object, mask: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, list | tuple):
        return [_masked(part, mask) for part in value]
    if isinstance(value, dict):
        return {key: _masked(part, mask) for key, part in value.items()}
    return value
