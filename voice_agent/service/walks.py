"""Walks of an answer beside the real one: one that tells what it passes, and one that remembers."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable

from voice_agent.reply.answer import Checked, Looked, Walk
from voice_agent.reply.generator import Tell
from voice_agent.reply.telling import tell_search, tell_sentence
from voice_agent.service.cache import Remembered

Said = Callable[[Checked], Awaitable[None]]
"""Takes a sentence whose check was passed."""


async def told_to_nobody(checked: Checked) -> None:
    """For who waits for the whole answer."""


class NotedWalk:
    """The walk within, with every step journalled, and each sentence given out once it has passed.

    After a sentence that did not pass nothing more is given out.
    """

    def __init__(self, walk: Walk, tell: Tell, said: Said) -> None:
        self._walk = walk
        self._tell = tell
        self._said = said
        self.looked: Looked | None = None
        self.checked: list[Checked] = []

    async def look(self) -> Looked:
        self.looked = await self._walk.look()
        tell_search(self._tell, self.looked)
        return self.looked

    async def next_sentence(self) -> Checked | None:
        checked = await self._walk.next_sentence()
        if checked is None:
            return None
        tell_sentence(self._tell, checked)
        self.checked.append(checked)
        if all(sentence.verdict.passed for sentence in self.checked):
            await self._said(checked)
        return checked

    async def aclose(self) -> None:
        await self._walk.aclose()


class RecalledWalk:
    """An answer that was found and checked before."""

    def __init__(self, remembered: Remembered) -> None:
        self._looked = remembered.looked
        self._rest = deque(remembered.sentences)

    async def look(self) -> Looked:
        return self._looked

    async def next_sentence(self) -> Checked | None:
        return self._rest.popleft() if self._rest else None

    async def aclose(self) -> None:
        self._rest.clear()
