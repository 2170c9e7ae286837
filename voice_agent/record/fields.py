"""Pure: the fields of one journal event, read without trust: what is of a wrong type reads as absent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

Event = Mapping[str, Any]
"""One line of a journal."""

_NUMBERS = (int, float)
# By exact type where there are many: JSON makes no other numbers, and isinstance takes twice the time.


def text(event: Event, key: str) -> str:
    """The string of that name; empty if there is none."""
    value = event.get(key)
    return value if isinstance(value, str) else ""


def optional(event: Event, key: str) -> str | None:
    """The string of that name; None if there is none, or an empty one."""
    return text(event, key) or None


def texts(event: Event, key: str) -> tuple[str, ...]:
    """The strings of the list of that name."""
    return tuple(item for item in items(event, key) if isinstance(item, str))


def items(event: Event, key: str) -> list[Any]:
    """The list of that name; empty if there is none."""
    value = event.get(key)
    return value if isinstance(value, list) else []


def mapping(event: Event, key: str) -> dict[str, Any]:
    """The object of that name; empty if there is none."""
    value = event.get(key)
    return value if isinstance(value, dict) else {}


def numbers(event: Event, key: str) -> dict[str, float]:
    """The numbers of the object of that name, by their names."""
    return {name: value for name, value in mapping(event, key).items() if type(value) in _NUMBERS}


def number(event: Event, key: str) -> float | None:
    """The number of that name; None if there is none."""
    value = event.get(key)
    return value if is_number(value) else None


def integer(event: Event, key: str) -> int | None:
    """The whole number of that name; None if there is none."""
    value = event.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether it is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)
