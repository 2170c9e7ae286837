"""`voice-agent inspect`: the calls of a folder, one call turn by turn, or one turn, from their journals."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import Any

from voice_agent.doors.call_blocks import call_block, calls_block, turn_blocks
from voice_agent.doors.common import Subparsers, add_common, configured
from voice_agent.doors.tables import show
from voice_agent.errors import InputError
from voice_agent.record.call_record import CallRecord, TurnRecord
from voice_agent.record.inspection import list_calls, read_call
from voice_agent.record.jsonable import plain

EXAMPLES = """examples:
  voice-agent inspect                       the calls in logs/calls
  voice-agent inspect refund_bank           one call, turn by turn
  voice-agent inspect out/a.jsonl --turn 2 --json"""


def add(subparsers: Subparsers) -> None:
    """Registers the command."""
    parser = subparsers.add_parser(
        "inspect",
        help="journals: list of calls, one call, one turn",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "target", nargs="?", metavar="PATH|CALL_ID", help="a journal, a folder of them, or a call id"
    )
    parser.add_argument(
        "--logs", type=Path, metavar="DIR", help="folder of the journals (default: logs/calls)"
    )
    parser.add_argument("--turn", type=int, metavar="N", help="only this turn of the call")
    parser.add_argument("--json", action="store_true", help="one JSON object a call or turn, nothing else")
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Shows what was asked for; 0. Raises InputError for a path, call or turn that is not there."""
    path = _path(args)
    if args.target and not path.is_dir():
        _show_call(read_call(path), args.turn, as_json=args.json)
        return 0
    if args.turn is not None:
        raise InputError(f"--turn {args.turn}: name the call too, as in `voice-agent inspect CALL --turn 1`")
    # Before the first call the default folder does not exist, and that is no fault.
    unused = not (args.target or args.logs or path.exists())
    _show_calls(path, [] if unused else list_calls(path), as_json=args.json)
    return 0


def _path(args: argparse.Namespace) -> Path:
    """The journal or the folder that is meant."""
    given = Path(args.target) if args.target else None
    if given is not None and given.exists():
        return given
    logs: Path = args.logs or configured(args).paths.logs / "calls"
    if given is None:
        return logs
    journal = logs / f"{given.name}.jsonl"
    if str(given) != given.name or not journal.is_file():
        raise InputError(
            f"{given}: no such journal, folder or call in {logs}; `voice-agent inspect` lists the calls"
        )
    return journal


def _show_calls(folder: Path, calls: list[CallRecord], *, as_json: bool) -> None:
    if as_json:
        for call in calls:
            print(json.dumps(_call_facts(call), ensure_ascii=False))
        return
    unread = len(list(folder.glob("*.jsonl"))) - len(calls)
    title = f"{len(calls)} calls in {folder}" + (f", {unread} unreadable files" if unread else "")
    show([calls_block(title, calls)])


def _show_call(call: CallRecord, only: int | None, *, as_json: bool) -> None:
    turns = [turn for turn in call.turns if only is None or turn.turn == only]
    if only is not None and not turns:
        known = ", ".join(str(turn.turn) for turn in call.turns) or "none"
        raise InputError(f"{call.path}: no turn {only}; its turns are: {known}")
    if as_json:
        for facts in ([] if only is not None else [_call_facts(call)]) + [
            _turn_facts(call, t) for t in turns
        ]:
            print(json.dumps(facts, ensure_ascii=False))
        return
    blocks = [] if only is not None else [call_block(call)]
    show([*blocks, *(block for turn in turns for block in turn_blocks(turn))])


def _call_facts(call: CallRecord) -> dict[str, Any]:
    facts = plain({f.name: getattr(call, f.name) for f in dataclasses.fields(call) if f.name != "turns"})
    assert isinstance(facts, dict)
    turns = [
        {"turn": t.turn, "outcome": t.outcome, "reason": t.gate.reason if t.gate else None}
        for t in call.turns
    ]
    derived = {"started": call.started, "handoff": call.handoff, "slowest_stage": call.slowest_stage}
    return {**facts, **derived, "problems": list(call.problems), "turns": turns}


def _turn_facts(call: CallRecord, turn: TurnRecord) -> dict[str, Any]:
    facts = plain(turn)
    assert isinstance(facts, dict)
    return {"call": call.call, **facts, "slowest_stage": turn.slowest_stage}
