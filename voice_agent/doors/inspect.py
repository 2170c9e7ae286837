"""`voice-agent inspect`: the calls of a folder, one call as a transcript, one turn in full, and their review."""

from __future__ import annotations

import argparse
import dataclasses
import math
from datetime import datetime
from pathlib import Path

from voice_agent.doors.call_blocks import call_block, calls_block, transcript_block
from voice_agent.doors.common import Subparsers, add_common, configured
from voice_agent.doors.reporting import write_report
from voice_agent.doors.reviewing import (
    diagnose_folder,
    diagnose_turn,
    export_cases,
    mark_turn,
    show_sample,
)
from voice_agent.doors.tables import json_line, show
from voice_agent.doors.turn_blocks import turn_blocks
from voice_agent.errors import InputError
from voice_agent.record.call_record import CallRecord, TurnRecord
from voice_agent.record.diagnosis import Wanted
from voice_agent.record.facts import call_facts, summary_facts, turn_facts
from voice_agent.record.inspection import read_call
from voice_agent.record.listing import Listed, list_summaries
from voice_agent.record.review import JUDGEMENTS, Mark
from voice_agent.record.selection import REASONS, CallFilter
from voice_agent.record.stages import STAGES
from voice_agent.record.summary import CallSummary

EXAMPLES = """examples:
  voice-agent inspect                       the calls in logs/calls
  voice-agent inspect --failed-at gate --since 2026-11-30
  voice-agent inspect refund_bank           one call as a transcript
  voice-agent inspect out/a.jsonl --turn 2  one turn, every rank, feature and value
  voice-agent inspect refund_bank --turn 2 --expect refund-bank      where was this passage lost?
  voice-agent inspect refund_bank --html refund.html       a page: waterfall, sound, evidence, scores
  voice-agent inspect --since 2026-11-30 --html day.html
  voice-agent inspect --sample 20           turns to review; then, one by one:
  voice-agent inspect refund_bank --turn 2 --mark wrong --expect refund-bank
  voice-agent inspect --export cases.jsonl  what the marks teach, as evaluation questions
  voice-agent inspect --diagnose            the days in numbers, the losses of the marked turns"""

_OF_A_FOLDER = ("failed_at", "reason", "since", "slow", "sample", "export", "diagnose", "labels")
_OF_A_TURN = ("turn", "mark", "expect", "said")


def add(subparsers: Subparsers) -> None:
    """Registers the command."""
    parser = subparsers.add_parser(
        "inspect",
        help="journals: list of calls, one call, one turn; review and diagnosis",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "target", nargs="?", metavar="PATH|CALL_ID", help="a journal, a folder of them, or a call id"
    )
    parser.add_argument(
        "--logs", type=Path, metavar="DIR", help="folder of the journals (default: logs/calls)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a call or turn, nothing else")
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="the calls as a page that needs nothing else"
    )
    _add_filters(parser)
    _add_review(parser)
    add_common(parser)
    parser.set_defaults(run=run)


