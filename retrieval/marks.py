"""Citation marks in every form a model writes them. Pure; the one parser for buffer, check and stripper.

Read as marks: [S1] 【S1】 ［Ｓ１］ (S1) [S1,S2] [S1-S3] [S1][S2], and S1、S2 bare behind the end of a sentence.
Seen but not understood, so that the check can block: [1], 【6†title】, [ID:0], ID 1, Document 2, a range over four.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

MAX_IDS: Final = 4
"""Passages one mark may name; no honest short sentence needs more."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark at [start, end) of the text. `ids` are canonical (S1), and empty if it cannot be read as citing."""

    ids: tuple[str, ...]
    start: int
    end: int

    @property
    def bad(self) -> bool:
        return not self.ids


_ASCII: Final = {c: c - 0xFEE0 for c in range(0xFF01, 0xFF5F)} | {
    ord("\u3000"): " ",
    **{ord(wide): narrow for wide, narrow in zip("【】〔〕、；–—−至到", "[][],,-----", strict=True)},
}
"""One character for one, so that positions stay."""

_ID: Final = r"[Ss] ?\d{1,4}"
_LINK: Final = r"(?: ?[,;/&~-] ?| )"
_LIST: Final = rf"{_ID}(?:{_LINK}(?:{_ID}|\d{{1,4}}(?!\d))|(?: ?and ?| ?和 ?){_ID}){{0,8}}"
_CITED: Final = re.compile(rf"\[ ?\^? ?(?P<square>{_LIST}) ?\]|\( ?(?P<round>{_LIST}) ?\)")
_BARE: Final = re.compile(
    rf"(?:(?<=[。！？…!?])|(?<=[。！？][”’」』）)])|(?<=\]))[ \n]?(?P<bare>{_LIST})(?![A-Za-z0-9_\-])"
)
_BAD: Final = re.compile(
    r"\[ ?\^? ?\d{1,4}(?:[,\- ]{1,3}\d{1,4}){0,8} ?(?:†[^\[\]\n]{0,80})?\]"
    r"|\[ ?(?:id|ref|doc|docs|document|source|passage|citation|s|来源|文档|资料|参考|引用|出处)\b ?[^\[\]\n]{0,40}\]"
    r"|\[ ?(?:来源|文档|资料|参考|引用|出处)[^\[\]\n]{0,40}\]"
    r"|\[ ?[Ss] ?\d[^\[\]\n]{0,40}\]?"
    r"|(?<![A-Za-z0-9_])(?:ID|Document|Doc|Source|Passage|Ref) ?[:#]? ?\d{1,4}(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_PIECE: Final = re.compile(r"(?P<range>[~-])? ?[Ss]? ?(?P<number>\d{1,4})")


def find_marks(text: str, taken: Collection[str] = ()) -> list[Mark]:
    """All marks, left to right, never overlapping.

    `taken` are ids in lower case that name something in the passages (a phone called S1): bare, they are no marks.
    """
    ascii_text = text.translate(_ASCII)
    marks = [_mark(m, m["square"] or m["round"]) for m in _CITED.finditer(ascii_text)]
    marks += [m for m in _bare(ascii_text, taken) if not _overlaps(m, marks)]
    marks += [
        Mark((), *m.span()) for m in _BAD.finditer(ascii_text) if not _overlaps(Mark((), *m.span()), marks)
    ]
    return sorted(marks, key=lambda mark: mark.start)


def strip_marks(text: str, taken: Collection[str] = ()) -> str:
    """The text as it may be spoken: without the marks that were understood, and the blanks before them.

    A mark that was not understood stays, for it may be part of the text; the check has blocked it if it is not.
    """
    for mark in reversed(find_marks(text, taken)):
        if not mark.bad:
            text = text[: mark.start].rstrip(" \u3000") + text[mark.end :]
    return text


def _bare(ascii_text: str, taken: Collection[str]) -> list[Mark]:
    found = []
    for match in _BARE.finditer(ascii_text):
        mark = _mark(match, match["bare"], match.start("bare"))
        if not {ident.lower() for ident in mark.ids} & set(taken):
            found.append(mark)
    return found


def _mark(match: re.Match[str], inner: str, start: int | None = None) -> Mark:
    return Mark(_ids(inner), match.start() if start is None else start, match.end())


def _ids(inner: str) -> tuple[str, ...]:
    """S1-S3 -> S1 S2 S3; nothing at all if a range runs backwards or too many are named."""
    numbers: list[int] = []
    for piece in _PIECE.finditer(inner):
        number = int(piece["number"])
        if piece["range"] and numbers:
            if not 0 < number - numbers[-1] < MAX_IDS:
                return ()
            numbers.extend(range(numbers[-1] + 1, number + 1))
        else:
            numbers.append(number)
    ids = tuple(dict.fromkeys(f"S{number}" for number in numbers))
    return ids if len(ids) <= MAX_IDS else ()


def _overlaps(mark: Mark, others: Collection[Mark]) -> bool:
    return any(mark.start < other.end and other.start < mark.end for other in others)
