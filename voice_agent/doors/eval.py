"""`voice-agent eval`: labelled questions -> measures of every layer."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from voice_agent.doors.common import Subparsers, add_common, configured, day, progress_bar
from voice_agent.evaluate import ask, load_questions, summary
from voice_agent.knowledge import open_knowledge

EXAMPLES = """examples:
  voice-agent eval data/eval/dev.jsonl
  voice-agent eval data/eval/dev.jsonl --json > dev.json
  voice-agent eval data/eval/dev.jsonl --wrong      the questions that went wrong, one a line"""


def add(subparsers: Subparsers) -> None:
    """Registers the command."""
    parser = subparsers.add_parser(
        "eval",
        help="labelled questions -> measures per layer",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("questions", type=Path, help="JSON lines, see data/schemas/eval_question.json")
    parser.add_argument("--as-of", type=day, help="answer as on this day (default: each question's own date)")
    parser.add_argument(
        "--json", action="store_true", help="one JSON object on standard output, nothing else"
    )
    parser.add_argument(
        "--wrong", action="store_true", help="list the questions whose decision or passage was wrong"
    )
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0 when every question was measured."""
    questions = load_questions(args.questions, args.as_of)
    console = Console(stderr=True, quiet=args.json)
    with progress_bar(quiet=args.json) as report, open_knowledge(configured(args), report) as knowledge:
        asked = track(questions, "提问", console=console, transient=True)
        results = [ask(question, knowledge.answerer.look) for question in asked]
    measures = {"file": str(args.questions), **summary(results)}
    if args.wrong:
        _print_wrong(results)
    elif args.json:
        sys.stdout.write(json.dumps(measures, ensure_ascii=False) + "\n")
    else:
        _print_tables(measures)
    return 0


def _print_wrong(results: list[Any]) -> None:
    for r in results:
        answered = r.outcome == "ANSWER"
        if answered == r.question.must_refuse or (answered and r.top not in r.question.expect):
            row = {
                "id": r.question.id,
                "question": r.question.asked.question,
                "outcome": r.outcome,
                "reason": r.reason,
            }
            print(json.dumps({**row, "top": r.top, "expect": r.question.expect}, ensure_ascii=False))


def _print_tables(measures: dict[str, Any]) -> None:
    console = Console()
    search = Table(title=f"检索（{measures['questions']} 问）")
    for column in ("类别", "系统", "Recall@1", "Recall@3", "Recall@10", "MRR", "nDCG@10"):
        search.add_column(column)
    gate = Table(title="门控")
    for column in ("类别", "题数", "判断正确", "误答", "误拒", "答错", "反问"):
        gate.add_column(column)
    for kind, part in [("全部", measures["all"]), *measures["kinds"].items()]:
        for system, numbers in part["search"].items():
            search.add_row(kind, system, *(f"{value:.3f}" for value in numbers.values()))
        shares = [_share(part["gate"][name]) for name in part["gate"]]
        gate.add_row(kind, str(part["count"]), *shares)
    console.print(search, gate)
    console.print(
        f"每问检索与门控用时 P50 {measures['look_ms']['p50']:.0f} ms，P95 {measures['look_ms']['p95']:.0f} ms"
    )


def _share(rate: dict[str, Any]) -> str:
    return "–" if rate["share"] is None else f"{rate['share']:.3f} ({rate['count']}/{rate['of']})"
