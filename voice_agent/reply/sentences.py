"""A stream of text cut into whole sentences, each with its citation marks. Pure.

A sentence is released only when what follows its end is known not to belong to it: a closing quote, a bracket, or a
mark such as [S1], which may itself arrive in pieces. Nothing is lost or doubled: the pieces joined are the stream.
"""

from __future__ import annotations

import re

MAX_SENTENCE = 160
"""Characters without an end after which the text is handed over as it is; the check calls it UNCHECKABLE."""

_ENDS = "。！？；…\n!?"
_CLOSERS = "”’」』）】》)]\"'"
_PAIRS = {"《": "》", "“": "”", "（": "）", "「": "」", "『": "』"}
_MARK = re.compile(
    r"[\s,、，;；]*(?:\[[^\[\]]{1,24}\]|【[^【】]{1,24}】|［[^［］]{1,24}］|\([sS]\d[^()]{0,20}\)|（[sSＳ][\d０-９][^（）]{0,20}）)"
)
_PERHAPS_MARK = re.compile(r"[\s,、，;；]*(?:[\[【［(（][^\]】］)）]{0,24})?$")
_NOTHING_MORE = "\uffff"
"""No end, closer or mark: makes known that nothing that follows belongs to the sentence before."""
_NUMBERED_STEM = re.compile(r"^\s*\d{1,2}$")
_STEM_ALONE = re.compile(r"^\s*(?:\d{1,2}[.、)）]|[（(]\d{1,2}[）)]|[一二三四五六七八九十]、|[①-⑳*•-])\s*$")
"""1. or （二） on a line of its own: the stem of what follows."""


class SentenceBuffer:
    """Feed it pieces of any size; it gives back whole sentences in order."""

    def __init__(self) -> None:
        self._text = ""

    def feed(self, piece: str) -> list[str]:
        """The sentences that are now known to be complete."""
        self._text += piece
        return self._release(last=False)

    def finish(self) -> list[str]:
        """The stream ended as it should: the rest, whole sentences and an unended tail alike."""
        sentences = self._release(last=True)
        tail, self._text = self._text, ""
        return [*sentences, tail] if tail.strip() else sentences

    def cut(self) -> list[str]:
        """The stream was broken off: what is whole, its marks included. An unended tail is dropped.

        The last sentence is kept only with a mark, for one may have been on its way.
        """
        sentences = self.feed(_NOTHING_MORE)
        complete = not sentences or bool(_MARK.search(sentences[-1]))
        self._text = ""
        return sentences if complete else sentences[:-1]

    def _release(self, *, last: bool) -> list[str]:
        sentences = []
        while (end := _sentence_end(self._text, last=last)) is not None:
            sentences.append(self._text[:end])
            self._text = self._text[end:]
        return [sentence for sentence in sentences if sentence.strip()]


def _sentence_end(text: str, *, last: bool) -> int | None:
    """Where the first sentence ends, its closers and marks included; None while that is not known."""
    open_until: list[str] = []
    for i, mark in enumerate(text):
        if open_until and mark == open_until[-1]:
            open_until.pop()
        elif mark in _PAIRS:
            open_until.append(_PAIRS[mark])
        elif not open_until and _ends_here(text, i, last=last):
            return _after_marks(text, i + 1, last=last)
        if i + 1 >= MAX_SENTENCE:
            return i + 1
    return None


def _ends_here(text: str, i: int, *, last: bool) -> bool:
    after = text[i + 1 : i + 2]
    if text[i] == "\n":
        return bool(text[:i].strip()) and not _STEM_ALONE.match(text[:i])
    if text[i] in "!?":
        # In a?b=1 it is part of an address; while the next character is not known, neither is that.
        known = bool(after) or last
        return known and not (after.isascii() and after.isalnum()) and bool(text[:i].strip())
    if text[i] in _ENDS:
        return bool(text[:i].strip())
    if text[i] != "." or _NUMBERED_STEM.match(text[:i]):
        return False
    return (after.isspace() or (not after and last)) and bool(text[:i].strip())


def _after_marks(text: str, end: int, *, last: bool) -> int | None:
    while end < len(text) and text[end] in _ENDS + _CLOSERS:
        end += 1
    while (mark := _MARK.match(text, end)) is not None:
        end = mark.end()
    if not last and _PERHAPS_MARK.match(text, end):
        return None
    return end