def _add_filters(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("which calls of a folder")
    group.add_argument("--failed-at", choices=STAGES, help="with a turn that failed at this stage")
    group.add_argument(
        "--reason", type=_reason, metavar="CODE", help="refused, blocked or handed over for it"
    )
    group.add_argument("--since", type=_moment, metavar="WHEN", help="begun at or after 2026-11-30[T09:00]")
    group.add_argument(
        "--slow", type=_seconds, metavar="SECONDS", help="with a first sound, or a stage, later than this"
    )


def _add_review(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("one turn, and review")
    group.add_argument("--turn", type=int, metavar="N", help="this turn of the call, in full")
    group.add_argument("--expect", action="append", metavar="ID", help="a passage that should have answered")
    group.add_argument("--said", metavar="TEXT", help="what the caller really said")
    group.add_argument("--mark", choices=JUDGEMENTS, help="keep a judgement of the turn")
    group.add_argument("--sample", type=int, metavar="N", help="draw turns to review, risky and unsure first")
    group.add_argument("--seed", type=int, default=0, help="of the draw (default: 0)")
    group.add_argument("--export", type=Path, metavar="FILE", help="marked turns as evaluation questions")
    group.add_argument("--diagnose", action="store_true", help="days in numbers; losses of judged turns")
    group.add_argument(
        "--labels", type=Path, metavar="FILE", help="with --diagnose: labelled questions, as in data/eval"
    )


def _reason(text: str) -> str:
    code = text.strip().upper()
    if code not in REASONS:
        raise argparse.ArgumentTypeError(f"{text!r} is no reason; the reasons are {', '.join(REASONS)}")
    return code


def _moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as e:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no date or time; write 2026-11-30 or 2026-11-30T09:00"
        ) from e


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0.0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds; write 2.5")
    return seconds


def run(args: argparse.Namespace) -> int:
    """Shows what was asked for; 0. Raises InputError for a path, call or turn that is not there."""
    path = _path(args)
    one = bool(args.target) and not path.is_dir()
    odd = [name for name in (_OF_A_FOLDER if one else _OF_A_TURN) if getattr(args, name) not in (None, False)]
    if odd:
        option = f"--{odd[0].replace('_', '-')}"
        where = "a folder, not one call" if one else "one call: name it, as in `voice-agent inspect CALL`"
        raise InputError(f"{option} is for {where}")
    _check_page(args)
    if one:
        _one_call(read_call(path), args)
    else:
        _folder(path, args)
    return 0


_NOT_ON_A_PAGE = ("turn", "mark", "expect", "said", "sample", "export", "diagnose", "labels")


def _check_page(args: argparse.Namespace) -> None:
    """A page shows whole calls. Raises InputError where something else is asked for with it."""
    odd = [name for name in _NOT_ON_A_PAGE if getattr(args, name) not in (None, False)]
    if args.html is not None and odd:
        raise InputError(f"--html shows whole calls and does not go with --{odd[0]}: leave one out")


def _page(journals: list[Path], args: argparse.Namespace) -> None:
    written = write_report(journals, args.html)
    if args.json:
        print(json_line({"html": str(args.html), **dataclasses.asdict(written)}))
    else:
        left = f"; {written.left_out} calls left out, see the page" if written.left_out else ""
        counts = f"{written.calls} calls, {written.turns} turns, {written.recordings} recordings"
        print(f"{args.html}: {counts}{left}")


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


def _folder(path: Path, args: argparse.Namespace) -> None:
    # Before the first call the default folder does not exist, and that is no fault.
    unused = not (args.target or args.logs or path.exists())
    listed = Listed((), 0) if unused else list_summaries(path)
    wanted = CallFilter(args.failed_at, args.reason, args.since, args.slow)
    calls = [call for call in listed.calls if wanted.admits(call)]
    if args.labels is not None and not args.diagnose:
        raise InputError("--labels is for --diagnose: give both")
    if args.html is not None:
        _page([path / call.path for call in calls], args)
    elif args.sample is not None:
        show_sample(path, calls, args.sample, args.seed, as_json=args.json)
    elif args.export is not None:
        export_cases(path, calls, args.export, as_json=args.json)
    elif args.diagnose:
        diagnose_folder(path, calls, args.labels, as_json=args.json)
    elif args.json:
        for call in calls:
            print(json_line(summary_facts(call)))
    else:
        _show_calls(path, calls, listed, is_open=wanted.is_open)


def _show_calls(folder: Path, calls: list[CallSummary], listed: Listed, *, is_open: bool) -> None:
    count = f"{len(calls)} calls" if is_open else f"{len(calls)} of {len(listed.calls)} calls"
    title = f"{count} in {folder}" + (f", {listed.unread} unreadable files" if listed.unread else "")
    show([calls_block(title, calls, "no journals here" if not listed.calls else "no call is like that")])


def _one_call(call: CallRecord, args: argparse.Namespace) -> None:
    turns = _turns(call, args.turn)
    if args.html is not None:
        _page([call.path], args)
    elif args.mark or args.expect or args.said:
        _judge(call, turns, args)
    elif args.json:
        heads = [] if args.turn is not None else [call_facts(call)]
        for facts in [*heads, *(turn_facts(call, turn) for turn in turns)]:
            print(json_line(facts))
    elif args.turn is not None:
        show(list(turn_blocks(turns[0])))
    else:
        show([call_block(call), transcript_block(call)])


def _turns(call: CallRecord, only: int | None) -> list[TurnRecord]:
    turns = [turn for turn in call.turns if only is None or turn.turn == only]
    if only is not None and not turns:
        known = ", ".join(str(turn.turn) for turn in call.turns) or "none"
        raise InputError(f"{call.path}: no turn {only}; its turns are: {known}")
    return turns


def _judge(call: CallRecord, turns: list[TurnRecord], args: argparse.Namespace) -> None:
    """A mark is kept; an expected passage alone is only looked for."""
    if len(turns) != 1:
        known = ", ".join(str(turn.turn) for turn in turns) or "none"
        raise InputError(f"{call.call}: which turn? add --turn N; its turns are: {known}")
    expect, said = tuple(args.expect or ()), args.said or ""
    if args.mark:
        mark_turn(call, turns[0], Mark(call.call, 0, args.mark, expect, said), as_json=args.json)
    elif expect:
        diagnose_turn(call, turns[0], Wanted(expect, said), as_json=args.json)
    else:
        raise InputError("--said goes with --expect or --mark: give one of them")
