"""When sound that is still being made may begin, so that it need not stop in the middle. Pure.

A synthesiser gives out a sentence in pieces. The first may be heard as soon as every later one, by what the work has
cost so far, will be there before the one in front of it has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from audio.types import CALL_RATE_HZ, Samples

CHARACTER_S = 0.23
"""What a character of a clause takes to say: 1.7 to 3.3 s of sound from 7 to 14 characters, pauses included."""

FIXED_S = 0.4
"""The cost of beginning a clause, as seconds of speech that could be made instead (fitted to scripts/bench_tts)."""

MARGIN = 1.15
"""Later pieces are reckoned so much dearer than those already made: cores are shared."""


def spoken_s(text: str) -> float:
    """About how long a text takes to say, in seconds; punctuation counts nothing."""
    return CHARACTER_S * sum(character.isalnum() for character in text)


def begins_s(costs_s: Sequence[float], lengths_s: Sequence[float]) -> float:
    """The earliest moment, after work begins, at which pieces of these costs and lengths may begin to be heard without
    a gap.

    >>> round(begins_s([1.0, 2.0], [2.5, 4.0]), 1)
    1.0
    >>> round(begins_s([1.0, 4.0], [2.5, 4.0]), 1)
    2.5
    """
    made = heard = begins = 0.0
    for cost, length in zip(costs_s, lengths_s, strict=True):
        made += cost
        begins = max(begins, made - heard)
        heard += length
    return begins


def paced(
    blocks: Iterable[Samples], expected_s: Sequence[float], now: Callable[[], float]
) -> Iterator[Samples]:
    """The same blocks, held back until they may be played without a gap. `expected_s` are their likely lengths;
    `now` tells seconds, and only what is spent in making a block counts."""
    held: list[Samples] = []
    spent = ready_s = work = 0.0
    source = iter(blocks)
    begun = False
    for done in range(1, len(expected_s) + 1):
        asked = now()
        block = next(source, None)
        if block is None:
            break
        spent += now() - asked
        ready_s += len(block) / CALL_RATE_HZ
        work += len(block) / CALL_RATE_HZ + FIXED_S
        held.append(block)
        rest = expected_s[done:]
        rate = MARGIN * spent / work
        costs = [rate * (length + FIXED_S) for length in rest]
        if begun or begins_s([0.0, *costs], [ready_s, *rest]) <= 0.0:
            begun = True
            yield from held
            held.clear()
    yield from held
    yield from source


def flowing(received_s: float, took_s: float, expected_s: float) -> bool:
    """May a stream be played of which so much came in so long? `expected_s` is its likely length.

    A stream slower than speech must be ahead by what it will fall behind.
    """
    if took_s <= 0.0:
        return True
    behind_s = max(0.0, 1.0 - received_s / (MARGIN * took_s)) * max(expected_s, received_s)
    return received_s >= behind_s
