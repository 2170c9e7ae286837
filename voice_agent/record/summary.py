"""A call in a few numbers and codes, no word of what was said: what lists, filters and rates are made of. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from voice_agent.record.call_record import CallRecord, TurnRecord, UtteranceRecord
from voice_agent.record.gate_reading import limit, sure
from voice_agent.record.stages import Stage, failure_of

SAME_QUESTION: Final = 0.6
"""Share of the character pairs of two questions, from which the caller had to ask the same again. 退款多久到账 and
退款要多久才到账 share 0.44, the same words heard twice with one wrong character 0.6 to 0.7: it counts repeats, not
paraphrases."""

SPOKE_AGAIN_S: Final = 5.0
"""A dropped utterance behind which the caller is heard so soon was probably speech."""

LEAST_VOICE_S: Final = 0.4
"""Less voice than this is a click or a breath, not a word that was dropped."""


@dataclass(frozen=True, slots=True)
class TurnSummary:
    """One turn. `reason` is the gate's, `cause` what `failed_at` was for; `weight` see `weight_of`."""

    turn: int
    outcome: str | None = None
    reason: str | None = None
    failed_at: Stage | None = None
    cause: str = ""
    slowest: str | None = None
    slowest_ms: float = 0.0
    first_audio_s: float | None = None
    blocked: Mapping[str, int] = field(default_factory=dict)
    repeated: bool = False
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class CallSummary:
    """One call; `path` is its journal's name. `utterances` were heard, `false_drops` probably should have been."""

    call: str
    path: str
    started: str
    length_s: float | None
    ended: str | None
    handoff: str | None
    utterances: int
    false_drops: int
    turns: tuple[TurnSummary, ...]
    problems: tuple[str, ...]

    @property
    def slowest(self) -> tuple[str, float] | None:
        """The stage with the longest single time in the call, and that time in milliseconds."""
        times = [(turn.slowest_ms, turn.slowest) for turn in self.turns if turn.slowest is not None]
        return (max(times)[1], max(times)[0]) if times else None

    @property
    def day(self) -> str:
        """The day it started, as its own clock had it; empty if unknown."""
        return self.started[:10]

    @property
    def reasons(self) -> frozenset[str]:
        """Why anything in it was refused, blocked or handed over."""
        blocked = (reason for turn in self.turns for reason in turn.blocked)
        gates = (turn.reason for turn in self.turns if turn.reason)
        return frozenset([*blocked, *gates, *([self.handoff] if self.handoff else [])])


def summarise(call: CallRecord) -> CallSummary:
    """The call in brief."""
    turns = [turn for turn in call.turns if _is_turn(turn)]
    heard = [turn.heard for turn in turns]
    spoken = [utterance for turn in call.turns for utterance in turn.utterances]
    return CallSummary(
        call=call.call,
        path=call.path.name,
        started=call.started,
        length_s=call.length_s,
        ended=call.ended,
        handoff=call.handoff,
        utterances=sum(not one.dropped for one in spoken),
        false_drops=sum(_false_drops(spoken)),
        turns=tuple(
            _turn(turn, again=at > 0 and same_question(heard[at - 1], turn.heard))
            for at, turn in enumerate(turns)
        ),
        problems=call.problems,
    )


def _is_turn(turn: TurnRecord) -> bool:
    """A phrase that no turn asked for, as a greeting, is none."""
    return bool(turn.utterances or turn.outcome or turn.gate or turn.errors or turn.halted)


def _turn(turn: TurnRecord, *, again: bool) -> TurnSummary:
    failure = failure_of(turn)
    slowest = turn.slowest_stage
    return TurnSummary(
        turn=turn.turn,
        outcome=turn.outcome,
        reason=turn.gate.reason if turn.gate else None,
        failed_at=failure.stage if failure else None,
        cause=failure.cause if failure else "",
        slowest=slowest,
        slowest_ms=turn.stages_ms[slowest] if slowest else 0.0,
        first_audio_s=turn.first_audio_s,
        blocked=_blocked(turn),
        repeated=again,
        weight=weight_of(turn),
    )


def _blocked(turn: TurnRecord) -> dict[str, int]:
    counts: dict[str, int] = {}
    for sentence in turn.sentences:
        if not sentence.passed:
            counts[sentence.reason or "blocked"] = counts.get(sentence.reason or "blocked", 0) + 1
    return counts


def same_question(one: str, other: str) -> bool:
    """Whether two questions say the same in nearly the same characters: the caller was not understood."""
    ours, theirs = set(_pairs(one)), set(_pairs(other))
    return bool(ours and theirs) and len(ours & theirs) >= SAME_QUESTION * len(ours | theirs)


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    plain = [char for char in text.casefold() if char.isalnum()]
    return zip(plain, plain[1:], strict=False)


def _false_drops(spoken: Sequence[UtteranceRecord]) -> Iterator[bool]:
    """For each utterance but the last: dropped, though the caller had voice and was heard soon after."""
    for one, after in zip(spoken, spoken[1:], strict=False):
        if one.end_s is None or after.start_s is None:
            continue
        again = not after.dropped and 0.0 <= after.start_s - one.end_s <= SPOKE_AGAIN_S
        yield bool(one.dropped) and again and (one.voiced_s or 0.0) >= LEAST_VOICE_S


def weight_of(turn: TurnRecord) -> float:
    """How much sooner than a plain turn this one is drawn for review: 1 for a plain one, up to 8.

    Risky passages, blocked sentences and the gate's doubt count: near its threshold it was least sure.
    """
    weight = 1.0 + (1.0 if any(not s.passed for s in turn.sentences) else 0.0)
    if turn.gate is None:
        return weight
    weight += 2.0 * (turn.gate.features.get("risk") or 0.0)
    had, needed = sure(turn.gate), limit(turn.gate)
    if had is None or needed is None:
        return weight + 1.0
    return weight + 4.0 * max(0.0, 1.0 - 4.0 * abs(had - needed))
