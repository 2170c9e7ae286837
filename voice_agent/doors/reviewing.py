"""`voice-agent inspect` for reviewers: draws turns, keeps marks, exports cases, diagnoses calls and folders."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from audio.cer import characters
from retrieval.metrics import Rate
from voice_agent.doors.diagnosis_blocks import folder_blocks, loss_block, rate_text
from voice_agent.doors.tables import Block, json_line, show
from voice_agent.errors import InputError
from voice_agent.record.call_record import CallRecord, TurnRecord
from voice_agent.record.cases import case_of
from voice_agent.record.diagnosis import Wanted, diagnose, losses, worst
from voice_agent.record.inspection import read_call
from voice_agent.record.judged import judged
from voice_agent.record.operations import by_day
from voice_agent.record.privacy import Masker
from voice_agent.record.review import JUDGEMENTS, Mark, add_mark, agreement, check_mark, marks_in
from voice_agent.record.selection import draw
from voice_agent.record.summary import CallSummary

_OWNER_ONLY = 0o600


def mark_turn(call: CallRecord, turn: TurnRecord, mark: Mark, *, as_json: bool) -> None:
    """Keeps the mark, masked as all that reaches the disk is. Raises InputError."""
    now = datetime.now().astimezone().isoformat(timespec="seconds")
    said = Masker().mask(mark.said)
    add_mark(call.path, Mark(call.call, turn.turn, mark.judgement, mark.expect, said, now))
    marks = marks_in(call.path.parent)
    agreed = agreement(marks)
    if as_json:
        facts = {"call": call.call, "turn": turn.turn, "judgement": mark.judgement, "marked": len(marks)}
        _print({**facts, "agreement": agreed.share})
        return
    title = f"{call.call} turn {turn.turn}: {mark.judgement}"
    show([Block(title, (("agreement of marked turns", rate_text(agreed)),))])


def diagnose_turn(call: CallRecord, turn: TurnRecord, wanted: Wanted, *, as_json: bool) -> None:
    """Names the layer that lost the passage, and what would have kept it. Raises InputError for an impossible id."""
    check_mark(Mark(call.call, turn.turn, "wrong", wanted.expect))
    loss = diagnose(turn, wanted)
    if as_json:
        facts = {"call": call.call, "turn": turn.turn, "expect": list(wanted.expect)}
        _print({**facts, "loss": asdict(loss) if loss else None})
        return
    show([loss_block(f"{call.call} turn {turn.turn}: {turn.heard or turn.raw}", loss)])


def show_sample(folder: Path, calls: Sequence[CallSummary], count: int, seed: int, *, as_json: bool) -> None:
    """The drawn turns with their words, those marked already left out."""
    if count < 1:
        raise InputError(f"--sample {count}: give how many turns to draw, 1 or more")
    marked = {(mark.call, mark.turn) for mark in marks_in(folder)}
    rows = []
    for drawn in draw(calls, count, seed, marked):
        turns = {turn.turn: turn for turn in read_call(folder / drawn.path).turns}
        if (turn := turns.get(drawn.turn)) is not None:
            rows.append(_drawn(drawn.call, turn, drawn.weight))
    if as_json:
        for row in rows:
            _print(row)
        return
    title = f"{len(rows)} turns to review, each with: inspect CALL --turn N --mark {'|'.join(JUDGEMENTS)}"
    shown = tuple(tuple(str(value) for value in row.values()) for row in rows)
    show([Block(title, shown or (("nothing left to review",),), tuple(rows[0]) if rows else ())])


def _drawn(call: str, turn: TurnRecord, weight: float) -> dict[str, object]:
    answer = "".join(sentence.text for sentence in turn.sentences)
    return {
        "call": call,
        "turn": turn.turn,
        "heard": turn.heard or turn.raw,
        "outcome": turn.outcome or "",
        "answer": answer,
        "weight": round(weight, 2),
    }


def export_cases(folder: Path, calls: Iterable[CallSummary], target: Path, *, as_json: bool) -> None:
    """Writes what the marks of these calls teach, one evaluation question a line, for the owner only."""
    names = {call.call for call in calls}
    marks = [mark for mark in marks_in(folder) if mark.call in names]
    cases = []
    for mark in marks:
        call = read_call(folder / f"{mark.call}.jsonl")
        turn = next((turn for turn in call.turns if turn.turn == mark.turn), None)
        if turn is not None and (case := case_of(call, turn, mark)) is not None:
            cases.append(case)
    _write(target, cases)
    left = len(marks) - len(cases)
    if as_json:
        _print(
            {
                "file": str(target),
                "exported": len(cases),
                "left_out": left,
                "agreement": agreement(marks).share,
            }
        )
        return
    why = " (nothing to be learnt from them: mark them with --expect)" if left else ""
    rows = (("left out", f"{left}{why}"), ("agreement of marked turns", rate_text(agreement(marks))))
    show([Block(f"{len(cases)} cases in {target}", rows)])


def _write(target: Path, cases: Iterable[Mapping[str, Any]]) -> None:
    lines = "".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases)
    beside = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        with open(beside, "w", encoding="utf-8", opener=_private) as file:
            file.write(lines)
        os.replace(beside, target)
    except OSError as e:
        raise InputError(
            f"--export {target}: cannot be written ({e.strerror}); name a file in a folder"
        ) from e


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, _OWNER_ONLY)


def diagnose_folder(
    folder: Path, calls: Sequence[CallSummary], labels: Path | None, *, as_json: bool
) -> None:
    """The days of these calls, where their judged turns lost the passage, the worst questions, the agreement."""
    days = by_day(calls)
    wanted = {} if labels is None else _labels(labels)
    found = list(judged((folder / call.path for call in calls), wanted))
    names = {call.call for call in calls}
    agreed = agreement(mark for mark in marks_in(folder) if mark.call in names)
    if as_json:
        facts = {"days": [asdict(day) for day in days], "losses": losses(found), "judged": len(found)}
        rows = {"worst": [asdict(row) for row in worst(found)], "turns": [asdict(one) for one in found]}
        _print({**facts, **rows, "agreement": _rate(agreed)})
        return
    show(list(folder_blocks(days, found, agreed)))


def _rate(found: Rate) -> dict[str, float | int | None]:
    return {
        "share": found.share,
        "count": found.count,
        "of": found.total,
        "low": found.low,
        "high": found.high,
    }


def _labels(path: Path) -> dict[str, Wanted]:
    """What each labelled question wants, keyed by the characters it is asked in. Raises InputError."""
    # Imported here: it brings the whole search along, and only this option needs it.
    from voice_agent.evaluation.questions import load_questions

    return {characters(q.asked.question): Wanted(q.expect) for q in load_questions(path)}


def _print(facts: Mapping[str, object]) -> None:
    print(json_line(facts))
