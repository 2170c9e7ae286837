"""Which calls a list shows, and which turns are drawn for review. Pure: the same seed draws the same turns."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from retrieval.types import GateReason, VerdictReason
from voice_agent.floor.actions import HandoffReason
from voice_agent.record.stages import Stage
from voice_agent.record.summary import CallSummary, TurnSummary

REASONS: Final = tuple(
    dict.fromkeys(str(reason) for kind in (HandoffReason, GateReason, VerdictReason) for reason in kind)
)
"""Everything that `reason` of a filter may be."""


@dataclass(frozen=True, slots=True)
class CallFilter:
    """All that is given must hold. `slow_s`: a first sound later than this, or a stage that took longer."""

    failed_at: Stage | None = None
    reason: str | None = None
    since: datetime | None = None
    slow_s: float | None = None

    @property
    def is_open(self) -> bool:
        """Nothing is asked for."""
        return self == CallFilter()

    def admits(self, call: CallSummary) -> bool:
        """Whether the call is shown."""
        return (
            (self.since is None or _began(call, self.since))
            and (self.reason is None or self.reason in call.reasons)
            and (self.failed_at is None or any(t.failed_at == self.failed_at for t in call.turns))
            and (self.slow_s is None or any(_is_slow(turn, self.slow_s) for turn in call.turns))
        )


def _began(call: CallSummary, since: datetime) -> bool:
    """A call that does not tell when it began is not shown; a moment without a zone is taken as the call's own."""
    try:
        started = datetime.fromisoformat(call.started)
    except ValueError:
        return False
    if since.tzinfo is None or started.tzinfo is None:
        return started.replace(tzinfo=None) >= since.replace(tzinfo=None)
    return started >= since


def _is_slow(turn: TurnSummary, seconds: float) -> bool:
    waited = turn.first_audio_s is not None and turn.first_audio_s > seconds
    return waited or turn.slowest_ms > seconds * 1000.0


@dataclass(frozen=True, slots=True)
class Drawn:
    """A turn drawn for review, with the weight it was drawn by."""

    call: str
    path: str
    turn: int
    weight: float


def draw(
    calls: Iterable[CallSummary], count: int, seed: int, marked: Collection[tuple[str, int]] = ()
) -> tuple[Drawn, ...]:
    """`count` turns that reached a reply and are not marked yet, the weightier the sooner, in order of call and turn.

    Each turn's luck hangs on the seed and its own name only, so that new calls do not change what was drawn of the old.
    """
    turns = [
        Drawn(call.call, call.path, turn.turn, turn.weight)
        for call in calls
        for turn in call.turns
        if turn.outcome is not None and (call.call, turn.turn) not in marked
    ]
    ordered = sorted(turns, key=lambda one: (_delay(one, seed), one.call, one.turn))
    return tuple(sorted(ordered[:count], key=lambda one: (one.call, one.turn)))


def _delay(one: Drawn, seed: int) -> float:
    """An exponential waiting time of rate `weight`: the shortest are a weighted sample without replacement."""
    digest = hashlib.sha256(f"{seed}\n{one.call}\n{one.turn}".encode()).digest()
    luck = (int.from_bytes(digest[:8], "big") + 1) / (2**64 + 1)
    return -math.log(luck) / one.weight
