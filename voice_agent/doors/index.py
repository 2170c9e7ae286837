"""`voice-agent index`: builds the index and reports what is wrong with the knowledge base."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from retrieval.index import build_index
from retrieval.lint import lint
from voice_agent.doors.common import Subparsers, add_common, configured, progress_bar
from voice_agent.knowledge import load_encoder
from voice_agent.knowledge_files import read_corpus

EXAMPLES = """examples:
  voice-agent index
  voice-agent index --set paths.kb=/data/our-kb --json"""


def add(subparsers: Subparsers) -> None:
    """Registers the command."""
    parser = subparsers.add_parser(
        "index",
        help="build the index; report conflicts, duplicates, undated entries",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--json", action="store_true", help="one JSON object on standard output, nothing else"
    )
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0 when the index stands; findings are for the author, not a failure."""
    config = configured(args)
    corpus = read_corpus(config)
    findings = lint(corpus)
    encoder = load_encoder(config)
    with progress_bar(quiet=args.json) as report:
        index = build_index(
            config.paths.index, corpus, encoder, lambda done, total: report("建立索引", done, total)
        )
    if args.json:
        facts = {"passages": len(index.passages), "vectors": len(index.vectors), "kb_version": corpus.version}
        rows = [asdict(finding) for finding in findings]
        print(json.dumps({**facts, "warnings": corpus.warnings, "findings": rows}, ensure_ascii=False))
        return 0
    for line in (*corpus.warnings, *(f"{finding.kind}：{finding.message}" for finding in findings)):
        print(line)
    print(
        f"{config.paths.index}：{len(index.passages)} 段，{len(index.vectors)} 个向量，知识库版本 {corpus.version}"
    )
    return 0
