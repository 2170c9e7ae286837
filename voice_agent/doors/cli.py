"""The command line: which commands there are, and how a fault becomes one line and an exit code."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from audio.errors import AudioError
from retrieval.errors import RetrievalError
from voice_agent.errors import AgentError, LoadError

COMMANDS = (
    "talk",
    "replay",
    "ask",
    "serve",
    "index",
    "inspect",
    "forget",
    "reveal",
    "eval",
    "calibrate",
    "synth",
    "models",
    "doctor",
)
"""Each is a module beside this one with `add(subparsers)` and a `run(args)` that returns the exit code."""


def run(argv: Sequence[str]) -> int:
    """0 done, 1 a fault or an unmet expectation, 2 wrong usage, configuration or input, 130 interrupted."""
    parser = argparse.ArgumentParser(
        prog="voice-agent", description="只照文档回答、先核对再开口的中文电话坐席"
    )
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    named = [argv[0]] if argv and argv[0] in COMMANDS else COMMANDS
    for command in named:  # only the one that is asked for: `models` must work where another part is broken
        importlib.import_module(f"voice_agent.doors.{command}").add(subparsers)
    args = parser.parse_args(argv)
    try:
        return int(args.run(args))
    except LoadError as e:
        print(f"voice-agent: {e}", file=sys.stderr)
        return 1
    except (AgentError, AudioError, RetrievalError) as e:
        print(f"voice-agent: {e}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `| head` has read enough; what is still buffered has nowhere to go
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
