"""`voice-agent models`: lists the embedded models, pulls those that are missing, proves those that are there."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TaskID, TextColumn, TransferSpeedColumn
from rich.progress import Progress as Bars
from rich.table import Table

from voice_agent.doors.common import Subparsers
from voice_agent.weights.catalogue import CATALOGUE, Model
from voice_agent.weights.pull import Progress, pull
from voice_agent.weights.store import Status, named, status, verify

EXAMPLES = """examples:
  voice-agent models list
  voice-agent models pull
  voice-agent models verify e5-small"""


def add(subparsers: Subparsers) -> None:
    """Registers the command."""
    parser = subparsers.add_parser(
        "models",
        help="list, pull or verify the embedded models",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "action",
        choices=("list", "pull", "verify"),
        help="what is here; fetch what is missing; hash every byte of what is here",
    )
    parser.add_argument("names", nargs="*", metavar="MODEL", help="only these (default: all)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0 done; 1 a model did not pass `verify`; WeightsError (2) for an unknown name or a model that cannot be had."""
    models = [named(name) for name in args.names] or list(CATALOGUE)
    match args.action:
        case "list":
            return _list(models)
        case "pull":
            return _pull(models)
        case _:
            return _verify(models)


def _list(models: Sequence[Model]) -> int:
    table = Table(box=None, pad_edge=False)
    for heading in ("model", "size", "licence", "state", "path"):
        table.add_column(heading, justify="right" if heading == "size" else "left", overflow="fold")
    for found in map(status, models):
        table.add_row(found.model, _megabytes(found.size), found.licence, found.state, str(found.path))
    Console().print(table)
    return 0


def _pull(models: Sequence[Model]) -> int:
    with _bars() as progress:
        standing = pull(models, progress)
    for found in standing:
        print(_line(found))
    return 0


def _verify(models: Sequence[Model]) -> int:
    standing = verify(models)
    for found in standing:
        print(_line(found), file=sys.stdout if found.usable else sys.stderr)
    return 0 if all(found.usable for found in standing) else 1


def _line(found: Status) -> str:
    note = f"; {found.note}" if found.note else ""
    return f"{found.model}: {found.state}, {_megabytes(found.size)}, {found.path}{note}"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


@contextmanager
def _bars() -> Iterator[Progress]:
    """One bar a package on standard error, and none where that is no terminal."""
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn()
    console = Console(stderr=True)
    with Bars(*columns, console=console, disable=not console.is_terminal) as bars:
        tasks: dict[str, TaskID] = {}

        def report(model: str, package: str, done: int, total: int) -> None:
            if package not in tasks:
                tasks[package] = bars.add_task(f"{model}: {package}", total=total)
            bars.update(tasks[package], completed=done)

        yield report
