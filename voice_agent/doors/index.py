"""`voice-agent index`: builds the index and reports what is wrong with the knowledge base."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict

from audio.speech_cache import CachedSynthesizer
from retrieval.index import build_index
from retrieval.lint import lint
from retrieval.types import Passage
from voice_agent.build import voices
from voice_agent.config import Config
from voice_agent.doors.common import Subparsers, add_common, configured, progress_bar
from voice_agent.errors import ConfigError
from voice_agent.knowledge import load_encoder
from voice_agent.knowledge_files import read_corpus
from voice_agent.prerender import Prerendered, answer_texts, prerender

EXAMPLES = """examples:
  voice-agent index
  voice-agent index --set paths.kb=/data/our-kb --json
  voice-agent index --speak --limit 100    # and make the sound of 100 more answers; may be stopped and gone on with"""


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
    parser.add_argument(
        "--speak",
        action="store_true",
        help="also synthesise what answers can consist of, for the speech cache",
    )
    parser.add_argument("--limit", type=_count, metavar="N", help="with --speak: at most N sentences now")
    add_common(parser)
    parser.set_defaults(run=run)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r}: give a number of sentences, 1 or more")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """0 when the index stands; findings are for the author, not a failure."""
    if args.limit is not None and not args.speak:
        raise ConfigError("--limit counts sentences to speak: give --speak with it")
    config = configured(args)
    corpus = read_corpus(config)
    findings = lint(corpus)
    encoder = load_encoder(config)
    with progress_bar(quiet=args.json) as report:
        index = build_index(
            config.paths.index, corpus, encoder, lambda done, total: report("建立索引", done, total)
        )
    spoken = _speak(config, index.passages, args) if args.speak else None
    if args.json:
        facts: dict[str, object] = {
            "passages": len(index.passages),
            "vectors": len(index.vectors),
            "kb_version": corpus.version,
        }
        rows = [asdict(finding) for finding in findings]
        if spoken is not None:
            facts["speech"] = asdict(spoken)
        print(json.dumps({**facts, "warnings": corpus.warnings, "findings": rows}, ensure_ascii=False))
        return 0
    for line in (*corpus.warnings, *(f"{finding.kind}：{finding.message}" for finding in findings)):
        print(line)
    print(
        f"{config.paths.index}：{len(index.passages)} 段，{len(index.vectors)} 个向量，知识库版本 {corpus.version}"
    )
    if spoken is not None:
        _tell(spoken, config)
    return 0


def _speak(config: Config, passages: Iterable[Passage], args: argparse.Namespace) -> Prerendered:
    voice = voices(config)[0]
    if not isinstance(voice, CachedSynthesizer):
        raise ConfigError("tts.cache_mb is 0: give the speech cache room to keep what --speak makes")
    with progress_bar(quiet=args.json) as report:
        return prerender(
            answer_texts(passages), voice, args.limit, lambda done, total: report("合成语音", done, total)
        )


def _tell(spoken: Prerendered, config: Config) -> None:
    for fault in spoken.faults:
        print(f"无法朗读：{fault}")
    print(f"语音：已有 {spoken.there} 句，新合成 {spoken.made} 句，未合成 {spoken.left} 句")
    if spoken.full:
        print(f"语音缓存已满：请调大 tts.cache_mb（现为 {config.tts.cache_mb}）后再运行")
