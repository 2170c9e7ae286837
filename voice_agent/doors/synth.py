"""`voice-agent synth`: question–answer–source triples from the knowledge base, by the language model."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import aclosing
from datetime import date
from pathlib import Path
from typing import TextIO

from retrieval.types import Passage, PassageId
from voice_agent.config import Config
from voice_agent.doors.common import Subparsers, add_common, configured, day, progress_bar
from voice_agent.errors import ConfigError, InputError
from voice_agent.knowledge import Knowledge, open_knowledge
from voice_agent.reply.answer import Asked
from voice_agent.reply.llm import Prompt
from voice_agent.reply.servers import open_llm
from voice_agent.synth import Refused, Streamed, Synthesis, Triple, Writer

INSTRUCTION = "你为电话客服的知识库出题，只依据给出的段落，按要求的格式输出。"
MAX_TOKENS = 600

EXAMPLES = """examples:
  voice-agent synth --out synth.jsonl
  voice-agent synth --limit 20 --per-passage 2 --rejected
  voice-agent eval synth.jsonl              the kept questions, measured like any others"""


def model_of(config: Config) -> Writer:
    """The configured language model as a writer. Raises ConfigError when answers are extracts, for those only quote."""
    if config.answer.generator == "extractive":
        raise ConfigError("synth: needs a language model; set answer.generator to ollama or openai")
    llm = open_llm(config)
    return Streamed(lambda prompt: llm.stream(Prompt(INSTRUCTION, prompt), MAX_TOKENS))


def add(subparsers: Subparsers, writer: Callable[[Config], Writer] = model_of) -> None:
    """Registers the command. `writer` makes the language model of a configuration, or raises ConfigError."""
    parser = subparsers.add_parser(
        "synth",
        help="question–answer–source triples from the knowledge base, by the language model",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write there (default: standard output)")
    parser.add_argument("--per-passage", type=int, default=3, metavar="N", help="pairs asked for a passage")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N passages")
    parser.add_argument(
        "--as-of", type=day, metavar="DATE", help="passages valid on this day (default: today)"
    )
    parser.add_argument(
        "--rejected", action="store_true", help="say on standard error what was dropped and why"
    )
    add_common(parser)
    parser.set_defaults(run=lambda args: run(args, writer))


def run(args: argparse.Namespace, writer: Callable[[Config], Writer]) -> int:
    """0 when at least one triple was kept, 1 when none was."""
    if args.per_passage < 1 or (args.limit is not None and args.limit < 1):
        raise InputError("--per-passage and --limit: give a number of at least 1")
    config = configured(args)
    model = writer(config)
    with progress_bar(quiet=False) as report, open_knowledge(config, report) as knowledge:
        passages = knowledge.corpus.passages[: args.limit]
        synthesis = Synthesis(
            model,
            _finder(knowledge),
            knowledge.answerer.checker,
            args.as_of or date.today(),
            args.per_passage,
        )
        kept, dropped = asyncio.run(_run(synthesis, passages, args))
    reasons = "，".join(f"{reason} {count}" for reason, count in dropped.most_common())
    print(f"留下 {kept} 组，丢弃 {dropped.total()} 组{f'：{reasons}' if reasons else ''}", file=sys.stderr)
    return 0 if kept else 1


def _finder(knowledge: Knowledge) -> Callable[[str, date], Sequence[PassageId]]:
    def find(question: str, as_of: date) -> list[PassageId]:
        found = knowledge.answerer.look(Asked(question, as_of)).found
        return [evidence.passage.id for evidence in found.evidence]

    return find


async def _run(
    synthesis: Synthesis, passages: Sequence[Passage], args: argparse.Namespace
) -> tuple[int, Counter[str]]:
    out = _opened(args.out)
    kept, dropped = 0, Counter[str]()
    try:
        async with aclosing(synthesis.run(passages)) as fates:
            async for fate in fates:
                if isinstance(fate, Triple):
                    kept += 1
                    out.write(json.dumps(fate.as_row(), ensure_ascii=False) + "\n")
                    out.flush()  # hours of a slow model must survive a stop
                else:
                    dropped[fate.reason] += 1
                    _tell(fate, args.rejected)
    finally:
        if out is not sys.stdout:
            out.close()
    return kept, dropped


def _tell(refused: Refused, wanted: bool) -> None:
    if wanted:
        print(
            f"{refused.passage} {refused.reason} {refused.question} {refused.detail}".rstrip(),
            file=sys.stderr,
        )


def _opened(path: Path | None) -> TextIO:
    if path is None:
        return sys.stdout
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("w", encoding="utf-8")
    except OSError as e:
        raise InputError(f"{path}: cannot be written ({e.strerror}); give another --out FILE") from e
