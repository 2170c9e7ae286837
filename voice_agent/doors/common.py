"""What several commands share: the configuration, a date on the command line, a progress bar."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TypeAlias

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from voice_agent.config import Config, load_config

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_common(parser: argparse.ArgumentParser) -> None:
    """--config and --set, on every command that reads the configuration."""
    parser.add_argument("--config", type=Path, help="configuration file (default: config.yaml here)")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override one setting"
    )
    parser.add_argument(
        "--require-calibrated",
        action="store_true",
        help="refuse to start with thresholds that were not calibrated on this knowledge base",
    )


def configured(args: argparse.Namespace) -> Config:
    """The configuration the arguments name. Raises ConfigError."""
    required = ["gate.require_calibrated=true"] if args.require_calibrated else []
    return load_config(args.config, [*args.set, *required])


def day(text: str) -> date:
    """An ISO date, for argparse."""
    try:
        return date.fromisoformat(text)
    except ValueError as e:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date; write it as 2026-11-30") from e


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """A bar on standard error; call it with (what, done, total). Nothing is drawn when quiet."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True, quiet=quiet), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def report(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)

        yield report
