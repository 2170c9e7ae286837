"""What a search is limited to before anything is ranked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class Conditions:
    """Only passages valid on `as_of` that carry every tag and, if given, this exact version."""

    as_of: date
    tags: tuple[str, ...] = ()
    version: str | None = None
