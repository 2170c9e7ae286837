"""Pure: the facts of a call -> tables for people. Every score is shown, of each ranking the first few."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from voice_agent.doors.tables import Block, Row, number
from voice_agent.record.call_record import CallRecord, RankedRecord, SentenceRecord, TurnRecord
from voice_agent.record.jsonable import plain

SHOWN_RANKS = 5
"""How many of each ranking a person sees; --json has them all."""

_CALL_COLUMNS = ("call", "started", "length s", "turns", "outcomes", "hand-off", "slowest stage", "journal")


def calls_block(title: str, calls: Sequence[CallRecord]) -> Block:
    """One row a call."""
    if not calls:
        return Block(title, (("no journals here",),))
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
        *((name, _compact(value)) for name, value in facts.items()),
        *((f"ready: {stage}", f"{number(float(ms), 0)} ms") for stage, ms in call.ready_ms.items()),
        *((f"count: {name}", _compact(value)) for name, value in call.counters.items()),
        ("stale events", number(call.stale_events)),
        *(("journal", problem) for problem in call.problems),
    ]
    return Block(f"call {call.call}", tuple(rows))


def turn_blocks(turn: TurnRecord) -> Iterator[Block]:
    """A turn, stage by stage: heard and searched, rankings, gate, sentences, what was played, times."""
    name = f"turn {turn.turn}"
    yield Block(name, tuple((key, value) for key, value in _summary(turn) if value))
    for channel, ranking in turn.channels.items():
        yield _ranking_block(f"{name}: {channel}", ranking)
    yield _ranking_block(f"{name}: fused", turn.fused)
    yield _ranking_block(f"{name}: reranked", turn.reranked)
    yield _gate_block(f"{name}: gate", turn)
    for sentence in turn.sentences:
        yield _sentence_block(f"{name}: sentence {sentence.index}", sentence)
    spoken = tuple(
        (f"{number(s.start_s, 2)}-{number(s.end_s, 2)} s", s.text, "whole" if s.complete else "cut", s.source)
        for s in turn.spoken
    )
    yield Block(f"{name}: spoken", spoken, ("when", "text", "played", "source"))
    stages = tuple((stage, number(float(ms), 1)) for stage, ms in turn.stages_ms.items())
    yield Block(f"{name}: times", stages, ("stage", "ms"))


def _gate_block(title: str, turn: TurnRecord) -> Block:
    features = turn.gate.features if turn.gate else {}
    limits = turn.gate.thresholds if turn.gate else {}
    names = dict.fromkeys([*features, *limits])
    rows = tuple((name, number(features.get(name)), number(limits.get(name))) for name in names)
    return Block(title, rows, ("feature", "value", "threshold"))


def _sentence_block(title: str, sentence: SentenceRecord) -> Block:
    verdict = "passed" if sentence.passed else f"blocked: {sentence.reason or 'no reason given'}"
    rows: list[Row] = [
        ("text", sentence.text),
        ("verdict", f"{verdict} ({number(sentence.ms, 1)} ms)"),
        ("detail", sentence.detail),
        ("cites", ", ".join(sentence.cited)),
        *(
            (f"[{e.citation_id}] {e.id}", f"{e.text} ({e.source})" if e.source else e.text)
            for e in sentence.evidence
        ),
    ]
    return Block(title, tuple(row for row in rows if row[1]))


def _summary(turn: TurnRecord) -> list[tuple[str, str]]:
    return [
        ("heard", turn.heard),
        ("raw", turn.raw if turn.raw != turn.heard else ""),
        ("dropped", turn.dropped or ""),
        ("confidence", number(turn.confidence) if turn.confidence is not None else ""),
        ("hot words", " ".join(turn.hot_words)),
        ("query", turn.query),
        ("rewritten", turn.rewritten),
        ("terms", " ".join(turn.terms)),
        ("codes", " ".join(turn.codes)),
        ("history", " | ".join(turn.history)),
        ("repairs", "; ".join(_compact(repair) for repair in turn.repairs)),
        ("conditions", ", ".join(f"{name} {turn.conditions.get(name)}" for name in _narrowed(turn))),
        ("lifted", " ".join(turn.lifted)),
        ("channels down", "; ".join(f"{name}: {cause}" for name, cause in turn.down.items())),
        ("gate", f"{turn.gate.outcome} {turn.gate.reason or ''}".strip() if turn.gate else ""),
        ("halted", turn.halted or ""),
        ("hand-off", " ".join(filter(None, (turn.handoff, turn.delivery)))),
        ("barge-in", " | ".join(turn.barge_ins)),
        ("errors", " | ".join(turn.errors)),
        ("outcome", turn.outcome or ""),
        ("sentences", _counts(turn.counts)),
        ("first audio s", number(turn.first_audio_s, 2) if turn.first_audio_s is not None else ""),
    ]


def _narrowed(turn: TurnRecord) -> list[str]:
    """The names of the conditions that say more than the day of the call; of those heard, all."""
    told = {name for name, value in turn.conditions.items() if value and name not in ("as_of", "heard")}
    heard = turn.conditions.get("heard") or ()
    return sorted(told | {name for name in heard if isinstance(name, str)})


def _counts(counts: Mapping[str, object]) -> str:
    """generated 2, checked 2, blocked 1 (POLARITY 1), spoken 1"""
    shown = []
    for name, count in counts.items():
        if isinstance(count, Mapping):
            reasons = ", ".join(f"{reason} {n}" for reason, n in count.items())
            count = f"{sum(count.values())} ({reasons})" if reasons else 0
        shown.append(f"{name} {count}")
    return ", ".join(shown)


def _ranking_block(title: str, ranking: tuple[RankedRecord, ...]) -> Block:
    shown = ranking[:SHOWN_RANKS]
    more = f" (first {len(shown)} of {len(ranking)})" if len(ranking) > len(shown) else ""
    rows = tuple((str(found.rank), found.id, number(found.score, 4)) for found in shown)
    return Block(f"{title}{more}", rows, ("rank", "passage", "score"))


def _outcome(turn: TurnRecord) -> str:
    reason = turn.gate.reason if turn.gate and turn.gate.reason else ""
    return f"{turn.turn}:{turn.outcome or '-'}" + (f"({reason})" if reason else "")


def _call_row(call: CallRecord) -> Row:
    return (
        call.call,
        call.started,
        number(call.length_s, 1),
        str(len(call.turns)),
        " ".join(_outcome(turn) for turn in call.turns),
        call.handoff or "-",
        _slowest(call),
        "; ".join(call.problems) or "complete",
    )


def _slowest(call: CallRecord) -> str:
    stage = call.slowest_stage
    return f"{stage} {max(t.stages_ms.get(stage, 0) for t in call.turns):.0f} ms" if stage else "-"


def _compact(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False)
