"""Journals read back: what happened in a call, turn by turn, as frozen facts. Fields of a wrong type read as absent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from voice_agent.record.call_record import (
    CallRecord,
    CitedRecord,
    GateRecord,
    RankedRecord,
    SentenceRecord,
    SpokenRecord,
    TurnRecord,
    UtteranceRecord,
)
from voice_agent.record.fields import (
    Event,
    integer,
    is_number,
    items,
    mapping,
    number,
    numbers,
    optional,
    text,
    texts,
)
from voice_agent.record.lines import Lines, read_lines

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
    return call_of(read_lines(path))


def call_of(lines: Lines) -> CallRecord:
    """The call that these lines of its journal tell."""
    ready, end = _only(lines.events, "ready"), _only(lines.events, "call_ended")
    return CallRecord(
        call=lines.call,
        path=lines.path,
        header=lines.header,
        turns=tuple(_turn(at, mine) for at, mine in _by_turn(lines.events)),
        ready_ms=numbers(ready, "timings_ms"),
        ended=text(end, "reason") if end else None,
        length_s=number(end, "length_s"),
        stale_events=integer(end, "stale_events"),
        counters=mapping(end, "counters"),
        events=lines.count,
        torn=lines.torn,
        broken=lines.broken,
    )


def _only(events: Sequence[Event], kind: str) -> Event:
    return next((event for event in reversed(events) if event["type"] == kind), {})


def _by_turn(events: Iterable[Event]) -> list[tuple[int, list[Event]]]:
    turns: dict[int, list[Event]] = {}
    for event in events:
        turns.setdefault(integer(event, "turn") or 0, []).append(event)
    return [(n, mine) for n, mine in sorted(turns.items()) if any(e["type"] in _TURN_KINDS for e in mine)]


def _turn(turn: int, events: list[Event]) -> TurnRecord:
    kinds: dict[str, list[Event]] = {}
    for event in events:
        kinds.setdefault(event["type"], []).append(event)
    uttered = kinds.get("transcript", [])
    heard = _not_heard_again(uttered)
    kept = [e for e in heard if not e.get("dropped")] or heard[-1:]
    query, recall, ended = _last(kinds, "query"), _last(kinds, "recall"), _last(kinds, "reply_ended")
    handoff = _last(kinds, "handoff")
    return TurnRecord(
        turn=turn,
        heard=" ".join(text(e, "text") for e in kept).strip(),
        raw=" ".join(text(e, "raw") for e in kept).strip(),
        confidence=number(kept[-1], "confidence") if kept else None,
        dropped=optional(kept[-1], "dropped") if kept else None,
        hot_words=tuple(word for e in kept for word in texts(e, "hot_words")),
        utterances=tuple(map(_utterance, uttered)),
        as_of=text(query, "as_of"),
        query=text(query, "text"),
        terms=texts(query, "terms"),
        codes=texts(query, "codes"),
        history=texts(query, "history"),
        repairs=tuple(items(query, "repairs")),
        conditions=mapping(query, "conditions"),
        lifted=texts(query, "lifted"),
        rewritten=_rewritten(kinds.get("rewrite", ())),
        channels={name: _ranking(found) for name, found in mapping(recall, "channels").items()},
        down={name: str(cause) for name, cause in mapping(recall, "down").items()},
        fused=_ranking(_last(kinds, "fusion").get("ranking")),
        reranked=_ranking(_last(kinds, "rerank").get("ranking")),
        gate=_gate(_last(kinds, "gate")),
        sentences=tuple(map(_sentence, _of_last_reply(events))),
        spoken=tuple(map(_spoken, kinds.get("spoken", ()))),
        outcome=optional(ended, "outcome"),
        counts=mapping(ended, "sentences"),
        handoff=optional(handoff, "reason"),
        delivery=optional(handoff, "delivery"),
        halted=optional(_last(kinds, "halt"), "reason"),
        barge_ins=tuple(text(e, "heard") for e in kinds.get("barge_in", ())),
        errors=tuple(f"{text(e, 'where')}: {text(e, 'message')}" for e in kinds.get("error", ())),
        stages_ms={k: v for e in kinds.get("timing", ()) for k, v in numbers(e, "stages_ms").items()},
        first_audio_s=number(ended, "first_audio_s"),
    )


def _rewritten(rewrites: Sequence[Event]) -> str:
    # A wording by a model, marked by whom, only helped to find; the question was read as it stands here.
    return next((text(e, "after") for e in reversed(rewrites) if "by" not in e), "")


def _of_last_reply(events: Iterable[Event]) -> list[Event]:
    """The sentences of the last reply: one that the caller took back by going on has no say in the turn."""
    said: list[Event] = []
    for event in events:
        if event["type"] == "gate":
            said = []
        elif event["type"] == "sentence":
            said.append(event)
    return said


def _not_heard_again(transcripts: Sequence[Event]) -> list[Event]:
    """Without those whose span a later one covers: a caller who went on was recognised anew, from the beginning."""
    return [
        one
        for i, one in enumerate(transcripts)
        if (start_s := number(one, "start_s")) is None
        or not any(number(later, "start_s") == start_s for later in transcripts[i + 1 :])
    ]


def _utterance(event: Event) -> UtteranceRecord:
    return UtteranceRecord(
        text=text(event, "text"),
        raw=text(event, "raw"),
        confidence=number(event, "confidence"),
        dropped=optional(event, "dropped"),
        voiced_s=number(event, "voiced_s"),
        start_s=number(event, "start_s"),
        end_s=number(event, "end_s"),
    )


def _gate(event: Event) -> GateRecord | None:
    if not event:
        return None
    features = {k: v if is_number(v) else None for k, v in mapping(event, "features").items()}
    return GateRecord(
        text(event, "outcome"), optional(event, "reason"), features, numbers(event, "thresholds")
    )


def _sentence(event: Event) -> SentenceRecord:
    return SentenceRecord(
        index=integer(event, "index") or 0,
        text=text(event, "text"),
        passed=event.get("passed") is True,
        reason=optional(event, "reason"),
        detail=text(event, "detail"),
        cited=texts(event, "cited"),
        evidence=tuple(
            CitedRecord(text(e, "citation_id"), text(e, "id"), text(e, "source"), text(e, "text"))
            for e in items(event, "evidence")
            if isinstance(e, dict)
        ),
        ms=number(event, "ms"),
    )


def _spoken(event: Event) -> SpokenRecord:
    return SpokenRecord(
        index=integer(event, "index") or 0,
        text=text(event, "text"),
        start_s=number(event, "start_s"),
        end_s=number(event, "end_s"),
        complete=event.get("complete") is True,
        source=text(event, "source"),
    )


def _ranking(value: object) -> tuple[RankedRecord, ...]:
    rows = [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
    return tuple(
        RankedRecord(text(row, "id"), integer(row, "rank") or place, number(row, "score"))
        for place, row in enumerate(rows, start=1)
    )


def _last(kinds: Mapping[str, Sequence[Event]], kind: str) -> Event:
    found = kinds.get(kind)
    return found[-1] if found else {}
