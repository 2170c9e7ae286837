"""Conditions over one set of passages: which rows are open, and which conditions had to be lifted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

import numpy as np
from numpy.typing import NDArray

from retrieval.conditions import Conditions, lifted
from retrieval.filters import Filters, OpenRows
from retrieval.periods import title_years
from retrieval.subjects import Subjects
from retrieval.terms import terms
from retrieval.types import Cut, Passage


@dataclass(frozen=True, slots=True)
class Opened:
    """The open rows, the conditions that hold in them, and the names of those that had to be lifted."""

    rows: OpenRows
    conditions: Conditions
    lifted: tuple[str, ...] = ()


class Narrowing:
    """Applies conditions before anything is ranked. Rows are in the order of the passages."""

    def __init__(self, passages: Sequence[Passage], filters: Filters, cut: Cut = terms) -> None:
        self.versions = frozenset(p.version for p in passages if p.version)
        self._passages = passages
        self._filters = filters
        self._subjects = Subjects(passages, cut)
        self._from = np.array([_ordinal(p.valid_from, date.min) for p in passages], dtype=np.int32)
        self._to = np.array([_ordinal(p.valid_to, date.max) for p in passages], dtype=np.int32)
        years = [title_years(p.title) or (date.min.year, date.max.year) for p in passages]
        self._years: NDArray[np.int32] = np.array(years, dtype=np.int32).reshape(len(years), 2)

    def open(self, conditions: Conditions, as_of: date) -> Opened:
        """The rows that meet every condition; when none does, what was only heard is lifted.

        Then the question is searched for as on `as_of`, its own day. What a program has set is never lifted.
        """
        rows = self._rows(conditions)
        if rows.any() or not conditions.heard:
            return Opened(rows, conditions)
        return self._lifted(conditions, as_of)

    def wider(self, opened: Opened, as_of: date) -> Opened | None:
        """Without the heard day, period and edition, but still without the things not meant; None if none was heard.

        What that finds first tells whether the subject has a passage of the asked time at all.
        """
        heard = tuple(name for name in opened.conditions.heard if name != "without")
        return self._lifted(replace(opened.conditions, heard=heard), as_of) if heard else None

    def _lifted(self, conditions: Conditions, as_of: date) -> Opened:
        wider = lifted(conditions, as_of)
        return Opened(self._rows(wider), wider, conditions.heard)

    def _rows(self, conditions: Conditions) -> OpenRows:
        rows = self._earlier(conditions) if conditions.previous else self._holding(conditions)
        if conditions.since is not None or conditions.until is not None:
            rows = rows & self._inside(conditions)
        if conditions.without:
            rows = rows & ~self._subjects.only_about(conditions.without, conditions.wanted)
        return rows

    def _holding(self, conditions: Conditions) -> OpenRows:
        """Valid on the day, with the tags and of the version. One heard in words leaves open what has no version."""
        day, tags, version = conditions.as_of, conditions.tags, conditions.version
        rows = self._filters.open_rows(day, tags, version)
        return rows | self._filters.open_rows(day, tags, "") if "version" in conditions.heard else rows

    def _earlier(self, conditions: Conditions) -> OpenRows:
        """Of each title that holds today the edition before: what ended last, before the day."""
        day = conditions.as_of.toordinal()
        present = (self._from <= day) & (day <= self._to)
        titles = {self._passages[row].title for row in np.flatnonzero(present).tolist()} - {""}
        ended: dict[str, int] = {}
        past = [row for row in np.flatnonzero(self._to < day).tolist() if self._passages[row].title in titles]
        for row in past:
            title = self._passages[row].title
            ended[title] = max(ended.get(title, 0), int(self._to[row]))
        rows = np.zeros(len(self._passages), dtype=np.bool_)
        for row in past:
            passage = self._passages[row]
            of_version = conditions.version in (None, passage.version)
            rows[row] = (
                ended[passage.title] == self._to[row] and of_version and {*conditions.tags} <= {*passage.tags}
            )
        return rows

    def _inside(self, conditions: Conditions) -> OpenRows:
        """Not known to be of another time: neither by the years in the title nor by the days on which it holds.

        An open end does not limit; a passage without a beginning is taken to have begun at any time.
        """
        since, until = conditions.since or date.min, conditions.until or date.max
        rows: OpenRows = (self._years[:, 1] >= since.year) & (self._years[:, 0] <= until.year)
        first, last = since.toordinal(), until.toordinal()
        if conditions.effective:
            undated = self._from == date.min.toordinal()
            rows &= undated | ((first <= self._from) & (self._from <= last))
            return rows
        rows &= (self._to >= first) & (self._from <= last)
        return rows


_EDITION: Final = re.compile(
    r"(?:19|20)\d\d(?: ?[年度版]|[-~到至])*|v? ?\d+(?:\.\d+)+ ?版?本?", re.IGNORECASE
)


def same_subject(one: Passage, other: Passage) -> bool:
    """Whether two passages can be editions of one: the same title but for years and versions, or the same passage."""
    titles = [_EDITION.sub("", passage.title).strip() for passage in (one, other)]
    return one.id == other.id or (titles[0] == titles[1] != "")


def _ordinal(day: date | None, otherwise: date) -> int:
    return (otherwise if day is None else day).toordinal()
