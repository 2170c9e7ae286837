"""The parts of the OpenAPI document that the routes share: problems, the event stream, the key."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from voice_agent.service.problem import KINDS, PROBLEM_JSON, Problem
from voice_agent.service.shapes import ProblemShape
from voice_agent.service.streaming import EVENT_STREAM

Responses = dict[int | str, dict[str, Any]]

ALWAYS: Final = ("bad-request", "key-in-url", "no-key", "unknown-host", "foreign-origin", "too-many")
"""What any request can be refused for."""

ASKING: Final = (*ALWAYS, "too-slow", "too-large", "invalid", "queue-full", "unavailable", "deadline")

EVENT: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "event": {"enum": ["sentence", "answer", "problem"]},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "required": ["event", "data"],
    "description": "`sentence`: index, text, marked, cited. `answer`: as of POST /ask. `problem`: as of any error.",
}

_SAID: Final = {"event": "sentence", "data": '{"index": 0, "text": "退款3天内到账。", "cited": ["refund"]}'}

_ABOUT: Final = """Answers typed questions from your documents, or refuses. Every sentence is checked against the
passage it cites before it is given out. Errors are application/problem+json."""


def problems(*kinds: str) -> Responses:
    """The responses of a route that can fail in these ways."""
    by_status: dict[int, list[str]] = {}
    for kind in kinds:
        by_status.setdefault(KINDS[kind][0], []).append(kind)
    return {status: _problem(status, named) for status, named in sorted(by_status.items())}


def _problem(status: int, kinds: list[str]) -> dict[str, Any]:
    examples = {kind: {"value": Problem(kind, "…").as_json()} for kind in kinds}
    schema = {"$ref": "#/components/schemas/ProblemShape"}
    told: dict[str, Any] = {
        "description": "; ".join(KINDS[kind][1] for kind in kinds),
        "content": {PROBLEM_JSON: {"schema": schema, "examples": examples}},
    }
    if status in (429, 503):
        seconds = {"schema": {"type": "integer", "minimum": 1}, "description": "seconds to wait"}
        told["headers"] = {"Retry-After": seconds}
    return told


def event_stream() -> dict[str, Any]:
    """The successful response of the stream."""
    return {
        "description": "One event a checked sentence, then the whole answer",
        "content": {EVENT_STREAM: {"schema": EVENT, "example": _SAID}},
    }


def describe(app: FastAPI) -> dict[str, Any]:
    """The document, made once."""
    if app.openapi_schema is None:
        document = get_openapi(title=app.title, version=app.version, description=_ABOUT, routes=app.routes)
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        schemas["ProblemShape"] = ProblemShape.model_json_schema()
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        app.openapi_schema = document
    return app.openapi_schema
