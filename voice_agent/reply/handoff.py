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


@dataclass(frozen=True, slots=True)
class Delivery:
    """Where a packet went. Not `taken`: nobody has it yet, but it is kept and will be sent; `detail` says why."""

    taken: bool
    where: str
    detail: str = ""


class HandoffSink(Protocol):
    """Where packets go. Delivering the same call again replaces the earlier packet."""

    def deliver(self, packet: HandoffPacket) -> Delivery:
        """Blocking, within the sink's own limits. Raises OSError when the packet is neither delivered nor kept."""
        ...


class FileHandoffSink:
    """One JSON file a call, masked like everything that reaches the disk, replaced as a whole."""

    def __init__(self, folder: Path, mask: Callable[[str], str]) -> None:
        self._folder = folder
        self._mask = mask

    def deliver(self, packet: HandoffPacket) -> Delivery:
        """The folder is what people look into: a file in it is taken."""
        self._folder.mkdir(parents=True, exist_ok=True)
        target = self._folder / f"{packet.call}.json"
        beside = target.with_suffix(".tmp")
        beside.write_text(json.dumps(masked(packet, self._mask), ensure_ascii=False, indent=1), "utf-8")
        os.replace(beside, target)
        return Delivery(True, str(target))


def masked(packet: HandoffPacket, mask: Callable[[str], str]) -> dict[str, object]:
    """The packet as JSON values, every text of it masked."""
    return {key: _masked(value, mask) for key, value in asdict(packet).items()}


def _masked(value: object, mask: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, list | tuple):
        return [_masked(part, mask) for part in value]
    if isinstance(value, dict):
        return {key: _masked(part, mask) for key, part in value.items()}
    return value
