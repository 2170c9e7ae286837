"""Pure: calls -> tables for people. The list of calls, and one call as a transcript with evidence and verdicts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from voice_agent.doors.tables import Block, Row, number
from voice_agent.record.call_record import PHRASE, CallRecord, SentenceRecord, TurnRecord
from voice_agent.record.jsonable import plain
from voice_agent.record.stages import failure_of
from voice_agent.record.summary import CallSummary, TurnSummary

_CALL_COLUMNS = (
    "call",
    "started",
    "length s",
    "turns",
    "outcomes",
    "failed at",
    "hand-off",
    "slowest stage",
    "journal",
)


def calls_block(title: str, calls: Sequence[CallSummary], nothing: str = "no journals here") -> Block:
    """One row a call; `nothing` is said where there is none."""
    if not calls:
        return Block(title, ((nothing,),))
    return Block(title, tuple(_call_row(call) for call in calls), _CALL_COLUMNS)


def call_block(call: CallRecord) -> Block:
    """The call as a whole: when, how it ended, with which models, and what is wrong with its journal."""
    facts = {
        key: value for key, value in call.header.items() if key not in ("type", "schema", "call", "started")
    }
    rows: list[Row] = [
        ("started", call.started),
        ("length s", number(call.length_s, 1)),
        ("ended", call.ended or "-"),
        ("hand-off", call.handoff or "-"),
        *((name, compact(value)) for name, value in facts.items()),
        *((f"ready: {stage}", f"{number(float(ms), 0)} ms") for stage, ms in call.ready_ms.items()),
        *((f"count: {name}", compact(value)) for name, value in call.counters.items()),
        ("stale events", number(call.stale_events)),
        *(("journal", problem) for problem in call.problems),
    ]
    return Block(f"call {call.call}", tuple(rows))


def transcript_block(call: CallRecord) -> Block:
    """Who said what, turn by turn: each sentence with its verdict and the passage it rests on."""
    rows = tuple(row for turn in call.turns for row in _turn_rows(turn))
    return Block("transcript", rows, ("turn", "at s", "who", "words", "verdict"))


def _turn_rows(turn: TurnRecord) -> Iterator[Row]:
    name = str(turn.turn)
    for heard in turn.utterances:
        dropped = f"dropped: {heard.dropped}" if heard.dropped else ""
        yield name, number(heard.start_s, 2), "caller", heard.text or heard.raw, dropped
    if turn.gate is not None:
        yield name, "", "gate", turn.gate.reason or "", turn.gate.outcome
    for sentence in turn.sentences:
        yield from _sentence_rows(name, turn, sentence)
    for spoken in turn.spoken:
        if spoken.source == PHRASE:
            yield name, number(spoken.start_s, 2), "agent", spoken.text, "our phrase"
    for error in turn.errors:
        yield name, "", "fault", error, ""
    yield name, "", "end", _ending(turn), _failed(turn)


def _sentence_rows(name: str, turn: TurnRecord, sentence: SentenceRecord) -> Iterator[Row]:
    heard = next((spoken for spoken in turn.said if spoken.index == sentence.index), None)
    played = "not played" if heard is None else "" if heard.complete else "cut"
    verdict = ", ".join(filter(None, (verdict_of(sentence), played)))
    yield name, number(heard.start_s, 2) if heard else "", "agent", sentence.text, verdict
    for cited in sentence.evidence:
        yield (
            name,
            "",
            f"[{cited.citation_id}]",
            cited.text,
            " · ".join(filter(None, (cited.id, cited.source))),
        )


def verdict_of(sentence: SentenceRecord) -> str:
    """passed, or the reason with its detail."""
    if sentence.passed:
        return "passed"
    reason = f"blocked: {sentence.reason or 'no reason given'}"
    return f"{reason} ({sentence.detail})" if sentence.detail else reason


def _ending(turn: TurnRecord) -> str:
    waited = "" if turn.first_audio_s is None else f"first sound after {turn.first_audio_s:.2f} s"
    given = " ".join(filter(None, ("hand-off", turn.handoff, turn.delivery))) if turn.handoff else ""
    return ", ".join(filter(None, (turn.outcome or "unfinished", waited, given)))


def _failed(turn: TurnRecord) -> str:
    failure = failure_of(turn)
    return "" if failure is None else f"failed at {failure.stage}: {failure.cause}"


def _call_row(call: CallSummary) -> Row:
    slowest = call.slowest
    failed = dict.fromkeys(turn.failed_at for turn in call.turns if turn.failed_at)
    return (
        call.call,
        call.started,
        number(call.length_s, 1),
        str(len(call.turns)),
        " ".join(_outcome(turn) for turn in call.turns),
        " ".join(failed) or "-",
        call.handoff or "-",
        f"{slowest[0]} {slowest[1]:.0f} ms" if slowest else "-",
        "; ".join(call.problems) or "complete",
    )


def _outcome(turn: TurnSummary) -> str:
    return f"{turn.turn}:{turn.outcome or '-'}" + (f"({turn.reason})" if turn.reason else "")


def compact(value: object) -> str:
    """A text as it is, anything else as JSON in one line."""
    return value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False)
