"""Which passages are about a thing and nothing beside it, told by their titles. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from retrieval.normalize import canonical, simplify
from retrieval.terms import terms
from retrieval.types import Cut, Passage

_BESIDE: Final = "(?:和|与|及|或|跟|、|/|以及)"
_WIDE: Final = re.compile("[\uff01-\uff5e]")
_NARROW: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}


class Subjects:
    """The titles of a set of passages; rows are in the order given. They are read when first asked for."""

    def __init__(self, passages: Sequence[Passage], cut: Cut = terms) -> None:
        self._passages = passages
        self._cut = cut

    @cached_property
    def _rows(self) -> dict[str, list[int]]:
        """The rows of each title. Read in one piece: 100,000 small ones take several times as long."""
        titles = _plain("\n".join(" ".join(p.title.split()) for p in self._passages)).split("\n")
        rows: dict[str, list[int]] = {}
        for row in range(len(self._passages)):
            rows.setdefault(titles[row], []).append(row)
        return rows

    def only_about(self, things: Sequence[str], wanted: str = "") -> NDArray[np.bool_]:
        """Rows whose title names one of the things and nothing on the same footing (信用卡和储蓄卡退款).

        A passage that also speaks of what is `wanted` instead is about both. Shape (passages,).
        """
        named = [canonical(thing).lower() for thing in things if thing.strip()]
        subjects = self._subjects(wanted) - {term for thing in named for term in self._cut(thing)}
        about = np.zeros(len(self._passages), dtype=np.bool_)
        for title, rows in self._rows.items():
            if any(_alone(thing, title) for thing in named):
                other = [term for term in subjects if term not in title]
                about[rows] = [not self._speaks_of(row, other) for row in rows]
        return about

    def _subjects(self, wanted: str) -> set[str]:
        """The wanted words that stand in a title: what passages are about, unlike what is merely said in them."""
        words = {term for term in self._cut(wanted) if len(term) > 1}
        return {word for word in words if any(word in title for title in self._rows)}

    def _speaks_of(self, row: int, subjects: Sequence[str]) -> bool:
        text = _plain(self._passages[row].text) if subjects else ""
        return any(subject in text for subject in subjects)


def _plain(text: str) -> str:
    """Narrow, Simplified, in lower case; spoken numbers stay, for reading those takes forty times as long."""
    return simplify(text.translate(_NARROW) if _WIDE.search(text) else text).lower()


@lru_cache(maxsize=64)
def _naming(thing: str) -> re.Pattern[str]:
    """The thing as a whole: 48 is not named by 2048, nor s3 by cms3."""
    escaped = re.escape(thing)
    before = r"(?<!\d)" if thing[0].isdigit() else "(?<![a-z])" if thing[0].isascii() else ""
    behind = r"(?!\d)" if thing[-1].isdigit() else "(?![a-z])" if thing[-1].isascii() else ""
    return re.compile(f"{before}{escaped}{behind}")


def _alone(thing: str, title: str) -> bool:
    """Is it named without a neighbour joined to it?"""
    match = _naming(thing).search(title) if thing in title else None
    if match is None:
        return False
    joined_behind = re.match(f" ?{_BESIDE}", title[match.end() :])
    joined_before = re.search(f"{_BESIDE} ?$", title[: match.start()])
    return not (joined_behind or joined_before)
