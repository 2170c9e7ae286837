"""One canonical text: width, case and blanks folded with a map back to the original; queries without filler words.

Not NFKC: ① ½ ㎡ 【】 and the Chinese marks ，。：；？！（） stay what they are, for they mean something else folded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from retrieval.numbers import written
from retrieval.spelled import joined

_KEPT: Final = "，：；？！（）"
"""Wide marks that end or bracket a clause. A folded ， between digits would make 2，300元 one number."""

_WIDE: Final = {chr(c): chr(c - 0xFEE0) for c in range(0xFF01, 0xFF5F) if chr(c) not in _KEPT}
_TABLE: Final = _WIDE | {
    "￥": "¥",
    "￡": "£",
    "〜": "~",
    "‐": "-",
    "‑": "-",
    "‒": "-",
    "–": "-",
    "−": "-",
    "﹣": "-",
}
_BREAKS: Final = "\n\r\v\f\u0085\u2028\u2029"
_INVISIBLE: Final = frozenset("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff")
_HALVES: Final = "\ud800-\udfff"
_HALF: Final = re.compile(f"[{_HALVES}]")
"""Half a character: no UTF-8 text holds one and no model reads one, but a JSON escape can bring one in."""

_TO_FOLD: Final = re.compile(
    f"[{re.escape(''.join(_TABLE) + ''.join(_INVISIBLE))}：\\s\x1c-\x1f\x85{_HALVES}]"
)
"""A text without any of these is only put in lower case."""


@dataclass(frozen=True, slots=True)
class Normalized:
    """A folded text. `offsets[i]` is the index in the original of the character that gave `text[i]`."""

    text: str
    offsets: tuple[int, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where text[start:end] stood in the original, as a half-open span; (0, 0) for an empty one."""
        return (self.offsets[start], self.offsets[end - 1] + 1) if start < end else (0, 0)


def normalize(text: str, *, lower: bool = True) -> Normalized:
    """Folds width, invisible characters, runs of blanks and (unless told not to) the case of letters.

    A run of blanks is one blank, or one line break if it holds one: nothing is joined over the end of a line.
    """
    plain = text.lower() if lower else text
    if len(plain) == len(text) and not _TO_FOLD.search(text):
        return Normalized(plain, tuple(range(len(text))))
    out: list[str] = []
    offsets: list[int] = []
    for i, char in enumerate(text):
        for folded in _fold(text, i, char, lower):
            if folded in " \n" and (not out or out[-1] in " \n"):
                if out and folded == "\n":
                    out[-1] = folded
                continue
            out.append(folded)
            offsets.append(i)
    if out and out[-1] in " \n":
        out.pop()
        offsets.pop()
    return Normalized("".join(out), tuple(offsets))


def _fold(text: str, i: int, char: str, lower: bool) -> str:
    if char in _INVISIBLE or _HALF.match(char):
        return ""
    if char.isspace():
        return "\n" if char in _BREAKS else " "
    if char == "：" and _digit(text, i - 1) and _digit(text, i + 1):
        return ":"
    folded = _TABLE.get(char, char)
    return folded.lower() if lower else folded


def _digit(text: str, i: int) -> bool:
    return 0 <= i < len(text) and _WIDE.get(text[i], text[i]) in "0123456789"


def whole(text: str) -> str:
    """The text without halves of characters; every other character as it was."""
    return _HALF.sub("", text)


@lru_cache(maxsize=1)
def _converter() -> Callable[[str], str]:
    from opencc import OpenCC

    convert: Callable[[str], str] = OpenCC("t2s").convert
    return convert


def simplify(text: str) -> str:
    """Traditional to Simplified, for comparing only: what is shown or spoken keeps its own script."""
    return _converter()(text)


@lru_cache(maxsize=8192)
def canonical(text: str) -> str:
    """What two texts are compared by: folded width, Simplified, spoken numbers and codes written. Case is kept."""
    folded = normalize(text, lower=False).text
    return written(joined(simplify(folded))) if folded else ""


_LEAD: Final = re.compile(
    r"(?:嗯+|呃+|额+(?![度外头满])|啊+|哦+|噢+|唉+|哎呀?|诶|喂+|哈喽|[您你]好啊?|客服(?=$|[您你]好)|那个|这个那个|就是说"
    r"|就是(?=嗯|呃|那个|我?想)|是这样的|然后呢?|那么|打扰一?下|打扰了|麻烦问一?下|请问(?:一?下)?(?:[您你])?"
    r"|(?:请教|咨询|打听)一?下(?:[您你])?"
    r"|我?就?想要?再?(?:请?问|了解|请教|咨询|打听)(?:一?下|下子|问)?(?:[您你])?(?:的是)?|我问一?下(?:[您你])?)"
)
_TRAIL: Final = re.compile(r"(?:[嗯呃啊呀哦噢哈]+|谢谢(?:您|你|啊)?|谢了|就是说|那个)$")
_CLAUSE: Final = re.compile(r"([，。！？；、,!?;…\s]+)")


def clean_query(text: str) -> str:
    """A caller's words ready for search: greetings and fillers off the edges of clauses, numbers and codes written.

    Nothing inside a clause is touched and no negation, figure or code is ever dropped. Empty if nothing was asked.
    """
    pieces = _CLAUSE.split(simplify(normalize(text, lower=False).text))
    kept: list[str] = []
    for clause, mark in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
        content = _without_fillers(clause)
        if content:
            kept += (content, mark.replace("\n", " "))
    return written(joined("".join(kept).strip("，。！？；、,!?;… ")))


def _without_fillers(clause: str) -> str:
    for pattern in (_LEAD, _TRAIL):
        while match := (pattern.match(clause) if pattern is _LEAD else pattern.search(clause)):
            clause = clause[: match.start()] + clause[match.end() :]
    return clause
