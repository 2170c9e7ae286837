"""The first layer at which the expected passage was lost, and what would have kept it. Pure.

The layers are those of the call: heard, recalled by any channel, fused, ranked, let through by the gate, cited by a
sentence, passed by the check, spoken. Only what the journal holds is used, so a ranking is known as far as it was kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from audio.cer import characters
from voice_agent.record.call_record import RankedRecord, TurnRecord
from voice_agent.record.gate_reading import decider, kept_by, sure
from voice_agent.record.stages import Failure, failure_of, unplayed

Layer = Literal["asr", "recall", "fusion", "rerank", "gate", "generate", "check", "speech"]

LAYERS: Final[tuple[Layer, ...]] = get_args(Layer)

CITABLE: Final = 3
"""So many of the best passages may be cited by an answer."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a turn should have come to: any of these passages, or a refusal where there are none.

    `said` is what the caller really said, where somebody listened; empty if nobody did.
    """

    expect: tuple[str, ...]
    said: str = ""


@dataclass(frozen=True, slots=True)
class Loss:
    """Where it was lost, how that shows, and what would have kept it."""

    layer: Layer
    detail: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """A turn that was judged by somebody, with its loss if it had one."""

    call: str
    turn: int
    question: str
    expect: tuple[str, ...]
    loss: Loss | None


@dataclass(frozen=True, slots=True)
class WorstQuestion:
    """A question that was lost, how often of how many times it was asked, and at which layers."""

    question: str
    lost: int
    asked: int
    layers: tuple[Layer, ...]


def diagnose(turn: TurnRecord, wanted: Wanted) -> Loss | None:
    """The loss of this turn; None if the passage reached the caller, or the refusal was given."""
    if not wanted.expect:
        return _let_through(turn)
    failure = failure_of(turn)
    if failure is not None and failure.stage == "asr":
        return Loss("asr", _line(failure), "the words heard: listen, add hot words, or ask the caller again")
    for find in (_not_found, _not_first, _not_let_through, _not_said):
        loss = find(turn, wanted, failure)
        if loss is not None:
            return loss
    return None


def _let_through(turn: TurnRecord) -> Loss | None:
    """It must be refused. What was never heard did no harm."""
    if not turn.said:
        return None
    had = None if turn.gate is None else sure(turn.gate)
    above = "" if had is None else f" above {had:.3f}"
    return Loss("gate", "answered, and must be refused", f"thresholds.answer{above}, or a must_handoff entry")


def _not_found(turn: TurnRecord, wanted: Wanted, failure: Failure | None) -> Loss | None:
    if _rank(turn.reranked, wanted.expect) or _rank(turn.fused, wanted.expect):
        return None
    places = {name: _rank(found, wanted.expect) for name, found in turn.channels.items()}
    seen = {name: rank for name, rank in places.items() if rank}
    if seen:
        shown = ", ".join(f"rank {rank} by {name}" for name, rank in seen.items())
        detail = f"{shown}, not among the {len(turn.fused)} fused that are kept"
        return Loss("fusion", detail, f"more weight for {min(seen, key=lambda n: (seen[n], n))}")
    if wanted.said and characters(wanted.said) != characters(turn.heard):
        detail = f"heard {turn.heard or 'nothing'}, said {wanted.said}"
        return Loss("asr", detail, "the words as they were said: hot words or a dictionary entry")
    if turn.down:
        detail = "; ".join(f"{name}: {cause}" for name, cause in turn.down.items())
        return Loss("recall", detail, "all channels up")
    if failure is not None and failure.cause in ("error", "NO_INDEX"):
        return Loss("recall", _line(failure), "an index that is there and a search that works")
    kept = max((len(found) for found in turn.channels.values()), default=0)
    detail = f"not among the first {kept} of any channel"
    return Loss("recall", detail, "this question, or its words, in the passage")


def _not_first(turn: TurnRecord, wanted: Wanted, failure: Failure | None) -> Loss | None:
    """Behind those that may be cited; or second to one for whose sake nothing was answered."""
    rank = _rank(turn.reranked, wanted.expect)
    refused = turn.gate is None or turn.gate.outcome != "ANSWER"
    if rank and (rank == 1 or (rank <= CITABLE and not refused)):
        return None
    before = turn.reranked[0] if turn.reranked else None
    where = f"rank {rank}" if rank else f"not among the {len(turn.reranked)} reranked that are kept"
    if rank and rank <= CITABLE:
        where += ", and the gate judged the first"
    fused = _rank(turn.fused, wanted.expect)
    first = f", behind {before.id}" if before else ""
    down = turn.down.get("rerank")
    remedy = "the reranker up" if down else "a question or title that tells the passage from that one"
    return Loss("rerank", f"{where}{first}; fused at rank {fused or '-'}", remedy)


def _not_let_through(turn: TurnRecord, wanted: Wanted, failure: Failure | None) -> Loss | None:
    found = decider(turn.gate) if turn.gate else None
    if turn.gate is None or found is None:
        return None
    return Loss("gate", f"{turn.gate.outcome} {turn.gate.reason}: {found.shown}", kept_by(turn.gate))


def _not_said(turn: TurnRecord, wanted: Wanted, failure: Failure | None) -> Loss | None:
    """From here on the passage lay before the generator."""
    expect = set(wanted.expect)
    citing = [s for s in turn.sentences if expect & set(s.cited)]
    if failure is not None and failure.stage == "check":
        if any(not s.passed for s in citing):
            return Loss("check", _line(failure), "a sentence that says no more than its passage")
        return Loss(
            "generate", f"blocked without citing it, {_line(failure)}", "a sentence from this passage"
        )
    if not citing:
        others = sorted({passage for s in turn.sentences for passage in s.cited})
        what = f"cited {', '.join(others)} instead" if others else _line(failure) if failure else "not cited"
        return Loss("generate", what, "a sentence from this passage")
    missing = set(unplayed(turn))
    if turn.outcome != "interrupted" and all(s.index in missing for s in citing):
        return Loss(
            "speech", _line(failure) if failure else "not heard whole", "speech that is played to its end"
        )
    return None


def _rank(ranking: Sequence[RankedRecord], expect: Collection[str]) -> int | None:
    return next((found.rank for found in ranking if found.id in expect), None)


def _line(failure: Failure) -> str:
    return f"{failure.cause}: {failure.detail}" if failure.detail else failure.cause


def losses(diagnosed: Iterable[Diagnosed]) -> dict[Layer, int]:
    """How many turns were lost at each layer, in the order of the call."""
    counted = Counter(one.loss.layer for one in diagnosed if one.loss)
    return {layer: counted[layer] for layer in LAYERS}


def worst(diagnosed: Iterable[Diagnosed]) -> tuple[WorstQuestion, ...]:
    """The questions that were lost, most often first; one asked in the same characters is the same question."""
    groups: dict[str, list[Diagnosed]] = {}
    for one in diagnosed:
        groups.setdefault("".join(characters(one.question)), []).append(one)
    rows = [
        WorstQuestion(
            group[0].question,
            sum(one.loss is not None for one in group),
            len(group),
            tuple(layer for layer in LAYERS if any(one.loss and one.loss.layer == layer for one in group)),
        )
        for group in groups.values()
    ]
    lost = [row for row in rows if row.lost]
    return tuple(sorted(lost, key=lambda row: (-row.lost, row.asked, row.question)))
