"""`voice-agent doctor`: what works on this machine, and how to mend what does not."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import sys
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from retrieval.calibration import FILE, load
from retrieval.errors import RetrievalError
from retrieval.generations import current_generation, read_manifest
from voice_agent.config import Config
from voice_agent.data_files import check_files
from voice_agent.doors import checks
from voice_agent.doors.checks import Check, ModelState
from voice_agent.doors.common import Subparsers, add_common, configured
from voice_agent.knowledge_files import read_corpus
from voice_agent.reply.servers import models_served
from voice_agent.weights.catalogue import CATALOGUE
from voice_agent.weights.store import Status, model_home, status

EXAMPLES = """examples:
  voice-agent doctor
  voice-agent doctor --config my/config.yaml --json"""

_MARKS = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "fail": ("✗", "red")}


def add(subparsers: Subparsers) -> None:
    """Registers the command."""
    parser = subparsers.add_parser(
        "doctor",
        help="what works on this machine and how to mend what does not",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a check, nothing else")
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0 unless a check fails, then 1. A warning does not fail: calls work, with less."""
    failed = False
    console = Console(highlight=False)
    for check in examine(args):
        failed = failed or check.status == "fail"
        if args.json:
            print(json.dumps(dataclasses.asdict(check), ensure_ascii=False), flush=True)
        else:
            _show(console, check)
    return 1 if failed else 0


def examine(args: argparse.Namespace) -> Iterator[Check]:
    """Every finding, in the order in which one would mend them."""
    yield checks.check_python(sys.version_info[:3])
    yield checks.check_platform(platform.system(), platform.machine(), os.cpu_count())
    checked, config = checks.check_config(lambda: configured(args))
    yield from checks.check_packages(checks.is_installed, config.profile == "hub")
    yield checked
    models = _models(config)
    yield from checks.check_models(models)
    yield from checks.check_data(check_files(config.paths.kb, config.paths.kb.parent))
    yield from _knowledge(config)
    yield checks.check_llm(config, lambda: models_served(config))
    yield checks.check_audio(checks.sound_devices)
    missing = sum(
        model.size for model in CATALOGUE if any(m.name == model.name and not m.usable for m in models)
    )
    # A download and what is made of it stand side by side for a moment.
    yield checks.check_space(model_home(), 2 * missing + checks.FREE_BYTES)
    yield checks.check_space(config.paths.logs, checks.FREE_BYTES)
    yield checks.check_writable("models folder", model_home())
    yield checks.check_writable("index folder", config.paths.index)
    yield checks.check_writable("logs folder", config.paths.logs)


def _models(config: Config) -> list[ModelState]:
    """The embedded models that the configuration names; a hub model's files are not ours to judge."""
    used = {config.asr.model, config.retrieval.encoder, "kokoro"}
    states = [status(model) for model in CATALOGUE if model.name in used]
    return [ModelState(s.model, s.usable, _note(s)) for s in states]


def _note(found: Status) -> str:
    if found.usable:
        return found.note
    return f"尚未下载：{found.path}" if found.state == "missing" else f"已损坏：{found.path}（{found.note}）"


def _knowledge(config: Config) -> Iterator[Check]:
    """The knowledge base and, if it loads, the index made of it."""
    kb = config.paths.kb
    try:
        corpus = read_corpus(config)
    except RetrievalError as e:
        yield checks.check_knowledge(kb, 0, (), str(e))
        return
    yield checks.check_knowledge(kb, len(corpus.passages), corpus.warnings, "")
    try:
        built, fault = read_manifest(current_generation(config.paths.index)), ""
    except RetrievalError as e:
        built, fault = None, str(e)
    yield checks.check_index(built, fault, corpus.sha)
    try:
        found, fault = load(config.paths.index / FILE), ""
    except RetrievalError as e:
        found, fault = None, str(e)
    yield checks.check_calibration(found, fault, corpus.sha, config.gate.require_calibrated)


def _show(console: Console, check: Check) -> None:
    mark, colour = _MARKS[check.status]
    console.print(Text.assemble((mark, colour), f" {check.name}: {check.message}"), soft_wrap=True)
    if check.mend:
        console.print(Text(f"    → {check.mend}"), soft_wrap=True)
