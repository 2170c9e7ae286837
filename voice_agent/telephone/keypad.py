"""Keys pressed one after another -> what was dialled. Pure.

Digits belong together until # or a pause; together they are masked like a number that was spoken. One key, if so
configured, calls for a person wherever it is pressed alone.
"""

from __future__ import annotations

from dataclasses import dataclass

PAUSE_S = 2.0
"""Between two keys of one number. Longer, and the caller has finished."""

MAX_KEYS = 32
"""Of one number: a card has 19 digits. What is longer is cut into several."""


@dataclass(frozen=True, slots=True)
class Dialled:
    """A number is complete. `person`: it was the one key that calls for a person."""

    keys: str
    person: bool


class Keypad:
    """One a call. `person_key` is a key, or empty for none."""

    def __init__(self, person_key: str) -> None:
        self._person_key = person_key
        self._keys = ""
        self._last_s = 0.0

    def press(self, key: str, now_s: float) -> Dialled | None:
        """The next key -> the number it ends, if it ends one."""
        if key == "#" and self._keys:
            return self._complete()
        self._keys += key
        self._last_s = now_s
        return self._complete() if len(self._keys) >= MAX_KEYS else None

    def pause(self, now_s: float) -> Dialled | None:
        """No key at `now_s` -> the number that has ended meanwhile, if one has."""
        return self._complete() if self._keys and now_s - self._last_s >= PAUSE_S else None

    def _complete(self) -> Dialled:
        keys, self._keys = self._keys, ""
        return Dialled(keys, person=keys == self._person_key)
