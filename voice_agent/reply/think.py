"""Takes a model's thinking out of its stream. Pure; tags may be split over pieces or never be closed.

Thinking is never checked and never spoken. What follows a tag that is not closed is thinking to the end. A closing tag
without an opening one (some servers put the opening tag into the prompt) makes everything before it thinking.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_TAG: Final = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)\s{0,8}>", re.IGNORECASE)
_PERHAPS_TAG: Final = re.compile(r"<(?:/?[a-z]{0,9}\s{0,8})?$", re.IGNORECASE)
"""The beginning of what may become a tag; anything else is let through at once."""


@dataclass(frozen=True, slots=True)
class Filtered:
    """What is left of a piece. `void`: all text given out before was thinking, and `text` begins anew."""

    text: str = ""
    void: bool = False


class ThinkFilter:
    """Feed it pieces of any size, in order; one object an answer."""

    def __init__(self) -> None:
        self._held = ""
        self._depth = 0

    def feed(self, piece: str) -> Filtered:
        """The part of the text that is certainly no thinking.

        >>> ThinkFilter().feed("<think>嗯</think>三天。")
        Filtered(text='三天。', void=False)
        """
        text, self._held = self._held + piece, ""
        kept: list[str] = []
        void, at = False, 0
        for tag in _TAG.finditer(text):
            if not self._depth:
                kept.append(text[at : tag.start()])
            at = tag.end()
            if not tag[1]:
                self._depth += 1
            elif self._depth:
                self._depth -= 1
            else:
                kept, void = [], True
        rest = text[at:]
        if (begun := _PERHAPS_TAG.search(rest)) is not None:
            rest, self._held = rest[: begun.start()], rest[begun.start() :]
        if not self._depth:
            kept.append(rest)
        return Filtered("".join(kept), void)

    def finish(self) -> str:
        """The stream ended: a beginning that became no tag is text after all."""
        held, self._held = self._held, ""
        return "" if self._depth else held
