"""Pure: a text without its secrets, before anything reaches a disk.

    我的号码是138 0013 8000，邮箱 li@example.com   ->   我的号码是〈PHONE:1〉，邮箱 〈EMAIL:1〉

What counts as a secret is decided in secrets.py and people.py. A placeholder names the kind and is equal for equal
values within one call, so a reader still sees that the caller repeated the same number.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from voice_agent.record.jsonable import Json
from voice_agent.record.people import PEOPLE, find_person_begun
from voice_agent.record.secrets import DETECTORS, Detector, Secret, digits_of, find_begun, may_hold_secret

_PIECE_DIGITS = 4
# A lone piece of a known number is hidden from this length on: 138 may be a price, 0013 hardly.

_PIECE_CHARS = 2
_OF_WORDS = ("NAME", "ADDRESS")


class Masker:
    """One a call: it remembers what it has seen, across journal and hand-off packet. Safe for several threads."""

    def __init__(
        self,
        detectors: Sequence[Detector] = DETECTORS,
        *,
        people: Sequence[Detector] = PEOPLE,
        named: Callable[[str, str], None] | None = None,
    ) -> None:
        """`named` is told each new placeholder and the value behind it, before the placeholder is used."""
        self._detectors = tuple(detectors)
        self._people = tuple(people)
        self._named = named
        self._names: dict[tuple[str, str], str] = {}
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    def mask(self, text: str, *, unfinished: bool = False) -> str:
        """The text with every secret replaced; `unfinished` also hides a number only begun at its end."""
        if may_hold_secret(text):
            for detect in (*self._detectors, find_begun) if unfinished else self._detectors:
                text = self._replace(text, detect(text))
        if (
            text.isascii()
        ):  # ids and reasons, most strings of a journal: names and places are led to in Chinese
            return text
        for detect in (*self._people, find_person_begun) if unfinished else self._people:
            text = self._replace(text, detect(text))
        return self._replace(text, self._find_known(text))

    def _find_known(self, text: str) -> list[Secret]:
        """Whole names and addresses that were said before: they are said again without what led to them."""
        if not self._names:
            return []
        return [
            Secret(kind, m.start(), m.end(), value)
            for kind, value in sorted(self._words(), key=lambda known: -len(known[1]))
            for m in re.finditer(re.escape(value), text)
        ]

    def _words(self) -> list[tuple[str, str]]:
        """The known values that are made of words. One character alone is a surname of millions."""
        return [
            (kind, value)
            for kind, value in list(self._names)
            if kind in _OF_WORDS and len(value) >= _PIECE_CHARS
        ]

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
        if not secrets:
            return text
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
                name = f"〈{secret.kind}:{self._seen[secret.kind]}〉"
                if self._named is not None:
                    self._named(name, secret.value)
                self._names[key] = name
            return self._names[key]

    def _join_pieces(self, items: list[Json]) -> list[Json]:
        """["手机", "138", "0013", "8000"] -> ["手机", "〈PHONE:1〉"], once that number is known; so with a name."""
        known = [
            _Known(value, self._names[kind, value], _word, _PIECE_CHARS) for kind, value in self._words()
        ]
        known += [
            _Known(value, name, _digits, _PIECE_DIGITS)
            for (_, value), name in list(self._names.items())
            if value.isdigit()
        ]
        if not known or not any(isinstance(item, str) for item in items):
            return items
        done: list[Json] = []
        at = 0
        while at < len(items):
            found = next(filter(None, (_piece(items, at, one) for one in known)), None)
            at, shown = found or (at + 1, items[at])
            done.append(shown)
        return done


@dataclass(frozen=True, slots=True)
class _Known:
    """A value, its placeholder, how a word is read as a piece of it, and from what length a lone piece is hidden."""

    value: str
    name: str
    read: Callable[[Json], str]
    least: int


def _piece(items: list[Json], at: int, known: _Known) -> tuple[int, str] | None:
    """Where the words from `at` on stop spelling the value, or None."""
    joined, stop = "", at
    while stop < len(items) and joined != known.value:
        word = known.read(items[stop])
        if not word or not known.value.startswith(joined + word):
            break
        joined, stop = joined + word, stop + 1
    if joined == known.value:
        return stop, known.name
    word = known.read(items[at])
    return (at + 1, known.name) if len(word) >= known.least and word in known.value else None


def _digits(item: Json) -> str:
    """The digits of a word that is nothing but digits, else ''."""
    if not isinstance(item, str):
        return ""
    digits = digits_of(item)
    return digits if len(digits) == len(item.replace(" ", "").replace("-", "")) else ""


def _word(item: Json) -> str:
    """A word with nothing of ASCII in it, as it is, else ''."""
    return item if isinstance(item, str) and item and not any(map(str.isascii, item)) else ""
