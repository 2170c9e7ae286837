"""Pure: one turn -> the full table of it for people. Every score is shown, of the passages the first ten."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from voice_agent.doors.call_blocks import compact, verdict_of
from voice_agent.doors.tables import Block, Row, number
from voice_agent.record.call_record import PHRASE, RankedRecord, SentenceRecord, SpokenRecord, TurnRecord
from voice_agent.record.gate_reading import GateRow, gate_rows
from voice_agent.record.stages import failure_of
from voice_agent.record.values import compared, spoken_diff

SHOWN_PASSAGES = 10
"""How many passages a person sees; --json has them all."""

BAR = 32
"""Characters of the longest stage's bar."""


def turn_blocks(turn: TurnRecord) -> Iterator[Block]:
    """A turn, stage by stage: heard and searched, rankings, gate, sentences, what was played, times."""
    name = f"turn {turn.turn}"
    yield Block(name, tuple((key, value) for key, value in _summary(turn) if value))
    yield _rankings_block(f"{name}: passages", turn)
    yield _gate_block(f"{name}: gate", turn)
    for sentence in turn.sentences:
        yield _sentence_block(f"{name}: sentence {sentence.index}", sentence)
        yield _values_block(f"{name}: sentence {sentence.index}: values", sentence)
    yield Block(
        f"{name}: spoken",
        tuple(_spoken_row(turn, spoken) for spoken in turn.spoken),
        ("when", "text", "played", "source", "[-written-] {+spoken+}"),
    )
    yield Block(f"{name}: times", tuple(_bars(turn.stages_ms)), ("stage", "ms", ""))


def _summary(turn: TurnRecord) -> list[tuple[str, str]]:
    failure = failure_of(turn)
    failed = [] if failure is None else [failure.stage, failure.cause, failure.detail]
    return [
        ("failed at", ": ".join(filter(None, failed))),
        ("heard", turn.heard),
        ("raw", turn.raw),
        ("dropped", turn.dropped or ""),
        ("confidence", number(turn.confidence) if turn.confidence is not None else ""),
        ("hot words", " ".join(turn.hot_words)),
        ("query", turn.query),
        ("rewritten", turn.rewritten),
        ("terms", " ".join(turn.terms)),
        ("codes", " ".join(turn.codes)),
        ("history", " | ".join(turn.history)),
        ("repairs", "; ".join(compact(repair) for repair in turn.repairs)),
        ("as of", turn.as_of),
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


def _rankings_block(title: str, turn: TurnRecord) -> Block:
    """A passage a row, in the final order: its rank and score in each channel, fused and reranked."""
    columns = {**turn.channels, "fused": turn.fused, "reranked": turn.reranked}
    lists = (turn.reranked, turn.fused, *turn.channels.values())
    passages = list(dict.fromkeys(found.id for ranking in lists for found in ranking))
    shown = passages[:SHOWN_PASSAGES]
    more = f" (first {len(shown)} of {len(passages)})" if len(passages) > len(shown) else ""
    rows = tuple((one, *(_place(ranking, one) for ranking in columns.values())) for one in shown)
    return Block(title + more, rows, ("passage", *columns))


def _place(ranking: Sequence[RankedRecord], passage: str) -> str:
    """2 (0.8123), or - where it is not listed."""
    found = next((one for one in ranking if one.id == passage), None)
    return "-" if found is None else f"{found.rank} ({number(found.score, 4)})"


def _gate_block(title: str, turn: TurnRecord) -> Block:
    if turn.gate is None:
        return Block(title, ())
    alone = [
        ("threshold " + name, number(value), "", "", "", "")
        for name, value in turn.gate.thresholds.items()
        if not name.startswith("weight_")
    ]
    columns = ("feature", "value", "needed", "weight", "share", "holds")
    return Block(title, (*(_feature_row(row) for row in gate_rows(turn.gate)), *alone), columns)


def _feature_row(row: GateRow) -> Row:
    holds = "" if row.holds is None else "yes" if row.holds else "NO"
    asked = (number(part) if part is not None else "" for part in (row.least, row.weight, row.share))
    return row.name, number(row.value), *asked, holds


def _sentence_block(title: str, sentence: SentenceRecord) -> Block:
    rows: list[Row] = [
        ("text", sentence.text),
        ("verdict", f"{verdict_of(sentence)} ({number(sentence.ms, 1)} ms)"),
        ("cites", ", ".join(sentence.cited)),
        *(
            (f"[{e.citation_id}] {e.id}", f"{e.text} ({e.source})" if e.source else e.text)
            for e in sentence.evidence
        ),
    ]
    return Block(title, tuple(row for row in rows if row[1]))


def _values_block(title: str, sentence: SentenceRecord) -> Block:
    rows = tuple((row.said, row.held or "-", row.relation, row.passage) for row in compared(sentence))
    return Block(title, rows, ("said", "in the passage", "compared", "passage"))


def _spoken_row(turn: TurnRecord, spoken: SpokenRecord) -> Row:
    when = f"{number(spoken.start_s, 2)}-{number(spoken.end_s, 2)} s"
    played = "whole" if spoken.complete else "cut"
    return when, spoken.text, played, spoken.source, _changes(turn, spoken)


def _changes(turn: TurnRecord, spoken: SpokenRecord) -> str:
    """What the voice said otherwise, marked as in a word diff; empty for our own phrases and where nothing differs."""
    written = next((s.text for s in turn.sentences if s.index == spoken.index), None)
    if written is None or spoken.source == PHRASE:
        return ""
    pieces = spoken_diff(written, spoken.text)
    if all(piece.kind == "same" for piece in pieces):
        return ""
    marks = {"same": "{}", "written": "[-{}-]", "spoken": "{{+{}+}}"}
    return "".join(marks[piece.kind].format(piece.text) for piece in pieces)


def _bars(stages_ms: Mapping[str, float]) -> Iterator[Row]:
    longest = max(stages_ms.values(), default=0.0)
    for stage, ms in stages_ms.items():
        share = ms / longest if longest > 0 else 0.0
        yield stage, number(float(ms), 1), "█" * max(round(share * BAR), 1 if ms > 0 else 0)
