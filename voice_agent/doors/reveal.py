"""`voice-agent reveal`: what a call's placeholders stand for, for whoever holds the operator's key."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from voice_agent.doors.common import Subparsers, add_common, configured
from voice_agent.doors.tables import clean
from voice_agent.errors import ConfigError
from voice_agent.record.journal import check_call_id
from voice_agent.record.vault import opened_by, reveal


def add(subparsers: Subparsers) -> None:
    """Registers the command."""
    parser = subparsers.add_parser(
        "reveal", help="what was masked in a call, with the key of privacy.key_env"
    )
    parser.add_argument("call", metavar="CALL_ID")
    parser.add_argument(
        "--logs", type=Path, metavar="DIR", help="folder of the journals (default: logs/calls)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object, nothing else")
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """One placeholder a line; 0. Raises ConfigError without a key, InputError without a vault."""
    config = configured(args)
    if not config.privacy.key_env:
        raise ConfigError(
            "privacy.key_env: names no variable with a key; without one nothing can be revealed"
        )
    logs: Path = args.logs or config.paths.logs / "calls"
    values = reveal(logs / f"{check_call_id(args.call)}.vault", opened_by(config.privacy.key_env))
    if args.json:
        print(json.dumps(values, ensure_ascii=False))
        return 0
    for placeholder, value in values.items():
        print(f"{placeholder}\t{clean(value)}")
    return 0
