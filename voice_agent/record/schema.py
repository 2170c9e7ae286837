"""The journal's format, version 1: which events there are and what each must carry, as JSON Schema (2020-12).

Extra fields are allowed everywhere, so a newer agent's journal still reads. An event that was cut to the largest
line (`"truncated": true`) promises only what every event has: `type`, `t` (stream seconds) and `turn`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, get_args

from voice_agent.floor.duties import Ending

Schema = dict[str, Any]

SCHEMA_VERSION = 1

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_TEXT: Schema = {"type": "string"}
_TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
_FLAG: Schema = {"type": "boolean"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_NUMBER: Schema = {"type": "number"}
_NUMBER_OR_NULL: Schema = {"type": ["number", "null"]}
_SECONDS: Schema = {"type": "number", "minimum": 0}
_SHARE: Schema = {"type": ["number", "null"], "minimum": 0, "maximum": 1}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _map(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


def _record(**fields: Schema) -> Schema:
    return {"type": "object", "properties": fields, "required": list(fields)}


_TEXTS = _list(_TEXT)
_MS = _map(_NUMBER)
_SCORED = _list(_record(id=_TEXT, score=_NUMBER_OR_NULL))
_RANKED = _list(_record(id=_TEXT, rank={"type": "integer", "minimum": 1}, score=_NUMBER_OR_NULL))
_CITED = _list(_record(citation_id=_TEXT, id=_TEXT, source=_TEXT, text=_TEXT))
_GATE: Mapping[str, Schema] = {
    "outcome": {"enum": ["ANSWER", "CLARIFY", "REFUSE"]},
    "reason": _TEXT_OR_NULL,
    "features": _map(_NUMBER_OR_NULL),
    "thresholds": _map(_NUMBER),
}

EVENTS: Mapping[str, Mapping[str, Schema]] = {
    "ready": {"timings_ms": _MS},
    "device": {},
    "speech_started": {},
    "partial": {"text": _TEXT},
    "speech_ended": {},
    "transcript": {
        "text": _TEXT,
        "raw": _TEXT,
        "confidence": _SHARE,
        "voiced_s": _SECONDS,
        "seconds": _SECONDS,
        "dropped": _TEXT_OR_NULL,
        "hot_words": _TEXTS,
        "start_s": _SECONDS,
        "end_s": _SECONDS,
    },
    "query": {"text": _TEXT, "terms": _TEXTS, "codes": _TEXTS, "history": _TEXTS, "repairs": _list({})},
    "rewrite": {"before": _TEXT, "after": _TEXT},
    "recall": {"channels": _map(_RANKED), "down": _map(_TEXT)},
    "fusion": {"ranking": _SCORED},
    "rerank": {"ranking": _SCORED},
    "gate": _GATE,
    "shadow": _GATE,
    "speculation": {},
    "sentence": {
        "index": _COUNT,
        "text": _TEXT,
        "cited": _TEXTS,
        "passed": _FLAG,
        "reason": _TEXT_OR_NULL,
        "detail": _TEXT,
        "evidence": _CITED,
        "ms": _SECONDS,
    },
    "spoken": {
        "index": _COUNT,
        "text": _TEXT,
        "start_s": _SECONDS,
        "end_s": _SECONDS,
        "complete": _FLAG,
        "source": _TEXT_OR_NULL,
    },
    "prompt": {},
    "fallback": {},
    "paused": {},
    "resumed": {},
    "barge_in": {"heard": _TEXT},
    "keys": {"text": _TEXT},
    "halt": {"reason": _TEXT},
    "handoff": {"reason": _TEXT, "packet": {}},
    "handoff_unspoken": {},
    "reply_ended": {"outcome": _TEXT, "first_audio_s": _NUMBER_OR_NULL},
    "consent": {"to": _TEXT, "given": _FLAG, "how": _TEXT},
    "timing": {"stages_ms": _MS},
    "error": {"where": _TEXT, "message": _TEXT},
    "call_ended": {
        "reason": {"enum": list(get_args(Ending))},
        "length_s": _SECONDS,
        "turns": _COUNT,
        "stale_events": _COUNT,
        "counters": {"type": "object"},
    },
}
"""Kind -> the fields it must have. An empty entry is free-form."""

_COUNTED = {"generated": _COUNT, "checked": _COUNT, "blocked": _map(_COUNT), "spoken": _COUNT}

OPTIONAL: Mapping[str, Mapping[str, Schema]] = {
    "gate": {"not_finite": _map(_TEXT)},
    "shadow": {"not_finite": _map(_TEXT)},
    "sentence": {
        "others": _CITED,
        "question": _TEXT,
        "as_of": _TEXT,
        "before": _TEXTS,
        "after": _TEXTS,
        "min_relevance": _NUMBER_OR_NULL,
        "relevance": _map(_NUMBER_OR_NULL),
    },
    "handoff": {"delivery": {"enum": ["delivered", "spooled", "failed"]}, "detail": _TEXT},
    "reply_ended": {"sentences": _record(**_COUNTED)},
    "paused": {"ducked_s": _NUMBER_OR_NULL},
    "resumed": {"why": {"enum": ["backchannel", "echo", "nothing"]}},
}
"""Kind -> fields that journals of the first version lack, but that must be right where they are."""

EVENT_KINDS = frozenset(EVENTS)

UNFINISHED_KINDS = frozenset({"partial", "speculation"})
"""Events whose text may break off inside a word or number, because the caller is still speaking."""

HEADER_SCHEMA: Schema = {
    "$schema": DIALECT,
    "title": "First line of a call's journal",
    **_record(
        type={"const": "call"},
        schema={"const": SCHEMA_VERSION},
        call={"type": "string", "pattern": r"^[A-Za-z0-9_-][A-Za-z0-9._-]{0,79}$"},
        config_sha=_TEXT_OR_NULL,
        models={"type": ["object", "null"]},
        kb_version=_TEXT_OR_NULL,
        as_of=_TEXT_OR_NULL,
        started={"type": "string", "format": "date-time"},
    ),
}


def event_schema(kind: str) -> Schema:
    """The JSON Schema of one kind of event. KeyError if there is none."""
    common: dict[str, Schema] = {"type": {"const": kind}, "t": _SECONDS, "turn": _COUNT}
    fields = EVENTS[kind]
    return {
        "$schema": DIALECT,
        "title": f"Journal event: {kind}",
        "type": "object",
        "properties": {**common, **fields, **OPTIONAL.get(kind, {}), "truncated": {"const": True}},
        "required": list(common),
        "if": {"not": {"required": ["truncated"]}},
        "then": {"required": list(fields)},
    }


def published() -> Schema:
    """All of it as one JSON Schema for a line of a journal: what data/schemas/journal/v1.json holds."""
    kinds = {"call": HEADER_SCHEMA, **{kind: event_schema(kind) for kind in sorted(EVENT_KINDS)}}
    return {
        "$schema": DIALECT,
        "title": "A line of a call's journal",
        "description": f"Schema version {SCHEMA_VERSION}. The first line is of type call, each later one an event.",
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"description": "what this line tells", "enum": list(kinds)}},
        "allOf": [
            {"if": {"properties": {"type": {"const": kind}}}, "then": {"$ref": f"#/$defs/{kind}"}}
            for kind in kinds
        ],
        "$defs": {
            kind: {key: part for key, part in schema.items() if key != "$schema"}
            for kind, schema in kinds.items()
        },
    }


def validate_event(event: object) -> list[str]:
    """What is wrong with one line of a journal, header or event; empty if nothing is. Never raises."""
    kind = event.get("type") if isinstance(event, Mapping) else None
    if not isinstance(kind, str) or (kind != "call" and kind not in EVENT_KINDS):
        return [f"type: {kind!r} is no journal event"]
    faults = sorted(_validator(kind).iter_errors(event), key=lambda fault: fault.json_path)
    return [f"{kind} {fault.json_path}: {fault.message[:200]}" for fault in faults]


@cache
def _validator(kind: str) -> Any:
    # Imported here: the agent writes journals at every start and validates them only in doctor and tests.
    from jsonschema import Draft202012Validator

    return Draft202012Validator(HEADER_SCHEMA if kind == "call" else event_schema(kind))
