"""Who writes an answer: the Protocol of a generator, and what may come out of its stream besides text."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from retrieval.types import Evidence


@dataclass(frozen=True, slots=True)
class Note:
    """A fact for the journal: `kind` is one of its events, `data` the event's fields."""

    kind: str
    data: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Void:
    """The text so far was no answer (thinking that turned out to be such only at its end) and is taken back."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The text broke off at a length limit: what follows the last whole sentence is no sentence."""


Piece = str | Note | Void | Cut


class Generator(Protocol):
    """Writes an answer from evidence, with a citation mark in every sentence."""

    @property
    def id(self) -> str:
        """What writes, for the journal."""
        ...

    def stream(self, question: str, evidence: Mapping[str, Evidence]) -> AsyncGenerator[Piece, None]:
        """Pieces of text of any size, and facts about it. Raises LlmError."""
        ...


class Tell(Protocol):
    """Takes the facts of an answer under way as they happen, for the journal."""

    def __call__(self, kind: str, **data: object) -> None: ...


def silent(kind: str, **data: object) -> None:
    """For answers outside a call: there is no journal."""
