"""Why a gate decided as it did: each feature beside what was asked of it, and the one that decided. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from retrieval.gate import MEASURED, UNFIT, needed, safe_without, sureness
from voice_agent.record.call_record import GateRecord

Kind = Literal["feature", "threshold"]

SURENESS: Final = "sureness"
"""The name of the sum of the weighted features."""

_MUST_BE_ONE: Final = ("asked", "searched", "codes_covered", *UNFIT)
_BY_FEATURE: Final[Mapping[str, str]] = {
    "EMPTY_QUERY": "asked",
    "NO_INDEX": "searched",
    "CODE_UNCOVERED": "codes_covered",
    "MUST_HANDOFF": "must_handoff",
    **{str(reason): name for name, reason in UNFIT.items()},
}


@dataclass(frozen=True, slots=True)
class Decider:
    """What kept the gate from answering. `limit` is what `value` had to reach; None where nothing was measured."""

    kind: Kind
    name: str
    value: float | None
    limit: float | None

    @property
    def shown(self) -> str:
        """threshold answer: sureness 0.412, needed 0.75"""
        of = f" {SURENESS}" if self.name in ("answer", "clarify") else ""
        return f"{self.kind} {self.name}:{of} {_short(self.value)}, needed {_short(self.limit)}"


@dataclass(frozen=True, slots=True)
class GateRow:
    """A feature as the gate weighed it. `least`: "at least this"; `share` is weight times value, a part of the logit.

    `holds` is None where nothing was asked of it.
    """

    name: str
    value: float | None
    least: float | None
    weight: float | None
    share: float | None
    holds: bool | None


def sure(gate: GateRecord) -> float | None:
    """How sure the gate was, 0 to 1; None where something was not measured or the journal lacks a weight."""
    try:
        value = sureness(gate.features, gate.thresholds)
    except KeyError:
        return None
    return value if math.isfinite(value) else None


def limit(gate: GateRecord) -> float | None:
    """The sureness that an answer took, the passage's risk included; None if the journal lacks it."""
    try:
        return needed(gate.features, gate.thresholds)
    except KeyError:
        return None


def decider(gate: GateRecord) -> Decider | None:
    """What kept this gate from answering; None when it answered."""
    if gate.outcome == "ANSWER":
        return None
    name = _BY_FEATURE.get(gate.reason or "")
    if name is not None:
        return Decider("feature", name, gate.features.get(name), 0.0 if name == "must_handoff" else 1.0)
    if gate.reason == "CHANNEL_DOWN":
        return Decider("feature", next(iter(unmeasured(gate)), "channels"), None, None)
    if gate.reason == "ASR_LOW":
        least = gate.thresholds.get("min_transcript")
        return Decider("threshold", "min_transcript", gate.features.get("transcript"), least)
    if gate.outcome == "REFUSE":
        return Decider("threshold", "clarify", sure(gate), gate.thresholds.get("clarify"))
    return Decider("threshold", "answer", sure(gate), limit(gate))


def unmeasured(gate: GateRecord) -> tuple[str, ...]:
    """The features that had to be measured and were not."""
    names = [name for name in MEASURED if gate.features.get(name) is None]
    names += [name for name, value in gate.features.items() if name.endswith("_up") and value is None]
    spared = safe_without(gate.thresholds)
    return tuple(name for name in names if name.removesuffix("_up") not in spared)


def kept_by(gate: GateRecord) -> str:
    """What would have let this gate answer, in a few words; empty when it did."""
    found = decider(gate)
    if found is None:
        return ""
    if found.name == "answer" and found.value is not None:
        return f"thresholds.answer of at most {_short(_answer_for(gate, found.value))}"
    if found.name == "must_handoff":
        return "the passage's must_handoff taken away"
    if found.kind == "threshold" and found.value is not None:
        return f"thresholds.{found.name} of at most {_short(found.value)}"
    return _REMEDY.get(found.name, f"{found.name} measured: see what is down")


_REMEDY: Final[Mapping[str, str]] = {
    "asked": "words that can be searched for",
    "searched": "an index with passages that hold on the day of the call",
    "codes_covered": "a passage that holds the asked code",
    "slot_stated": "a passage that states the asked figure",
    "conditions_met": "a passage of the asked period, edition or thing",
    "consistent": "passages that do not contradict each other",
}


def _answer_for(gate: GateRecord, sureness_had: float) -> float:
    """The threshold at which this sureness would have been enough: `needed` solved for it."""
    spent = gate.thresholds.get("risk", 0.0) * (gate.features.get("risk") or 0.0)
    return (sureness_had - spent) / (1.0 - spent) if spent < 1.0 else 0.0


def gate_rows(gate: GateRecord) -> tuple[GateRow, ...]:
    """Every feature beside what was asked of it, then the sureness, then the thresholds that stand alone."""
    rows = [_row(gate, name, value) for name, value in gate.features.items()]
    total, least = sure(gate), limit(gate)
    if least is not None:
        rows.append(GateRow(SURENESS, total, least, None, None, total is not None and total >= least))
    return tuple(rows)


def _row(gate: GateRecord, name: str, value: float | None) -> GateRow:
    weight = gate.thresholds.get(f"weight_{name}")
    share = None if weight is None or value is None else weight * value
    if name in _MUST_BE_ONE:
        return GateRow(name, value, 1.0, weight, share, value is not None and value >= 1.0)
    if name == "must_handoff":
        return GateRow(name, value, None, weight, share, value is not None and value < 1.0)
    if name == "transcript":
        least = gate.thresholds.get("min_transcript")
        holds = None if least is None or value is None else value >= least
        return GateRow(name, value, least, weight, share, holds)
    measured = name in MEASURED or name.endswith("_up")
    return GateRow(name, value, None, weight, share, False if measured and name in unmeasured(gate) else None)


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}".rstrip("0").rstrip(".")
