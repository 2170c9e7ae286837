"""What stands around a place in a text, and how alike the surroundings of two places are. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from retrieval.readings import SINGLE, Reading

_REACH: Final = 26
"""Characters around a place that tell what it is about."""


_NEARNESS: Final = tuple(math.exp(-distance / 14) for distance in range(_REACH + 1))


@lru_cache(maxsize=8192)
def surroundings(text: str, start: int, end: int) -> Mapping[str, float]:
    """What stands around [start, end), weighed by nearness: halved by every stop, less by every figure between."""
    around: dict[str, float] = {}
    _walk(text[end : end + _REACH], True, around)
    _walk(text[max(0, start - _REACH) : start], False, around)
    return around


def _walk(piece: str, ahead: bool, around: dict[str, float]) -> None:
    """Adds the tokens on one side, nearest first."""
    tokens = list(_AROUND.finditer(piece))
    held, last = 1.0, ""
    for n, match in enumerate(tokens if ahead else reversed(tokens)):
        token = match[0]
        distance = match.start() if ahead else len(piece) - match.end()
        if token in _STOPS:
            held, last = held * (0.8 if token == "、" else 0.5), ""
            continue
        weight = held * _NEARNESS[distance]
        figure = token[0].isdigit()
        if n == 0 and distance == 0:
            around[f"{'>' if ahead else '<'}{token}"] = held
        _add(around, token, weight if figure else weight * SINGLE)
        if figure:
            held, last = held * 0.6, ""
            continue
        if last:
            _add(around, last + token if ahead else token + last, weight)
        last = token


def _add(around: dict[str, float], token: str, weight: float) -> None:
    if weight > around.get(token, 0.0):
        around[token] = weight


_STOPS: Final = "，；：。、！？!?;\n"
_AROUND: Final = re.compile(
    r"\d+(?:\.\d+)?(?:个?(?![减加乘送返到至为是和与或可打])[\u4e00-\u9fff%]|[a-z]+)?|[a-z]+(?:[._-][a-z0-9]+)*|[\u3400-\u9fff]|[，；：。、！？!?;\n]"
)


class Likeness:
    """The surroundings of one place, to be compared with those of places in one passage."""

    __slots__ = ("_rare", "_whole")

    def __init__(self, around: Mapping[str, float], reading: Reading) -> None:
        unknown = reading.unknown * SINGLE
        self._rare = {
            token: (weight, reading.seldom.get(token) or unknown) for token, weight in around.items()
        }
        self._whole = sum(weight * rare for weight, rare in self._rare.values())

    def to(self, other: Mapping[str, float]) -> float:
        """How much of what stands around the one also stands around the other: 0 to 1."""
        shared = 0.0
        for token in self._rare.keys() & other.keys():
            weight, rare = self._rare[token]
            shared += min(weight, other[token]) * rare
        return shared / self._whole if self._whole else 0.0
