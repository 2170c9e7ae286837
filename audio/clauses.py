"""A sentence in the pieces it is synthesised in: whole, or its first clause apart so that it is heard sooner. Pure.

Where to cut depends on the text alone, never on the machine of the moment: the same text gives the same sound.
"""

from __future__ import annotations

import re

from audio.pacing import FIXED_S, begins_s, spoken_s
from audio.spelling import is_speakable

LONG = 40
"""Characters, about 9 s of sound: no piece is longer if it has a place to be cut."""

RATE = 0.45
"""Seconds of work for a second of speech that the cutting reckons with: two cores with other work on them."""

WORTH_S = 0.2
"""A first clause is cut off if it is heard sooner by that much; an uncut sentence has the better melody."""

FEWEST = 3
"""Characters of a piece: fewer sound clipped alone."""

_SENTENCE = re.compile(r"[^。！？；!?;…\n]*[。！？；!?;…\n]*[”’」』）】)\]\"]*")
_CLAUSE = re.compile(r"[^，；、：]+[，；、：]*|[，；、：]+")


def clauses(text: str) -> list[str]:
    """The text in pieces to synthesise, in order; nothing is lost but what holds no letter or digit.

    >>> clauses("您好，请说。")
    ['您好，请说。']
    >>> clauses("退货商品签收后七天内，可以在订单页申请退款。")
    ['退货商品签收后七天内，', '可以在订单页申请退款。']
    """
    sentences = [text] if len(text) <= LONG else _SENTENCE.findall(text)
    pieces = [piece for sentence in sentences for piece in _pieces(sentence)]
    return [piece.strip() for piece in pieces if is_speakable(piece)]


def _pieces(sentence: str) -> list[str]:
    """The cut after which the sound begins soonest; no cut where that wins little."""
    parts = _packed(_CLAUSE.findall(sentence), FEWEST)
    whole = _packed(parts, LONG)
    ways = [[parts[0], *_packed(parts[1:], LONG)]] if len(parts) > 1 else []
    ways += [
        ["".join(parts[:first]), *_packed(parts[first:], LONG)]
        for first in range(2, len(parts))
        if sum(map(len, parts[:first])) <= LONG
    ]
    best = min(ways, key=_begins_s, default=whole)
    return best if _begins_s(whole) - _begins_s(best) >= WORTH_S else whole


def _begins_s(pieces: list[str]) -> float:
    lengths = [spoken_s(piece) for piece in pieces]
    return begins_s([RATE * (length + FIXED_S) for length in lengths], lengths)


def _packed(parts: list[str], size: int) -> list[str]:
    """Neighbours joined while the piece stays within `size` characters, and whatever is too short to stand alone."""
    packed: list[str] = []
    for part in parts:
        if packed and (
            len(packed[-1]) + len(part) <= size or _letters(packed[-1]) < FEWEST or _letters(part) < FEWEST
        ):
            packed[-1] += part
        else:
            packed.append(part)
    return packed


def _letters(text: str) -> int:
    return sum(character.isalnum() for character in text)
