"""The agent in the words of operations, day by day: how often a person was needed, asked twice, kept waiting. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from retrieval.metrics import percentile
from voice_agent.record.summary import CallSummary


@dataclass(frozen=True, slots=True)
class DayNumbers:
    """One day's calls. Rates are None over nothing; times in seconds.

    `handoff_rate`: calls that went to a person. `repeated_rate`: turns that asked again what the turn before had asked.
    `false_drop_rate`: utterances that were dropped although the caller spoke, of those heard and these. `blocked`:
    sentences by reason. `failed_at`: turns by stage.
    """

    day: str
    calls: int
    turns: int
    handoff_rate: float | None
    repeated_rate: float | None
    false_drop_rate: float | None
    first_audio_p50_s: float | None
    first_audio_p95_s: float | None
    handoffs: Mapping[str, int]
    blocked: Mapping[str, int]
    failed_at: Mapping[str, int]


def by_day(calls: Iterable[CallSummary]) -> tuple[DayNumbers, ...]:
    """Each day that had a call, in order; calls that do not tell their day come first, under an empty one."""
    days: dict[str, list[CallSummary]] = {}
    for call in calls:
        days.setdefault(call.day, []).append(call)
    return tuple(_numbers(day, days[day]) for day in sorted(days))


def _numbers(day: str, calls: Sequence[CallSummary]) -> DayNumbers:
    turns = [turn for call in calls for turn in call.turns]
    waits = [turn.first_audio_s for turn in turns if turn.first_audio_s is not None]
    drops = sum(call.false_drops for call in calls)
    blocked: Counter[str] = Counter()
    for turn in turns:
        blocked.update(turn.blocked)
    return DayNumbers(
        day=day,
        calls=len(calls),
        turns=len(turns),
        handoff_rate=_share(sum(call.handoff is not None for call in calls), len(calls)),
        repeated_rate=_share(sum(turn.repeated for turn in turns), len(turns)),
        false_drop_rate=_share(drops, drops + sum(call.utterances for call in calls)),
        first_audio_p50_s=percentile(waits, 0.5),
        first_audio_p95_s=percentile(waits, 0.95),
        handoffs=dict(Counter(call.handoff for call in calls if call.handoff).most_common()),
        blocked=dict(blocked.most_common()),
        failed_at=dict(Counter(str(turn.failed_at) for turn in turns if turn.failed_at).most_common()),
    )


def _share(count: int, total: int) -> float | None:
    return round(count / total, 4) if total else None
