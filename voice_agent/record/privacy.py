"""Pure: a text without its secrets, before anything reaches a disk.

    我的号码是138 0013 8000，邮箱 li@example.com   ->   我的号码是〈PHONE:1〉，邮箱 〈EMAIL:1〉

What counts as a secret is decided in secrets.py. A placeholder names the kind and is equal for equal values within
one call, so a reader still sees that the caller repeated the same number.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence

from voice_agent.record.jsonable import Json
from voice_agent.record.secrets import DETECTORS, Detector, Secret, digits_of, find_begun, may_hold_secret

_PIECE_DIGITS = 4
# A lone piece of a known number is hidden from this length on: 138 may be a price, 0013 hardly.


class Masker:
    """One a call: it remembers what it has seen, across journal and hand-off packet. Safe for several threads."""

    def __init__(self, detectors: Sequence[Detector] = DETECTORS) -> None:
        self._detectors = tuple(detectors)
        self._names: dict[tuple[str, str], str] = {}
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    def mask(self, text: str, *, unfinished: bool = False) -> str:
        """The text with every secret replaced; `unfinished` also hides a number only begun at its end."""
        if may_hold_secret(text):
            for detect in (*self._detectors, find_begun) if unfinished else self._detectors:
                text = self._replace(text, detect(text))
        return text

    def mask_data(self, value: Json, *, unfinished: bool = False) -> Json:
        """The same in every string of a JSON value, keys too; a list of words is also masked across its words."""
        known = len(self._names)
        masked = self._walk(value, unfinished)
        # A number first met late in the value may stand in pieces earlier in it.
        return masked if len(self._names) == known else self._walk(masked, unfinished)

    def _walk(self, value: Json, unfinished: bool) -> Json:
        if isinstance(value, str):
            return self.mask(value, unfinished=unfinished)
        if isinstance(value, list):
            return self._join_pieces([self._walk(item, unfinished) for item in value])
        if isinstance(value, dict):
            return {self.mask(key): self._walk(item, unfinished) for key, item in value.items()}
        return value

    def _replace(self, text: str, secrets: list[Secret]) -> str:
        done, at = "", 0
        for secret in sorted(secrets, key=lambda s: (s.start, -s.stop)):
            if secret.start >= at:
                done += text[at : secret.start] + self._name(secret)
                at = secret.stop
        return done + text[at:]

    def _name(self, secret: Secret) -> str:
        key = (secret.kind, secret.value)
        with self._lock:
            if key not in self._names:
                self._seen[secret.kind] += 1
                self._names[key] = f"〈{secret.kind}:{self._seen[secret.kind]}〉"
            return self._names[key]

    def _join_pieces(self, items: list[Json]) -> list[Json]:
        """["手机", "138", "0013", "8000"] -> ["手机", "〈PHONE:1〉"], once that number is known."""
        numbers = [(value, name) for (_, value), name in list(self._names.items()) if value.isdigit()]
        if not numbers or not any(isinstance(item, str) for item in items):
            return items
        done: list[Json] = []
        at = 0
        while at < len(items):
            found = next(filter(None, (_piece(items, at, value, name) for value, name in numbers)), None)
            at, shown = found or (at + 1, items[at])
            done.append(shown)
        return done


def _piece(items: list[Json], at: int, value: str, name: str) -> tuple[int, str] | None:
    """Where the words from `at` on stop spelling `value`, or None."""
    joined, stop = "", at
    while stop < len(items) and joined != value:
        word = _digits(items[stop])
        if not word or not value.startswith(joined + word):
            break
        joined, stop = joined + word, stop + 1
    if joined == value:
        return stop, name
    word = _digits(items[at])
    return (at + 1, name) if len(word) >= _PIECE_DIGITS and word in value else None


def _digits(item: Json) -> str:
    """The digits of a word that is nothing but digits, else ''."""
    if not isinstance(item, str):
        return ""
    digits = digits_of(item)
    return digits if len(digits) == len(item.replace(" ", "").replace("-", "")) else ""
