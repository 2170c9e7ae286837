"""`voice-agent ask`: one typed question through the same guard as a call."""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from contextlib import aclosing
from datetime import date

from retrieval.conditions import Conditions
from voice_agent.call.clock import WallClock
from voice_agent.doors.common import Subparsers, add_common, configured, day, progress_bar
from voice_agent.knowledge import Knowledge, open_knowledge
from voice_agent.reply.answer import Asked
from voice_agent.reply.asked import Answered, answered

EXAMPLES = """examples:
  voice-agent ask "ERR_2048 报错怎么处理"
  voice-agent ask "退货期限是几天" --as-of 2025-06-01 --json
  voice-agent ask "日包多少钱" --tag 漫游 --version 2026.1"""


def add(subparsers: Subparsers) -> None:
    """Registers the command."""
    parser = subparsers.add_parser(
        "ask",
        help="one typed question",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("question", help="in Chinese, as a caller would put it")
    parser.add_argument("--as-of", type=day, metavar="DATE", help="answer as on this day (default: today)")
    parser.add_argument(
        "--tag", action="append", default=[], help="search only passages with this tag; may be given again"
    )
    parser.add_argument("--version", help="search only passages of exactly this version")
    parser.add_argument(
        "--json", action="store_true", help="one JSON object on standard output, nothing else"
    )
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0: a refusal is an answer too."""
    as_of = args.as_of or date.today()
    conditions = Conditions(as_of, tags=tuple(args.tag), version=args.version)
    asked = Asked(args.question, as_of, conditions=conditions)
    with progress_bar(quiet=args.json) as report, open_knowledge(configured(args), report) as knowledge:
        reply = asyncio.run(_ask(knowledge, asked))
    if args.json:
        print(json.dumps(reply.as_json(), ensure_ascii=False))
    else:
        _print(reply)
    return 0


async def _ask(knowledge: Knowledge, asked: Asked) -> Answered:
    began = time.perf_counter()
    async with aclosing(knowledge.answerer.begin(asked, WallClock().job())) as answering:
        return await answered(answering, began)


def _print(reply: Answered) -> None:
    print(reply.answer)
    if reply.status == "answered":
        for row in reply.evidence:
            print(f"  [{row['citation_id']}] {row['id']}  {row['source']}")
    else:
        print(f"  {reply.status}：{reply.reason}")
