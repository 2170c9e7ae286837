"""Pure: diagnoses and days -> tables for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from retrieval.metrics import Rate
from voice_agent.doors.tables import Block, Row, number
from voice_agent.record.diagnosis import Diagnosed, Loss, losses, worst
from voice_agent.record.operations import DayNumbers

WORST = 20
"""So many of the worst questions a person is shown."""

_DAY_COLUMNS = (
    "day",
    "calls",
    "turns",
    "hand-off rate",
    "repeated questions",
    "false drops",
    "first sound s P50",
    "P95",
    "hand-offs",
    "blocked",
    "failed at",
)


def loss_block(title: str, loss: Loss | None) -> Block:
    """Where one turn lost its passage."""
    if loss is None:
        return Block(title, (("lost at", "nowhere: it came to what was expected"),))
    rows = (("lost at", loss.layer), ("how", loss.detail), ("would have kept it", loss.remedy))
    return Block(title, rows)


def folder_blocks(days: Sequence[DayNumbers], judged: Sequence[Diagnosed], agreed: Rate) -> Iterator[Block]:
    """The days, then the losses of the judged turns layer by layer, then the worst questions."""
    yield Block("by day", tuple(_day_row(day) for day in days), _DAY_COLUMNS)
    lost = losses(judged)
    rows: list[Row] = [(layer, str(count)) for layer, count in lost.items()]
    yield Block(f"lost: {sum(lost.values())} of {len(judged)} judged turns", tuple(rows), ("layer", "turns"))
    worst_rows = tuple(
        (row.question, str(row.lost), str(row.asked), " ".join(row.layers)) for row in worst(judged)[:WORST]
    )
    yield Block("worst questions", worst_rows, ("question", "lost", "asked", "layers"))
    yield Block("each loss", tuple(_loss_row(one) for one in judged if one.loss), _LOSS_COLUMNS)
    yield Block("review", (("agreement of marked turns", rate_text(agreed)),))


_LOSS_COLUMNS = ("call", "turn", "question", "lost at", "how", "would have kept it")


def _loss_row(one: Diagnosed) -> Row:
    loss = one.loss or Loss("gate", "", "")
    return one.call, str(one.turn), one.question, loss.layer, loss.detail, loss.remedy


def rate_text(found: Rate) -> str:
    """0.83 (10 of 12, 0.52-0.98), or a word that nothing was counted."""
    if found.share is None:
        return "nothing marked yet"
    return f"{found.share:.2f} ({found.count} of {found.total}, {found.low:.2f}-{found.high:.2f})"


def _day_row(day: DayNumbers) -> Row:
    return (
        day.day or "-",
        str(day.calls),
        str(day.turns),
        number(day.handoff_rate),
        number(day.repeated_rate),
        number(day.false_drop_rate),
        number(day.first_audio_p50_s, 2),
        number(day.first_audio_p95_s, 2),
        _counted(day.handoffs),
        _counted(day.blocked),
        _counted(day.failed_at),
    )


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "-"
