"""Which data files the project has, and what is wrong with them by their JSON Schemas (`data/schemas`)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from retrieval.example_files import SUFFIX

SCHEMAS = Path(__file__).resolve().parent.parent / "data" / "schemas"

KINDS = {
    "eval/dev.jsonl": "eval_question",
    "eval/test.jsonl": "eval_question",
    "eval/fresh.jsonl": "eval_question",
    "eval/topics.jsonl": "eval_topic",
    "eval/guard_cases.jsonl": "guard_case",
    "train/answerability.jsonl": "answerability",
    "calls/expect.jsonl": "call_expectation",
    "calls/recordings.jsonl": "eval_recording",
}
"""File under the data folder -> the schema of each of its lines. Of a knowledge base every *.examples.jsonl is
kb_examples and every other *.jsonl kb_entry.
"""


@dataclass(frozen=True, slots=True)
class FileReport:
    """One data file: how many lines it holds and its faults, each `file:line: what`."""

    path: Path
    lines: int
    faults: tuple[str, ...]


def check_files(kb: Path, data: Path, schemas: Path = SCHEMAS) -> Iterator[FileReport]:
    """A report for each data file that exists: the knowledge base's, and those of KINDS under `data`."""
    entries = [kb] if kb.is_file() else sorted(kb.rglob("*.jsonl"))
    found = [(path, _of_a_kb(path)) for path in entries if path.suffix == ".jsonl"]
    found += [(data / name, schema) for name, schema in KINDS.items() if (data / name).is_file()]
    for path, schema in found:
        try:
            validator = validator_of(json.loads((schemas / f"{schema}.json").read_text(encoding="utf-8")))
        except (OSError, ValueError) as e:
            yield FileReport(path, 0, (f"{schemas / schema}.json: cannot be used ({e})",))
        else:
            yield check_file(path, validator)


def _of_a_kb(path: Path) -> str:
    return "kb_examples" if path.name.endswith(SUFFIX) else "kb_entry"


def validator_of(schema: dict[str, Any]) -> Draft202012Validator:
    """Dates are checked as dates."""
    return Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)


def check_file(path: Path, validator: Draft202012Validator) -> FileReport:
    """Every line of a JSONL file against a schema; blank lines are allowed."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as e:
        return FileReport(path, 0, (f"{path}: cannot be read as UTF-8 ({e})",))
    full = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    faults = [f"{path}:{number}: {fault}" for number, line in full for fault in _faults(line, validator)]
    return FileReport(path, len(full), tuple(faults))


def _faults(line: str, validator: Draft202012Validator) -> list[str]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as e:
        return [f"not JSON: {e}"]
    found = sorted(validator.iter_errors(entry), key=lambda fault: fault.json_path)
    return [f"{fault.json_path}: {' '.join(fault.message.split())[:200]}" for fault in found]
