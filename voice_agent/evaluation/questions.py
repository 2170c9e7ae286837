"""Labelled questions from a JSON-lines file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from retrieval.conditions import laid_down
from voice_agent.errors import InputError
from voice_agent.reply.answer import Asked
from voice_agent.reply.rewrite import Exchange

_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class Question:
    """One labelled question. Any of `expect` is a right passage; an empty one goes with `must_refuse`."""

    id: str
    kind: str
    asked: Asked
    expect: tuple[str, ...]
    must_refuse: bool


def load_questions(path: Path, as_of: date | None = None) -> list[Question]:
    """Reads one question a line. `as_of` overrides the file's own dates. Raises InputError naming the line."""
    return read_rows(path, lambda row: question_of(row, row["question"], as_of), "eval_question")


def read_rows(path: Path, made: Callable[[Mapping[str, Any]], _Row], schema: str) -> list[_Row]:
    """What `made` makes of each line, blank lines left out. Raises InputError naming the line."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as e:
        raise InputError(f"{path}: cannot be read ({e}); give a JSON-lines file of questions") from e
    rows = [_made(line, made, f"{path}:{n}", schema) for n, line in enumerate(lines, start=1) if line.strip()]
    if not rows:
        raise InputError(f"{path}: no question in it; give one JSON object a line")
    return rows


def _made(line: str, made: Callable[[Mapping[str, Any]], _Row], where: str, schema: str) -> _Row:
    try:
        return made(json.loads(line))
    except json.JSONDecodeError as e:
        raise InputError(f"{where}: not JSON ({e.msg}); one object a line") from e
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise InputError(f"{where}: {type(e).__name__} {e}; see data/schemas/{schema}.json") from e


def question_of(row: Mapping[str, Any], words: str, as_of: date | None) -> Question:
    """The question of a row, asked in these words. Raises KeyError, TypeError or ValueError."""
    history = tuple(Exchange(turn["question"], turn["answer"]) for turn in row.get("history", ()))
    day = as_of or (date.fromisoformat(row["as_of"]) if "as_of" in row else date.today())
    refuse, expect = bool(row.get("must_refuse", False)), tuple(_strings(row.get("expect", ())))
    if refuse == bool(expect):
        raise ValueError(f"{row['id']} needs either expected ids or must_refuse")
    asked = Asked(words, day, history, conditions=laid_down(row.get("filters", {}), day))
    return Question(row["id"], row.get("kind", "plain"), asked, expect, refuse)


def _strings(values: object) -> Iterator[str]:
    if not isinstance(values, list | tuple):
        raise TypeError(f"{values!r} is not a list of ids")
    yield from map(str, values)
