"""`voice-agent serve`: typed questions over HTTP; see docs/service.md."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from voice_agent.build import open_agent
from voice_agent.config import Config
from voice_agent.doors.common import Subparsers, add_common, configured, progress_bar
from voice_agent.errors import ConfigError
from voice_agent.knowledge import open_knowledge
from voice_agent.record.telemetry import OFF

if TYPE_CHECKING:
    from voice_agent.service.shelf import Stock

EXAMPLES = """examples:
  voice-agent serve                                   on this machine only, http://127.0.0.1:8080
  voice-agent serve --new-key ask                     a key for a client, and its entry for VOICE_AGENT_API_KEYS
  voice-agent serve --set service.host=0.0.0.0        for others: needs keys; put TLS before it
  kill -HUP PID                                       takes the knowledge base anew, without dropping a request"""

_EXTRA = "serve: needs the extra serve; pip install 'voice-agent[serve]'"


def add(subparsers: Subparsers) -> None:
    """Registers the command."""
    parser = subparsers.add_parser(
        "serve",
        help="answers over HTTP",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--new-key",
        choices=("ask", "admin"),
        help="print a new key and its entry, and serve nothing; admin keys also read calls and reload",
    )
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0 after a clean end. Raises ConfigError for a missing extra, an address in use, or no keys beyond loopback."""
    try:
        from voice_agent.service.keys import ENVIRONMENT, new_key, read_keys
        from voice_agent.service.server import check_exposed, serve
    except ModuleNotFoundError as e:
        if (e.name or "").split(".")[0] in (
            "fastapi",
            "uvicorn",
            "starlette",
            "limits",
            "anyio",
            "websockets",
        ):
            raise ConfigError(_EXTRA) from e
        raise
    if args.new_key:
        key, its_hash = new_key()
        print(f"key    {key}\nentry  {args.new_key}:{its_hash}")
        return 0
    config = configured(args)
    ring = read_keys(os.environ.get(ENVIRONMENT, ""), config.service.keys_file)
    check_exposed(config, ring)
    serve(config, ring, lambda: _opened(config), say)
    return 0


@contextmanager
def _opened(config: Config) -> Iterator[Stock]:
    """The knowledge, and the agent where calls are taken, with a bar while they are made ready; reloads too."""
    from voice_agent.service.shelf import Stock

    with ExitStack() as stack:
        with progress_bar(quiet=not sys.stderr.isatty()) as report:
            if config.service.calls:
                agent = stack.enter_context(open_agent(config, report, OFF))
                stock = Stock(agent.knowledge, agent)
            else:
                stock = Stock(stack.enter_context(open_knowledge(config, report)))
        yield stock


def say(line: str) -> None:
    """One line for the operator, on standard error."""
    print(line, file=sys.stderr, flush=True)
