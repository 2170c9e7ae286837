"""Which passages are about a thing and nothing beside it, told by their titles. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from retrieval.normalize import canonical
from retrieval.terms import terms
from retrieval.types import Cut, Passage

_BESIDE: Final = "(?:和|与|及|或|跟|、|/|以及)"


class Subjects:
    """The titles of a set of passages; rows are in the order given. They are read when first asked for."""

    def __init__(self, passages: Sequence[Passage], cut: Cut = terms) -> None:
        self._passages = passages
        self._cut = cut

    @cached_property
    def _titles(self) -> list[str]:
        read: dict[str, str] = {}
        return [read.setdefault(p.title, canonical(p.title).lower()) for p in self._passages]

    @cached_property
    def _named(self) -> frozenset[str]:
        """Every word of a title: what the passages are about, unlike what is merely said in them."""
        return frozenset(term for title in set(self._titles) for term in self._cut(title))

    def only_about(self, things: Sequence[str], wanted: str = "") -> NDArray[np.bool_]:
        """Rows whose title names one of the things and nothing on the same footing (信用卡和储蓄卡退款).

        A passage that also speaks of what is `wanted` instead is about both. Shape (passages,).
        """
        patterns = [_naming(canonical(thing).lower()) for thing in things if thing.strip()]
        judged = {title: any(_alone(p, title) for p in patterns) for title in set(self._titles)}
        subjects = (set(self._cut(wanted)) - {t for thing in things for t in self._cut(thing)}) & self._named
        rows = np.zeros(len(self._titles), dtype=np.bool_)
        for row, title in enumerate(self._titles):
            rows[row] = judged[title] and not self._speaks_of(row, subjects)
        return rows

    def _speaks_of(self, row: int, subjects: set[str]) -> bool:
        """Does the text name one of the subjects that its title does not?"""
        other = subjects - set(self._cut(self._titles[row])) if subjects else subjects
        return bool(other) and not other.isdisjoint(self._cut(self._passages[row].text))


def _naming(thing: str) -> re.Pattern[str]:
    """The thing as a whole: 48 is not named by 2048, nor s3 by cms3."""
    escaped = re.escape(thing)
    before = r"(?<!\d)" if thing[0].isdigit() else "(?<![a-z])" if thing[0].isascii() else ""
    behind = r"(?!\d)" if thing[-1].isdigit() else "(?![a-z])" if thing[-1].isascii() else ""
    return re.compile(f"{before}{escaped}{behind}")


def _alone(naming: re.Pattern[str], title: str) -> bool:
    """Is it named without a neighbour joined to it?"""
    match = naming.search(title)
    if match is None:
        return False
    joined_behind = re.match(f" ?{_BESIDE}", title[match.end() :])
    joined_before = re.search(f"{_BESIDE} ?$", title[: match.start()])
    return not (joined_behind or joined_before)
