"""Laws of the format: the kinds are the design's, and every one states what it must carry."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from voice_agent.record.jsonable import line, plain
from voice_agent.record.schema import (
    EVENT_KINDS,
    EVENTS,
    HEADER_SCHEMA,
    SCHEMA_VERSION,
    event_schema,
    published,
    validate_event,
)

DESIGNED = {
    "ready", "device", "speech_started", "partial", "speech_ended", "transcript", "query", "rewrite", "recall",
    "fusion", "rerank", "gate", "shadow", "speculation", "sentence", "spoken", "prompt", "fallback", "paused",
    "resumed", "barge_in", "halt", "handoff", "handoff_unspoken", "reply_ended", "timing", "error", "call_ended",
    "consent", "keys",
}  # fmt: skip

RANKED = [{"id": "p1", "rank": 1, "score": 3.5}, {"id": "p2", "rank": 2, "score": None}]
SCORED = [{"id": "p1", "score": 0.5}]
CITED = [{"citation_id": "S1", "id": "p1", "source": "手册", "text": "文"}]

GOOD: dict[str, dict[str, Any]] = {
    "ready": {"timings_ms": {"asr": 812.5}},
    "partial": {"text": "退"},
    "transcript": {
        "text": "退款", "raw": "退宽", "confidence": 0.9, "voiced_s": 1.2, "seconds": 0.3, "dropped": None,
        "hot_words": ["退款"], "start_s": 0.5, "end_s": 1.7,
    },
    "query": {"text": "退款", "terms": ["退款"], "codes": [], "history": [], "repairs": [{"to": "退款"}]},
    "rewrite": {"before": "它呢", "after": "退款呢"},
    "recall": {"channels": {"bm25": RANKED, "dense": []}, "down": {"phonetic": "late"}},
    "fusion": {"ranking": SCORED},
    "rerank": {"ranking": SCORED},
    "gate": {
        "outcome": "REFUSE", "reason": "LOW_SCORE", "features": {"top": 0.2, "margin": None},
        "thresholds": {"top": 0.5},
    },
    "shadow": {"outcome": "CLARIFY", "reason": "LOW_SCORE", "features": {"top": 0.2}, "thresholds": {"top": 0.1}},
    "sentence": {
        "index": 0, "text": "三天。[S1]", "cited": ["p1"], "passed": False, "reason": "NUM_UNSUPPORTED",
        "detail": "三 / 五", "evidence": CITED, "ms": 2.5,
    },
    "spoken": {"index": 0, "text": "三天。", "start_s": 3.0, "end_s": 4.0, "complete": True, "source": "answer"},
    "barge_in": {"heard": "等等"},
    "keys": {"text": "〈PHONE:1〉"},
    "halt": {"reason": "VERDICT"},
    "handoff": {"reason": "GATE", "packet": "logs/handoff/a.json"},
    "reply_ended": {"outcome": "answered", "first_audio_s": 1.4},
    "consent": {"to": "recording", "given": True, "how": "key 1"},
    "timing": {"stages_ms": {"asr": 300, "search": 20.5}},
    "error": {"where": "asr", "message": "boom"},
    "call_ended": {"reason": "hung_up", "length_s": 12.5, "turns": 2, "stale_events": 0, "counters": {}},
}  # fmt: skip


def _event(kind: str, **changed: Any) -> dict[str, Any]:
    return {"type": kind, "t": 1.5, "turn": 1, **GOOD.get(kind, {}), **changed}


def test_the_kinds_are_those_of_the_design() -> None:
    """No more and no fewer: a reader written from the design knows them all."""
    assert EVENT_KINDS == DESIGNED


@pytest.mark.parametrize("kind", sorted(DESIGNED))
def test_every_schema_is_itself_valid(kind: str) -> None:
    """Published schemas are JSON Schema 2020-12."""
    Draft202012Validator.check_schema(event_schema(kind))
    Draft202012Validator.check_schema(HEADER_SCHEMA)


@pytest.mark.parametrize("kind", sorted(DESIGNED))
def test_a_whole_event_is_valid_and_may_carry_more(kind: str) -> None:
    """Extra fields never make an event wrong."""
    assert validate_event(_event(kind)) == []
    assert validate_event(_event(kind, later_addition=[1])) == []


@pytest.mark.parametrize(("kind", "field"), [(kind, field) for kind in sorted(GOOD) for field in GOOD[kind]])
def test_a_missing_field_is_named(kind: str, field: str) -> None:
    """Each required field of each kind is really required."""
    event = _event(kind)
    del event[field]
    assert any(f"'{field}'" in fault for fault in validate_event(event))


@pytest.mark.parametrize("kind", sorted(kind for kind in EVENTS if EVENTS[kind]))
def test_a_wrong_type_is_found(kind: str) -> None:
    """A field that became something else is named; an object stands in for each (the free-form ones accept it)."""
    for field, schema in EVENTS[kind].items():
        faults = validate_event(_event(kind, **{field: {"x": object}}))
        assert bool(faults) == bool(schema and schema != {"type": "object"}), field


@pytest.mark.parametrize(
    ("kind", "field", "right", "wrong"),
    [
        ("handoff", "delivery", "spooled", "lost"),
        (
            "reply_ended",
            "sentences",
            {"generated": 2, "checked": 2, "blocked": {"POLARITY": 1}, "spoken": 1},
            {"generated": 2, "checked": -1, "blocked": {}, "spoken": 1},
        ),
    ],
)
def test_later_fields_may_be_absent_but_not_wrong(
    kind: str, field: str, right: object, wrong: object
) -> None:
    """A journal written before they were is still valid."""
    assert validate_event(_event(kind)) == []
    assert validate_event(_event(kind, **{field: right})) == []
    assert validate_event(_event(kind, **{field: wrong}))


@pytest.mark.parametrize("key", ["type", "t", "turn"])
def test_every_event_has_kind_time_and_turn(key: str) -> None:
    """Also the free-form ones."""
    event = _event("prompt")
    del event[key]
    assert validate_event(event)


@pytest.mark.parametrize(
    "odd", [None, [], "x", {}, {"type": 3}, {"type": ["gate"]}, {"type": "spoke", "t": 0, "turn": 0}]
)
def test_what_is_no_event_is_told_and_never_raises(odd: object) -> None:
    """Any JSON value may stand in a journal that somebody edited."""
    assert len(validate_event(odd)) == 1


def test_a_cut_event_is_still_valid() -> None:
    """The largest line cuts fields away; such an event promises only kind, time and turn."""
    whole = line(
        {
            f: plain(v)
            for f, v in _event("recall", channels={f"c{i}": RANKED * 500 for i in range(20)}).items()
        }
    )
    event = json.loads(whole)
    assert event["truncated"] is True
    assert validate_event(event) == []


def test_the_header_states_its_version() -> None:
    """A journal of another schema is not taken for ours."""
    header = {
        "type": "call", "schema": 1, "call": "a", "config_sha": "x", "models": {}, "kb_version": None, "as_of": None,
        "started": "2026-11-30T08:00:00+08:00",
    }  # fmt: skip
    assert validate_event(header) == []
    assert validate_event({**header, "schema": 2})
    assert validate_event({**header, "call": "../a"})


PUBLISHED = Path(__file__).resolve().parents[2] / "data" / "schemas" / "journal" / f"v{SCHEMA_VERSION}.json"


def test_the_published_file_is_this_schema() -> None:
    """Whoever reads journals with another program has the same law; `scripts/journal_schema` writes it anew."""
    written = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    assert written == json.loads(json.dumps(published())), "run scripts/journal_schema"


@pytest.mark.parametrize("kind", sorted(DESIGNED))
def test_the_published_file_judges_a_line_as_we_do(kind: str) -> None:
    """By its type, with the fields of that type; header and events by one file, without our code."""
    schema = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    judge = Draft202012Validator(schema)
    assert judge.is_valid(_event(kind))
    assert not judge.is_valid({**_event(kind), "t": "soon"})
    assert not judge.is_valid({**_event(kind), "type": f"{kind}s"})
    for field in GOOD.get(kind, {}):
        assert not judge.is_valid({key: value for key, value in _event(kind).items() if key != field})
