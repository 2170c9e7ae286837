"""One knowledge-base entry: from a JSON object to a Passage, or a fault named in a few words. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any, Final

from retrieval.types import Passage, PassageId, Risk

KEYS: Final = frozenset(
    (
        "id",
        "title",
        "text",
        "questions",
        "source",
        "version",
        "valid_from",
        "valid_to",
        "tags",
        "risk",
        "must_handoff",
    )
)
_RISKS: Final[Mapping[str, Risk]] = {"low": "low", "medium": "medium", "high": "high"}
_ID: Final = re.compile(r"\S(?:.{0,198}\S)?")
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


class EntryError(ValueError):
    """What is wrong with an entry, without the place: whoever reads the file adds that."""


def entry(fields: Mapping[str, Any]) -> Passage:
    """A passage from an entry's fields; null counts as absent and unknown keys are left alone. Raises EntryError."""
    given = {key: value for key, value in fields.items() if value is not None}
    ident, text = _string(given, "id"), _string(given, "text")
    if not _ID.fullmatch(ident):
        raise EntryError("id must be 1 to 200 characters on one line, without blanks at its ends")
    if not text.strip():
        raise EntryError("text is empty; write the answer as it may be spoken")
    valid_from, valid_to = _day(given, "valid_from"), _day(given, "valid_to")
    if valid_from and valid_to and valid_from > valid_to:
        raise EntryError(f"valid_from {valid_from} is after valid_to {valid_to}")
    risk = _string(given, "risk") or "low"
    if risk not in _RISKS:
        raise EntryError(f"risk is {risk!r}; write low, medium or high")
    handoff = given.get("must_handoff", False)
    if not isinstance(handoff, bool):
        raise EntryError("must_handoff must be true or false")
    return fingerprinted(
        Passage(
            id=PassageId(ident),
            text=text.strip(),
            title=_string(given, "title").strip(),
            questions=_strings(given, "questions"),
            source=_string(given, "source").strip(),
            version=_string(given, "version").strip(),
            valid_from=valid_from,
            valid_to=valid_to,
            tags=_strings(given, "tags"),
            risk=_RISKS[risk],
            must_handoff=handoff,
        )
    )


def fingerprinted(passage: Passage) -> Passage:
    """The passage with its sha: the same content has the same one on every machine."""
    content = (passage.id, passage.title, passage.text, passage.questions, passage.version)
    days = (str(passage.valid_from or ""), str(passage.valid_to or ""))
    told = [passage.examples, passage.near_misses] if passage.examples or passage.near_misses else []
    sha = hashlib.sha256(json.dumps([*content, *days, *told], ensure_ascii=False).encode()).hexdigest()
    return replace(passage, sha=sha)


def _string(fields: Mapping[str, Any], key: str) -> str:
    value = fields.get(key, "")
    if not isinstance(value, str):
        raise EntryError(f"{key} must be a string, not {json.dumps(value, ensure_ascii=False)[:40]}")
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise EntryError(f"{key} holds half a character (a lone surrogate escape)")
    return value


def _strings(fields: Mapping[str, Any], key: str) -> tuple[str, ...]:
    values = fields.get(key, [])
    if not isinstance(values, list):
        raise EntryError(f"{key} must be a list of strings")
    strings = tuple(_string({key: value}, key).strip() for value in values)
    if not all(strings):
        raise EntryError(f"{key} holds an empty string")
    return tuple(dict.fromkeys(strings))


def _day(fields: Mapping[str, Any], key: str) -> date | None:
    value = _string(fields, key)
    if not value:
        return None
    try:
        return date.fromisoformat(value if _DAY.fullmatch(value) else "")
    except ValueError:
        raise EntryError(f"{key} is {value!r}; write a date like 2026-01-31") from None
