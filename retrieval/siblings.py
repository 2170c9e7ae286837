"""Passages whose titles differ in one name only, and whether a question says which of them it means.

满200元优惠券 and 满500元优惠券 are siblings, 美国漫游日包 and 日本漫游日包 too. Whoever asks about 满1000的券 or
韩国的日包 finds one of them nearest, and it is the wrong one, however near. So a passage with siblings should be named
by what sets it apart. A hint to the gate, which weighs it: 去东京 means the Japanese one and does not say so.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from os.path import commonprefix
from typing import Final

from retrieval.normalize import canonical
from retrieval.types import Passage, PassageId

_SIGN: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]*")
"""A number or a code: what sets 300M and 500M apart, or RTX-4080 and RTX-4090."""

_EDITION: Final = re.compile(r"[（(].*|20\d\d年.*")

TAIL = 3
"""Characters that two titles must end with alike: 保修期, 漫游日包. With two, half of all titles would be siblings."""


class Siblings:
    """The names that set each passage apart from those like it."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        titles = {p.id: _subject(p.title) for p in passages}
        ids: dict[str, list[PassageId]] = defaultdict(list)
        for one, title in titles.items():
            ids[title].append(one)
        self._names: Mapping[PassageId, frozenset[str]] = {
            one: frozenset(names)
            for title, names in _apart(sorted(set(titles.values()) - {""})).items()
            for one in ids[title]
        }

    def names(self, passage: PassageId) -> frozenset[str]:
        """What sets it apart; empty for a passage without siblings."""
        return self._names.get(passage, frozenset())

    def named(self, passage: PassageId, words: str) -> bool:
        """Whether these canonical words say that they mean this passage and none like it.

        A code or its numbers must stand in them whole; of a word of three characters or more, two in a row do.
        """
        names = self.names(passage)
        return not names or any(_said(name, words) for name in names)


def _subject(title: str) -> str:
    """The last heading, without its edition."""
    return _EDITION.sub("", canonical(title.rsplit(" > ", 1)[-1])).strip()


def _apart(titles: Sequence[str]) -> Mapping[str, set[str]]:
    names: dict[str, set[str]] = defaultdict(set)
    for title, name in (*_by_sign(titles), *_by_head(titles)):
        names[title].add(name)
    return names


def _by_sign(titles: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Titles alike but for one number or code, with theirs."""
    frames: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for title in titles:
        for found in _SIGN.finditer(title):
            frames[f"{title[: found.start()]}\0{title[found.end() :]}"].append((title, found.group()))
    yield from (row for alike in frames.values() if len(alike) > 1 for row in alike)


def _by_head(titles: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Titles with a common end and different beginnings, with what stands before the longest end they share."""
    backwards = sorted(title[::-1] for title in titles)
    for one, other in pairwise(backwards):
        shared = len(commonprefix((one, other)))
        for title in (one[::-1], other[::-1]):
            head = title[: len(title) - shared]
            if head and shared >= max(TAIL, len(head)) and not _SIGN.search(head):
                yield title, head


def _said(name: str, words: str) -> bool:
    if _SIGN.fullmatch(name):
        numbers = re.findall(r"\d{2,}", name)
        return all(_stands(n, words) for n in numbers) if numbers else name.lower() in words.lower()
    if len(name) < TAIL:
        return name in words
    return any(name[at : at + 2] in words for at in range(len(name) - 1))


def _stands(number: str, words: str) -> bool:
    """Whether the number stands in the words as itself and not within a longer one."""
    return bool(re.search(rf"(?<!\d){number}(?!\d)", words))
