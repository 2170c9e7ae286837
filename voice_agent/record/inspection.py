"""Journals read back: what happened in a call, turn by turn, as frozen facts.

A journal may end inside a line (its process was killed) or hold a line that is no JSON (a full disk): both are
counted and told, never fatal. Fields of a wrong type read as absent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from voice_agent.errors import InputError
from voice_agent.record.call_record import (
    CallRecord,
    CitedRecord,
    GateRecord,
    RankedRecord,
    SentenceRecord,
    SpokenRecord,
    TurnRecord,
)

Event = Mapping[str, Any]

_TURN_KINDS = frozenset(
    {
        "transcript",
        "query",
        "recall",
        "gate",
        "sentence",
        "spoken",
        "barge_in",
        "handoff",
        "reply_ended",
        "error",
    }
)
# What makes a turn worth showing: a noise that starts and ends without a transcript is no turn.


def read_call(path: Path) -> CallRecord:
    """One journal. Raises InputError if it cannot be read or holds no event at all."""
    try:
        data = path.read_bytes()
    except OSError as e:
        raise InputError(
            f"{path}: cannot be read ({e.strerror}); give a journal, a folder or a call id"
        ) from e
    events, broken, torn = _parse(data)
    if not events:
        raise InputError(f"{path}: no journal of a call (no readable event in it)")
    header = next((e for e in events if e["type"] == "call"), {})
    facts = [e for e in events if e["type"] != "call"]
    end = _last(facts, "call_ended")
    return CallRecord(
        call=_text(header, "call") or path.stem,
        path=path,
        header=header,
        turns=tuple(_turn(number, mine) for number, mine in _by_turn(facts)),
        ready_ms=_numbers(_last(facts, "ready"), "timings_ms"),
        ended=_text(end, "reason") if end else None,
        length_s=_number(end, "length_s"),
        stale_events=_integer(end, "stale_events"),
        counters=_mapping(end, "counters"),
        events=len(events),
        torn=torn,
        broken=broken,
    )


def list_calls(directory: Path) -> list[CallRecord]:
    """Every journal of a folder, oldest first. Files without any event are left out. Raises InputError."""
    if not directory.is_dir():
        raise InputError(f"{directory}: no such folder; give the folder of the journals with --logs")
    calls = []
    for path in sorted(directory.glob("*.jsonl")):
        try:
            calls.append(read_call(path))
        except InputError:
            continue
    return sorted(calls, key=lambda record: (record.started, record.call))


def _parse(data: bytes) -> tuple[list[dict[str, Any]], int, bool]:
    """Events, how many lines within are no event, whether the last line is incomplete."""
    *lines, rest = data.split(b"\n")
    events = [_event(line) for line in lines if line.strip()]
    broken = sum(event is None for event in events)
    last = _event(rest) if rest.strip() else None
    whole = [event for event in [*events, last] if event is not None]
    return whole, broken, bool(rest.strip()) and last is None


def _event(line: bytes) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and isinstance(event.get("type"), str) else None


def _by_turn(events: Iterable[Event]) -> list[tuple[int, list[Event]]]:
    turns: dict[int, list[Event]] = {}
    for event in events:
        turns.setdefault(_integer(event, "turn") or 0, []).append(event)
    return [(n, mine) for n, mine in sorted(turns.items()) if any(e["type"] in _TURN_KINDS for e in mine)]


def _turn(number: int, events: list[Event]) -> TurnRecord:
    heard = _not_heard_again([e for e in events if e["type"] == "transcript"])
    kept = [e for e in heard if not e.get("dropped")] or heard[-1:]
    query, recall, ended = _last(events, "query"), _last(events, "recall"), _last(events, "reply_ended")
    return TurnRecord(
        turn=number,
        heard=" ".join(_text(e, "text") for e in kept).strip(),
        raw=" ".join(_text(e, "raw") for e in kept).strip(),
        confidence=_number(kept[-1], "confidence") if kept else None,
        dropped=_optional(kept[-1], "dropped") if kept else None,
        hot_words=tuple(word for e in kept for word in _texts(e, "hot_words")),
        query=_text(query, "text"),
        terms=_texts(query, "terms"),
        codes=_texts(query, "codes"),
        history=_texts(query, "history"),
        repairs=tuple(_items(query, "repairs")),
        conditions=_mapping(query, "conditions"),
        lifted=_texts(query, "lifted"),
        # A wording by a model, marked by whom, only helped to find; the question was read as it stands here.
        rewritten=_text(_last((e for e in events if "by" not in e), "rewrite"), "after"),
        channels={name: _ranking(found) for name, found in _mapping(recall, "channels").items()},
        down={name: str(cause) for name, cause in _mapping(recall, "down").items()},
        fused=_ranking(_last(events, "fusion").get("ranking")),
        reranked=_ranking(_last(events, "rerank").get("ranking")),
        gate=_gate(_last(events, "gate")),
        sentences=tuple(_sentence(e) for e in events if e["type"] == "sentence"),
        spoken=tuple(_spoken(e) for e in events if e["type"] == "spoken"),
        outcome=_optional(ended, "outcome"),
        counts=_mapping(ended, "sentences"),
        handoff=_optional(_last(events, "handoff"), "reason"),
        delivery=_optional(_last(events, "handoff"), "delivery"),
        halted=_optional(_last(events, "halt"), "reason"),
        barge_ins=tuple(_text(e, "heard") for e in events if e["type"] == "barge_in"),
        errors=tuple(f"{_text(e, 'where')}: {_text(e, 'message')}" for e in events if e["type"] == "error"),
        stages_ms={
            k: v for e in events if e["type"] == "timing" for k, v in _numbers(e, "stages_ms").items()
        },
        first_audio_s=_number(ended, "first_audio_s"),
    )


def _not_heard_again(transcripts: Sequence[Event]) -> list[Event]:
    """Without those whose span a later one covers: a caller who went on was recognised anew, from the beginning."""
    return [
        one
        for i, one in enumerate(transcripts)
        if (start_s := _number(one, "start_s")) is None
        or not any(_number(later, "start_s") == start_s for later in transcripts[i + 1 :])
    ]


def _gate(event: Event) -> GateRecord | None:
    if not event:
        return None
    features = {k: v if _is_number(v) else None for k, v in _mapping(event, "features").items()}
    return GateRecord(
        _text(event, "outcome"), _optional(event, "reason"), features, _numbers(event, "thresholds")
    )


def _sentence(event: Event) -> SentenceRecord:
    return SentenceRecord(
        index=_integer(event, "index") or 0,
        text=_text(event, "text"),
        passed=event.get("passed") is True,
        reason=_optional(event, "reason"),
        detail=_text(event, "detail"),
        cited=_texts(event, "cited"),
        evidence=tuple(
            CitedRecord(_text(e, "citation_id"), _text(e, "id"), _text(e, "source"), _text(e, "text"))
            for e in _items(event, "evidence")
            if isinstance(e, dict)
        ),
        ms=_number(event, "ms"),
    )


def _spoken(event: Event) -> SpokenRecord:
    return SpokenRecord(
        index=_integer(event, "index") or 0,
        text=_text(event, "text"),
        start_s=_number(event, "start_s"),
        end_s=_number(event, "end_s"),
        complete=event.get("complete") is True,
        source=_text(event, "source"),
    )


def _ranking(value: object) -> tuple[RankedRecord, ...]:
    rows = [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
    return tuple(
        RankedRecord(_text(row, "id"), _integer(row, "rank") or place, _number(row, "score"))
        for place, row in enumerate(rows, start=1)
    )


def _last(events: Iterable[Event], kind: str) -> Event:
    found: Event = {}
    for event in events:
        if event["type"] == kind:
            found = event
    return found


def _text(event: Event, key: str) -> str:
    value = event.get(key)
    return value if isinstance(value, str) else ""


def _optional(event: Event, key: str) -> str | None:
    return _text(event, key) or None


def _texts(event: Event, key: str) -> tuple[str, ...]:
    return tuple(item for item in _items(event, key) if isinstance(item, str))


def _items(event: Event, key: str) -> list[Any]:
    value = event.get(key)
    return value if isinstance(value, list) else []


def _mapping(event: Event, key: str) -> dict[str, Any]:
    value = event.get(key)
    return value if isinstance(value, dict) else {}


def _numbers(event: Event, key: str) -> dict[str, float]:
    return {name: value for name, value in _mapping(event, key).items() if _is_number(value)}


def _number(event: Event, key: str) -> float | None:
    value = event.get(key)
    return value if _is_number(value) else None


def _integer(event: Event, key: str) -> int | None:
    value = event.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
