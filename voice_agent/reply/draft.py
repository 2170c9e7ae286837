"""The sentences of an answer as they are written, from one generator or, if that fails in time, from a second.

A fault before the first sentence was given out costs nothing but time: the draft begins again with the fallback. After
it there is no second voice: half an answer of one and half of another would be neither's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import assert_never

from retrieval.types import Evidence
from voice_agent.reply.generator import Cut, Generator, Note, Piece, Tell, Void
from voice_agent.reply.llm import LlmError, LlmFault
from voice_agent.reply.sentences import SentenceBuffer


@dataclass(frozen=True, slots=True)
class Writers:
    """Who writes. `fallback` is asked when the first fails before its first sentence; `max_sentences` bounds both."""

    first: Generator
    fallback: Generator | None = None
    max_sentences: int | None = None


class Draft:
    """One answer being written. Read it with `next`, then close it."""

    def __init__(self, writers: Writers, question: str, evidence: Mapping[str, Evidence], tell: Tell) -> None:
        self._writers = writers
        self._question = question
        self._evidence = evidence
        self._tell = tell
        self._buffer = SentenceBuffer()
        self._ready: deque[str] = deque()
        self._pieces: AsyncGenerator[Piece, None] = writers.first.stream(question, evidence)
        self._may_fall_back = writers.fallback is not None
        self._over = False
        self._given = 0

    async def next(self) -> str | None:
        """The next whole sentence with its marks; None after the last. Raises LlmError when there is no fallback."""
        if self._given == self._writers.max_sentences:
            return None
        while not self._ready and not self._over:
            try:
                self._ready.extend(await self._read())
            except LlmError as e:
                await self._fall_back(e)
        if not self._ready:
            return None
        self._given += 1
        return self._ready.popleft()

    async def aclose(self) -> None:
        """Stops the writing."""
        await self._pieces.aclose()

    async def _read(self) -> list[str]:
        """The sentences that the next pieces complete; at the end of the stream what is left."""
        async for piece in self._pieces:
            match piece:
                case str():
                    if sentences := self._buffer.feed(piece):
                        return sentences
                case Note():
                    self._tell(piece.kind, **piece.data)
                case Void():
                    self._take_back()
                case Cut():
                    self._over = True
                    return self._buffer.cut()
                case _:
                    assert_never(piece)
        self._over = True
        return self._buffer.finish()

    def _take_back(self) -> None:
        if self._given:
            raise LlmError(
                LlmFault.GARBLED, "thinking came without its opening tag; switch it off on the server"
            )
        self._buffer = SentenceBuffer()

    async def _fall_back(self, fault: LlmError) -> None:
        """Begins again with the fallback, or raises the fault."""
        fallback = self._writers.fallback
        if fallback is None or self._given or not self._may_fall_back:
            raise fault
        await self._pieces.aclose()
        self._may_fall_back = False
        self._tell("fallback", to=fallback.id, reason=fault.fault, detail=str(fault))
        self._buffer = SentenceBuffer()
        self._pieces = fallback.stream(self._question, self._evidence)
