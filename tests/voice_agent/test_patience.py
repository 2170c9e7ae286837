"""Waiting for a stream: first words, gaps, the whole; only waiting counts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from voice_agent.reply.llm import LlmError, LlmFault
from voice_agent.reply.patience import Patience, patient


async def stream(*steps: str | float) -> AsyncGenerator[str, None]:
    for step in steps:
        if isinstance(step, float):
            await asyncio.sleep(step)
        else:
            yield step


async def endless(piece: str) -> AsyncGenerator[str, None]:
    while True:
        yield piece


async def read(pieces: AsyncGenerator[str, None], patience: Patience, consume_s: float = 0.0) -> list[str]:
    read = []
    async with aclosing(patient(pieces, patience, "m")) as patiently:
        async for piece in patiently:
            read.append(piece)
            await asyncio.sleep(consume_s)
    return read


@pytest.mark.parametrize(
    ("steps", "patience", "setting"),
    [
        ((9.0, "a"), Patience(0.05, 5, 5), "first_token_s"),
        (("", 0.04, "", 0.04, "", 0.04, "a"), Patience(0.08, 5, 5), "first_token_s"),
        (("a", 9.0, "b"), Patience(5, 0.05, 5), "stall_s"),
        (("a", 0.03, "b", 0.03, "c", 0.03, "d"), Patience(5, 5, 0.05), "total_s"),
    ],
)
def test_each_limit_is_named(steps: tuple[str | float, ...], patience: Patience, setting: str) -> None:
    """The error names the setting that ended the wait; empty pieces are no first word."""
    with pytest.raises(LlmError, match=setting) as error:
        asyncio.run(read(stream(*steps), patience))
    assert error.value.fault is LlmFault.SLOW


def test_thinking_shows_life_between_words() -> None:
    """After the first word an empty piece ends a gap."""
    steps = ("a", 0.2, "", 0.2, "", 0.2, "b")
    assert asyncio.run(read(stream(*steps), Patience(5, 0.5, 5))) == ["a", "", "", "b"]


def test_a_stream_that_never_waits_ends_too() -> None:
    """What is always ready gives a timeout no moment to strike: the clock is looked at."""
    with pytest.raises(LlmError, match="first_token_s"):
        asyncio.run(read(endless(""), Patience(0.05, 5, 5)))


def test_the_consumer_may_take_its_time() -> None:
    """Speaking between two pieces does not count against the server."""
    assert asyncio.run(read(stream("a", "b", "c"), Patience(0.5, 0.5, 0.5), consume_s=0.3)) == list("abc")
