"""`voice-agent eval`: labelled questions or recordings -> measures of every layer."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from voice_agent.build import Agent, open_agent
from voice_agent.config import Config
from voice_agent.doors.common import Subparsers, add_common, configured, day, progress_bar
from voice_agent.doors.eval_tables import show_gaps, show_measures, show_wrong
from voice_agent.errors import InputError
from voice_agent.evaluation.compare import Change, compare
from voice_agent.evaluation.questions import load_questions
from voice_agent.evaluation.recordings import Recorded, hear, holds_recordings, load_recordings
from voice_agent.evaluation.report import html_report
from voice_agent.evaluation.run import Asking, Yardsticks, described, load_run, walk_all
from voice_agent.knowledge import Knowledge, open_knowledge

EXAMPLES = """examples:
  voice-agent eval data/eval/dev.jsonl
  voice-agent eval data/eval/dev.jsonl --json > dev.json
  voice-agent eval data/eval/dev.jsonl --html dev.html --baseline dev.json
  voice-agent eval recordings/              WAV files named in recordings/recordings.jsonl
  voice-agent eval data/eval/dev.jsonl --wrong      the questions that went wrong, one a line
  voice-agent eval data/eval/dev.jsonl --gaps       what to write next"""


def add(subparsers: Subparsers) -> None:
    """Registers the command."""
    parser = subparsers.add_parser(
        "eval",
        help="labelled questions or recordings -> measures per layer",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "questions",
        type=Path,
        help="JSON lines (data/schemas/eval_question.json); or recordings: a folder with recordings.jsonl, or such a "
        "file (data/schemas/eval_recording.json)",
    )
    parser.add_argument("--as-of", type=day, help="answer as on this day (default: each question's own date)")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="one JSON object on standard output, nothing else")
    shown.add_argument(
        "--wrong", action="store_true", help="list the questions whose decision or passage was wrong"
    )
    shown.add_argument(
        "--gaps", action="store_true", help="unanswered questions in groups: what to write next"
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a report that needs nothing else")
    parser.add_argument(
        "--baseline", type=Path, metavar="FILE", help="an earlier --json output to compare with"
    )
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0 when every question was measured."""
    before = load_run(args.baseline) if args.baseline else None
    measures = {"file": str(args.questions), **_measured(args, configured(args))}
    changes = compare(measures, before) if before else []
    if args.html:
        _write(args.html, html_report(measures, changes, args.baseline.name if before else ""))
    _show(args, measures, changes)
    return 0


def _show(args: argparse.Namespace, measures: dict[str, Any], changes: Sequence[Change]) -> None:
    if args.json:
        rows = {"baseline": [change.as_row() for change in changes]} if args.baseline else {}
        sys.stdout.write(json.dumps({**measures, **rows}, ensure_ascii=False) + "\n")
    elif args.wrong:
        show_wrong(measures)
    elif args.gaps:
        show_gaps(measures)
    else:
        show_measures(measures, changes)


def _measured(args: argparse.Namespace, config: Config) -> dict[str, Any]:
    with _asked(args, config) as (knowledge, asked):
        results = asyncio.run(walk_all(asked, knowledge.answerer))
        sticks = Yardsticks(knowledge.corpus.passages, knowledge.encoder, knowledge.reranker)
        models = {"encoder": knowledge.encoder.id, "reranker": knowledge.reranker.id}
        facts = {"kb_version": knowledge.corpus.version, "config_sha": config.sha, "models": models}
        return {**facts, **described(results, sticks)}


@contextmanager
def _asked(args: argparse.Namespace, config: Config) -> Iterator[tuple[Knowledge, Iterator[Asking]]]:
    """The knowledge, and the questions as they are asked of it; recordings are heard by the call's own parts."""
    console = Console(stderr=True, quiet=args.json)
    if holds_recordings(args.questions):
        recordings = load_recordings(args.questions, args.as_of)
        with progress_bar(quiet=args.json) as report, open_agent(config, report) as agent:
            bar = track(recordings, "听与问", console=console, transient=True)
            yield agent.knowledge, (_heard(recorded, agent) for recorded in bar)
    else:
        questions = load_questions(args.questions, args.as_of)
        with progress_bar(quiet=args.json) as report, open_knowledge(config, report) as knowledge:
            typed = track(questions, "提问", console=console, transient=True)
            yield knowledge, ((question, None) for question in typed)


def _heard(recorded: Recorded, agent: Agent) -> Asking:
    return hear(recorded, agent.parts.recognizer, agent.parts.detector, agent.parts.preroll_s)


def _write(path: Path, page: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    except OSError as e:
        raise InputError(f"{path}: cannot be written ({e.strerror}); give another --html FILE") from e
