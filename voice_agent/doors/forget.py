"""`voice-agent forget`: erases calls, everything that is kept of them."""

from __future__ import annotations

import argparse
from pathlib import Path

from voice_agent.doors.common import Subparsers, add_common, configured
from voice_agent.record.call_files import erase, files_of

EXAMPLES = """examples:
  voice-agent forget refund_bank            a call of logs/calls: journal, sound, vault, marks, report, packet
  voice-agent forget a b --logs out         calls that a replay has kept in out/"""


def add(subparsers: Subparsers) -> None:
    """Registers the command."""
    parser = subparsers.add_parser(
        "forget",
        help="erase calls: journal, sound, vault, marks, report",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("calls", nargs="+", metavar="CALL_ID")
    parser.add_argument(
        "--logs", type=Path, metavar="DIR", help="folder of the journals (default: logs/calls)"
    )
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0 when all are erased, each file told on a line. Raises InputError for one that is unknown: then none was."""
    logs: Path = args.logs or configured(args).paths.logs / "calls"
    for erasure in [files_of(logs, call) for call in args.calls]:
        erase(erasure)
        for path in erasure.files:
            print(f"erased {path}")
    return 0
