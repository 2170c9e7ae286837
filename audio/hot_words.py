"""Which rare terms the recogniser is told to expect: as many as its prompt holds, in the order of their worth."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

MAX_HOT_WORDS = 100
MAX_HOT_WORD_TOKENS = 220
"""Whisper's prompt holds 223 tokens and the library cuts the rest off without a word, in the middle of a term."""


@dataclass(frozen=True, slots=True)
class HotWords:
    """The terms the prompt holds, in the order given, and those it does not."""

    used: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()


def choose_hot_words(
    terms: Iterable[str],
    tokens: Callable[[str], int],
    *,
    max_terms: int = MAX_HOT_WORDS,
    max_tokens: int = MAX_HOT_WORD_TOKENS,
) -> HotWords:
    """The first terms that fit, each once whatever its case. `tokens` says what a term costs, separator included.

    Choosing stops at the first term that does not fit: a less worthy short one does not overtake it.
    """
    first: dict[str, str] = {}
    for term in terms:
        first.setdefault(term.strip().casefold(), term.strip())
    distinct = [term for term in first.values() if term]
    spent, count = 0, 0
    for term in distinct[:max_terms]:
        spent += tokens(term)
        if spent > max_tokens:
            break
        count += 1
    return HotWords(used=tuple(distinct[:count]), cut=tuple(distinct[count:]))


def spoken_hot_words(text: str, terms: Iterable[str]) -> tuple[str, ...]:
    """The terms that stand in the text, whatever their case, in the order of the list."""
    folded = text.casefold()
    return tuple(term for term in terms if term.casefold() in folded)
