"""Questions as callers ask them, beside the documents: a line of a *.examples.jsonl file, for one passage. Pure.

An entry could hold them itself, a chapter of a manual cannot; and whoever collects them is seldom who writes the
documents. So they stand in files of their own, by the passage's id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from retrieval.errors import CorpusError
from retrieval.types import Passage, PassageId

SUFFIX: Final = ".examples.jsonl"

_KEYS: Final = ("examples", "near_misses")


@dataclass(frozen=True, slots=True)
class Examples:
    """What one line gives: questions the passage answers, and some that sound like it and that it does not answer.
    `place` is file:line.
    """

    id: PassageId
    examples: tuple[str, ...]
    near_misses: tuple[str, ...]
    place: str

    def added_to(self, passage: Passage) -> Passage:
        """The passage with these behind those it has, each once."""
        return replace(
            passage,
            examples=tuple(dict.fromkeys((*passage.examples, *self.examples))),
            near_misses=tuple(dict.fromkeys((*passage.near_misses, *self.near_misses))),
        )


def examples_of(fields: Mapping[str, Any], place: str) -> Examples:
    """A line's fields as examples. Raises CorpusError, one line with the place."""
    unknown = sorted(fields.keys() - {"id", *_KEYS})
    if unknown:
        raise CorpusError(f"{place}: unknown key {', '.join(unknown)}; write id, examples, near_misses")
    ident = fields.get("id")
    if not isinstance(ident, str) or not ident:
        raise CorpusError(f"{place}: id is missing; name the passage that the questions are about")
    examples, near_misses = (_questions(fields, key, place) for key in _KEYS)
    both = sorted(set(examples) & set(near_misses))
    if both:
        raise CorpusError(f"{place}: {both[0]!r} stands under both keys; it is answered or it is not")
    return Examples(PassageId(ident), examples, near_misses, place)


def _questions(fields: Mapping[str, Any], key: str, place: str) -> tuple[str, ...]:
    values = fields.get(key, [])
    if not isinstance(values, list) or not all(isinstance(v, str) and v.strip() for v in values):
        raise CorpusError(f"{place}: {key} must be a list of questions, none of them empty")
    if any("\ud800" <= char <= "\udfff" for value in values for char in value):
        raise CorpusError(f"{place}: {key} holds half a character (a lone surrogate escape)")
    return tuple(dict.fromkeys(value.strip() for value in values))
