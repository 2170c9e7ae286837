"""The journal side of `voice-agent replay`: every decision of past calls made again, and what differs."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from retrieval.generations import CURRENT
from retrieval.index import stored_passages
from retrieval.types import Passage
from voice_agent.doors.common import configured
from voice_agent.doors.tables import clean
from voice_agent.errors import InputError
from voice_agent.knowledge_files import read_corpus
from voice_agent.record.audit import (
    MEASURED_WITH,
    Judgement,
    Status,
    redecide,
    reverify,
    settings_of,
    what_if,
)
from voice_agent.record.lines import Lines, read_lines

_SHOWN: Mapping[Status, str] = {
    "same": "一致",
    "changed": "不同",
    "masked": "not reproducible: masked",
    "incomplete": "not reproducible: incomplete",
}

Again = Callable[[Lines], list[Judgement]]


def add_audit(parser: argparse.ArgumentParser) -> None:
    """The options that journals have."""
    parser.add_argument(
        "--audit", action="store_true", help="take the journals of a folder, not its WAV files"
    )
    parser.add_argument(
        "--index",
        type=Path,
        metavar="DIR",
        help="check spoken sentences against this index or knowledge base instead",
    )
    parser.add_argument(
        "--what-if",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="which past decisions other settings would have flipped: gate.<threshold> or answer.min_relevance",
    )


def are_journals(args: argparse.Namespace) -> bool:
    """Whether the paths are to be read as journals. Raises InputError where both kinds are named."""
    if args.audit or args.index or args.what_if:
        return True
    named = [path.suffix == ".jsonl" for path in args.paths]
    if any(named) and not all(named):
        raise InputError("replay: give recordings or journals, not both at once")
    return all(named)


def run_audit(args: argparse.Namespace) -> int:
    """0 nothing differs or `--what-if` was answered, 1 a difference, 2 a journal that could not be read."""
    journals, refused = _read(args.paths)
    again = _question(args, journals)
    total: Counter[Status] = Counter()
    for journal in journals:
        found = again(journal)
        total.update(judged.status for judged in found)
        _show(journal, found, as_json=args.json)
    if not args.json:
        told = "，".join(f"{_SHOWN[status]} {total[status]}" for status in _SHOWN)
        print(f"{len(journals)} 通电话，{total.total()} 项判定：{told}")
    return 2 if refused else int(total["changed"] > 0 and not args.what_if)


def _read(paths: Sequence[Path]) -> tuple[list[Lines], bool]:
    """The journals, and whether one was refused (told on standard error). Raises InputError if there is none."""
    files = [file for path in paths for file in (sorted(path.glob("*.jsonl")) if path.is_dir() else [path])]
    if not files:
        raise InputError(f"{paths[0]}: no journal (.jsonl) in this folder; name one that has some")
    journals, refused = [], False
    for file in files:
        try:
            journals.append(read_lines(file))
        except InputError as e:
            refused = True
            print(f"voice-agent: {e}", file=sys.stderr)
    return journals, refused


def _question(args: argparse.Namespace, journals: Sequence[Lines]) -> Again:
    if args.index and args.what_if:
        raise InputError("replay: give --index or --what-if, not both at once")
    if args.index:
        passages = _passages(args)
        return lambda lines: reverify(lines, passages)
    if args.what_if:
        known = {key for journal in journals for key in settings_of(journal)}
        changes = dict(_change(text, known) for text in args.what_if)
        return lambda lines: what_if(lines, changes)
    return redecide


def _passages(args: argparse.Namespace) -> dict[str, Passage]:
    """By id, of an index or of a knowledge base cut as the configuration says."""
    folder: Path = args.index
    if (folder / CURRENT).is_file():
        return {passage.id: passage for passage in stored_passages(folder)}
    config = configured(args)
    paths = config.paths.model_copy(update={"kb": folder})
    return {
        passage.id: passage for passage in read_corpus(config.model_copy(update={"paths": paths})).passages
    }


def _change(text: str, known: set[str]) -> tuple[str, float]:
    key, _, value = text.partition("=")
    if key.removeprefix("gate.") in MEASURED_WITH:
        raise InputError(
            f"--what-if {text}: the features were measured with it; replay the recording instead"
        )
    if key not in known:
        raise InputError(f"--what-if {text}: write it as KEY=NUMBER with one of {', '.join(sorted(known))}")
    try:
        return key, float(value)
    except ValueError as e:
        raise InputError(f"--what-if {text}: {value!r} is no number") from e


def _show(journal: Lines, found: Sequence[Judgement], *, as_json: bool) -> None:
    counts = Counter(judged.status for judged in found)
    unlike = [judged for judged in found if judged.status != "same"]
    if as_json:
        facts = {"call": journal.call, "journal": str(journal.path), "decisions": len(found)}
        rows = [{**asdict(judged), "told": _SHOWN[judged.status]} for judged in unlike]
        print(json.dumps({**facts, "same": counts["same"], "unlike": rows}, ensure_ascii=False), flush=True)
        return
    if unlike:
        print(f"\n通话 {journal.call}  {journal.path}")
    for judged in unlike:
        change = f"{judged.was} → {judged.now}" if judged.status == "changed" else judged.was
        print(f"  第 {judged.turn} 轮  {judged.what}  {_SHOWN[judged.status]}：{clean(change)}")
        print(f"         {clean(judged.text)}")
