"""Pure: any value of the program -> plain JSON values, and a JSON line of bounded size.

Nothing here raises for odd data: what has no JSON form is named by its type, what is not a number becomes null,
what is too large is cut and the line says so.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Iterable, Mapping
from datetime import date, time
from enum import Enum
from pathlib import PurePath

import numpy as np

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

LINE_BYTES = 64 * 1024
"""Largest line, newline included. A turn's recall of three channels of 50 passages takes about 12 KiB."""

CUT = "…[cut]"
"""Ends a string that was shortened."""

_MOST_COST = 2 * LINE_BYTES
# Two a value and one a character: a value that costs more has a line longer than LINE_BYTES, which is cut anyway.

_MOST_DEPTH = 16
_INT_BITS = 1024
# json refuses integers of over 4,300 digits; nothing we count needs more than these 308.

_SURROGATE = re.compile(r"[\ud800-\udfff]")

_STEPS = ((16_384, 2_000), (4_096, 500), (1_024, 200), (256, 50), (96, 12), (96, 3))
"""Longest string and longest list or mapping, step by step: the largest strings give way first.

The last step leaves the three leading keys of an event (type, t, turn) or of the header (type, schema, call).
"""


def plain(value: object) -> Json:
    """`value` as JSON values: dataclasses, mappings, sets, paths, dates, enums and numpy scalars are converted."""
    return _Reader().read(value, 0)


def text_of(text: str) -> str:
    """The string without lone surrogates, which no UTF-8 file can hold."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def line(event: Mapping[str, Json], most_bytes: int = LINE_BYTES) -> bytes:
    """One JSON object and a newline, at most `most_bytes` long; a shortened one has `"truncated": true`."""
    whole = _encode(event)
    if len(whole) <= most_bytes:
        return whole
    for chars, items in _STEPS:
        whole = _encode({**_shorten_object(event, chars, items), "truncated": True})
        if len(whole) <= most_bytes:
            break
    return whole


class _Reader:
    """Walks one value and keeps account of it, so that a huge or endless one costs a bounded time."""

    def __init__(self) -> None:
        self._left = _MOST_COST

    def read(self, value: object, depth: int) -> Json:
        self._left -= 2
        if depth > _MOST_DEPTH:
            return CUT
        kind = type(value)
        if kind is str:
            return self._text(value)  # type: ignore[arg-type]  # told by its exact type; isinstance costs more
        if kind is dict:
            return self._object(value.items(), depth)  # type: ignore[attr-defined]
        if kind is list or kind is tuple:
            return self._list(value, depth)  # type: ignore[arg-type]
        if value is None or isinstance(value, bool | int | float):
            return _number(value)
        return self._read_other(value, depth + 1)

    def _read_other(self, value: object, depth: int) -> Json:
        if isinstance(value, Enum):
            return self.read(value.value, depth)
        if isinstance(value, np.generic):
            return self.read(value.item(), depth)
        if isinstance(value, str | PurePath):
            return self._text(str(value))
        if isinstance(value, date | time):
            return value.isoformat()
        return self._read_many(value, depth)

    def _read_many(self, value: object, depth: int) -> Json:
        if isinstance(value, Mapping):
            return self._object(value.items(), depth)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = dataclasses.fields(value)
            return self._object([(f.name, getattr(value, f.name, None)) for f in fields], depth)
        if isinstance(value, set | frozenset):
            return sorted(self._list(value, depth), key=json.dumps)  # sets have no order of their own
        if isinstance(value, list | tuple):
            return self._list(value, depth)
        return f"<{type(value).__name__}>"

    def _object(self, items: Iterable[tuple[object, object]], depth: int) -> dict[str, Json]:
        done: dict[str, Json] = {}
        for key, item in items:
            if self._left < 0:
                break
            name = self.read(key, depth + 1)
            done[name if isinstance(name, str) else json.dumps(name)] = self.read(item, depth + 1)
        return done

    def _list(self, items: Iterable[object], depth: int) -> list[Json]:
        done: list[Json] = []
        for item in items:
            if self._left < 0:
                break
            done.append(self.read(item, depth + 1))
        return done

    def _text(self, text: str) -> str:
        short = text if len(text) <= self._left else text[: max(0, self._left)] + CUT
        self._left -= len(short)
        return text_of(short)


def _number(value: bool | int | float | None) -> Json:
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, int) and value.bit_length() > _INT_BITS:
        return f"<int of {value.bit_length()} bits>"
    return value


def _shorten_object(event: Mapping[str, Json], chars: int, items: int) -> dict[str, Json]:
    kept = list(event.items())[:items]
    return {_cut(key, chars): _shorten(value, chars, items) for key, value in kept}


def _shorten(value: Json, chars: int, items: int) -> Json:
    if isinstance(value, str):
        return _cut(value, chars)
    if isinstance(value, list):
        return [_shorten(item, chars, items) for item in value[:items]]
    if isinstance(value, dict):
        return _shorten_object(value, chars, items)
    return value


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else text[:chars] + CUT


def _encode(event: Mapping[str, Json]) -> bytes:
    text = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
    # JSON lets these stand in strings, but readers that split text into lines take them for line ends.
    for char in "\x85\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text.encode() + b"\n"
