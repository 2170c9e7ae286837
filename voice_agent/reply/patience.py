"""How long a stream from a language model is waited for: to its first words, between pieces, and in all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import TypeVar

from voice_agent.reply.llm import LlmError, LlmFault

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds. The first words are those of the answer, not of thinking: a caller hears nothing until then."""

    first_token_s: float = 5.0
    stall_s: float = 3.0
    total_s: float = 15.0


async def patient(pieces: AsyncGenerator[T, None], patience: Patience, name: str) -> AsyncGenerator[T, None]:
    """The same pieces, in time. A piece that is false ("" where only thinking came) shows life but is no first word.

    Only waiting counts, not what the consumer does between pieces: it may be speaking. Raises LlmError
    SLOW, naming the limit and the setting to change. `pieces` stays the caller's to close.
    """
    loop = asyncio.get_running_loop()
    waited_s = since_s = 0.0
    heard = False
    while True:
        limits = {"total_s": patience.total_s}
        limits["stall_s" if heard else "first_token_s"] = since_s + _gap(patience, heard=heard)
        which = min(limits, key=lambda name: limits[name])
        began_s = loop.time()
        try:
            async with asyncio.timeout(max(limits[which] - waited_s, 0.0)):
                piece = await anext(pieces, None)
        except TimeoutError as e:
            raise _slow(name, which, patience) from e
        waited_s += loop.time() - began_s
        if piece is None:
            return
        if (
            waited_s > limits[which]
        ):  # a stream that always has something ready is never interrupted by a timeout
            raise _slow(name, which, patience)
        yield piece
        heard = heard or bool(piece)
        since_s = waited_s if heard else 0.0


def _gap(patience: Patience, *, heard: bool) -> float:
    return patience.stall_s if heard else patience.first_token_s


def _slow(name: str, which: str, patience: Patience) -> LlmError:
    limit_s: float = getattr(patience, which)
    return LlmError(LlmFault.SLOW, f"{name}: nothing more within {limit_s:g} s; see llm.{which}")
