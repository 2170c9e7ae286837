"""Calls and turns as JSON objects: one shape for `inspect --json` and the service. Pure."""

from __future__ import annotations

import dataclasses
from typing import Any

from voice_agent.record.call_record import CallRecord, TurnRecord
from voice_agent.record.gate_reading import sure
from voice_agent.record.jsonable import plain
from voice_agent.record.stages import failure_of
from voice_agent.record.summary import CallSummary
from voice_agent.record.values import compared


def summary_facts(call: CallSummary) -> dict[str, Any]:
    """A call of the list in brief."""
    slowest = call.slowest
    derived = {"slowest_stage": slowest and slowest[0], "slowest_ms": slowest and slowest[1]}
    return {**dataclasses.asdict(call), **derived}


def call_facts(call: CallRecord) -> dict[str, Any]:
    """The call itself, with how each turn ended."""
    facts = plain({f.name: getattr(call, f.name) for f in dataclasses.fields(call) if f.name != "turns"})
    assert isinstance(facts, dict)
    turns = [
        {"turn": t.turn, "outcome": t.outcome, "reason": t.gate.reason if t.gate else None}
        for t in call.turns
    ]
    derived = {"started": call.started, "handoff": call.handoff, "slowest_stage": call.slowest_stage}
    return {**facts, **derived, "problems": list(call.problems), "turns": turns}


def turn_facts(call: CallRecord, turn: TurnRecord) -> dict[str, Any]:
    """The whole turn, with what a person is shown of it worked out."""
    facts, failure = plain(turn), plain(failure_of(turn))
    assert isinstance(facts, dict)
    values = [plain(compared(sentence)) for sentence in turn.sentences]
    derived = {"slowest_stage": turn.slowest_stage, "sureness": sure(turn.gate) if turn.gate else None}
    return {"call": call.call, **facts, **derived, "failure": failure, "values": values}
