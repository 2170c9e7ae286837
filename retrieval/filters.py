"""Which passages may be found at all, decided before ranking, and which found ones merely repeat another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

import numpy as np
from numpy.typing import NDArray

from retrieval.types import Evidence, Passage

OpenRows = NDArray[np.bool_]
"""Shape (passages,): True where a passage may be found."""


class Filters:
    """Date, tag and version filters over one set of passages; rows are in the order given."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._from = np.array([_ordinal(p.valid_from, date.min) for p in passages], dtype=np.int32)
        self._to = np.array([_ordinal(p.valid_to, date.max) for p in passages], dtype=np.int32)
        self._tags = _rows_by((row, tag) for row, p in enumerate(passages) for tag in p.tags)
        self._versions = _rows_by((row, p.version) for row, p in enumerate(passages))

    def open_rows(self, as_of: date, tags: Iterable[str] = (), version: str | None = None) -> OpenRows:
        """Rows valid on `as_of` (both ends inclusive) that carry every tag and, if given, this exact version."""
        day = as_of.toordinal()
        rows: OpenRows = (self._from <= day) & (day <= self._to)
        for tag in frozenset(tags):
            rows &= _only(self._tags.get(tag), len(rows))
        if version is not None:
            rows &= _only(self._versions.get(version), len(rows))
        return rows


def _rows_by(pairs: Iterable[tuple[int, str]]) -> dict[str, NDArray[np.int32]]:
    """The rows of each name, so that a filter costs its own rows and not a look at every passage."""
    rows: dict[str, list[int]] = {}
    for row, name in pairs:
        rows.setdefault(name, []).append(row)
    return {name: np.array(own, dtype=np.int32) for name, own in rows.items()}


def _only(rows: NDArray[np.int32] | None, size: int) -> OpenRows:
    mask = np.zeros(size, dtype=np.bool_)
    if rows is not None:
        mask[rows] = True
    return mask


def _ordinal(day: date | None, otherwise: date) -> int:
    return (otherwise if day is None else day).toordinal()


def collapse(evidence: Iterable[Evidence], limit: int) -> tuple[Evidence, ...]:
    """The first `limit` of what remains when a passage whose text stands whole in a better one is left out.

    Overlapping chunks and re-ingested copies would otherwise fill the list. Equal texts under different titles are
    different facts ("X100" and "X200" may share a sentence) and both stay; so does a longer copy ranked below a
    shorter one, for what it adds may be the exception.
    """
    kept: list[Evidence] = []
    for candidate in evidence:
        if len(kept) >= limit:
            break
        if not any(_repeats(candidate.passage, other.passage) for other in kept):
            kept.append(candidate)
    return tuple(kept)


def _repeats(one: Passage, other: Passage) -> bool:
    if one.title != other.title:
        return False
    return "".join(one.text.split()) in "".join(other.text.split())
