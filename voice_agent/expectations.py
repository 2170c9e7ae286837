"""What a recorded call must come to, and how one that was replayed falls short of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, cast

from voice_agent.call.recorded import Cue
from voice_agent.errors import InputError
from voice_agent.record.call_record import CallRecord, TurnRecord

CUES: tuple[Cue, ...] = ("start", "agent_started", "agent_finished")


@dataclass(frozen=True, slots=True)
class ExpectedClip:
    """A recording beside the expectations and when it is spoken."""

    wav: str
    cue: Cue
    delay_s: float


@dataclass(frozen=True, slots=True)
class ExpectedTurn:
    """What one turn must come to; what is empty or None is not asked for."""

    outcome: str
    reason: str | None = None
    heard_contains: tuple[str, ...] = ()
    cites: tuple[str, ...] = ()
    never_cites: tuple[str, ...] = ()
    spoken_contains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Expectation:
    """One call of data/calls/expect.jsonl."""

    call: str
    clips: tuple[ExpectedClip, ...]
    as_of: date
    turns: tuple[ExpectedTurn, ...]
    handoff: bool


def load_expectations(path: Path) -> list[Expectation]:
    """One call a line. Raises InputError naming the line."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as e:
        raise InputError(f"{path}: cannot be read ({e}); give a JSON-lines file of expectations") from e
    calls = [_expectation(line, f"{path}:{n}") for n, line in enumerate(lines, start=1) if line.strip()]
    if not calls:
        raise InputError(f"{path}: no expectation in it; give one JSON object a line")
    return calls


def _expectation(line: str, where: str) -> Expectation:
    try:
        row = json.loads(line)
        clips = tuple(_clip(clip) for clip in row["clips"])
        turns = tuple(_turn(turn) for turn in row["turns"])
        return Expectation(row["call"], clips, date.fromisoformat(row["as_of"]), turns, bool(row["handoff"]))
    except json.JSONDecodeError as e:
        raise InputError(f"{where}: not JSON ({e.msg}); one object a line") from e
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise InputError(f"{where}: {type(e).__name__} {e}; see data/schemas/call_expectation.json") from e


def _clip(row: Mapping[str, Any]) -> ExpectedClip:
    cue = row.get("cue", "start")
    if cue not in CUES:
        raise ValueError(f"cue {cue!r} is none of {', '.join(CUES)}")
    return ExpectedClip(row["wav"], cast(Cue, cue), float(row.get("delay_s", 0.0)))


def _turn(row: Mapping[str, Any]) -> ExpectedTurn:
    texts = {
        key: tuple(row.get(key, ())) for key in ("heard_contains", "cites", "never_cites", "spoken_contains")
    }
    return ExpectedTurn(row["outcome"], row.get("reason"), **texts)


def unmet(expected: Expectation, record: CallRecord) -> list[str]:
    """Every way in which the call is not what was expected; empty when it is."""
    turns = [turn for turn in record.turns if turn.outcome is not None]
    faults = [f"fault: {error}" for turn in record.turns for error in turn.errors]
    if len(turns) != len(expected.turns):
        outcomes = [turn.outcome for turn in turns]
        faults.append(f"turns: expected {len(expected.turns)}, got {len(turns)} ({outcomes})")
    if expected.handoff != (record.handoff is not None):
        faults.append(f"handoff: expected {expected.handoff}, got {record.handoff}")
    if not expected.turns and any(turn.spoken for turn in record.turns):
        faults.append("something was spoken although nothing was asked")
    for wanted, turn in zip(expected.turns, turns, strict=False):
        faults.extend(f"turn {turn.turn}: {fault}" for fault in _unmet_turn(wanted, turn))
    return faults


def _unmet_turn(wanted: ExpectedTurn, turn: TurnRecord) -> list[str]:
    spoken = "".join(line.text for line in turn.spoken)
    checked = [sentence for sentence in turn.sentences if sentence.passed]
    cited = {passage for sentence in checked for passage in sentence.cited}
    said = spoken + "".join(sentence.text for sentence in checked)
    reason = turn.gate.reason if turn.gate else None
    faults = [
        (turn.outcome != wanted.outcome, f"outcome: expected {wanted.outcome}, got {turn.outcome}"),
        (
            wanted.reason is not None and reason != wanted.reason,
            f"reason: expected {wanted.reason}, got {reason}",
        ),
        *(
            (text not in turn.heard, f"heard {turn.heard!r}: lacks {text!r}")
            for text in wanted.heard_contains
        ),
        *((passage not in cited, f"cited {sorted(cited)}: lacks {passage}") for passage in wanted.cites),
        *((passage in cited, f"cited {passage}, which never may be") for passage in wanted.never_cites),
        *((text not in said, f"said {spoken!r}: lacks {text!r}") for text in wanted.spoken_contains),
    ]
    return [message for failed, message in faults if failed]
