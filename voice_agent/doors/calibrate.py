"""`voice-agent calibrate`: thresholds for a stated rate of false accepts, and fusion weights, kept beside the index."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from retrieval.calibrate import Wanted
from retrieval.calibration import save
from retrieval.metrics import Rate
from retrieval.types import Channel
from voice_agent.calibrating import Calibrated, Calibrator
from voice_agent.doors.common import Subparsers, add_common, configured, progress_bar
from voice_agent.evaluation.questions import load_questions
from voice_agent.knowledge import open_knowledge, search_settings

EXAMPLES = """examples:
  voice-agent calibrate data/eval/dev.jsonl
  voice-agent calibrate our-questions.jsonl --max-false-accept 0.01
  voice-agent calibrate data/eval/dev.jsonl --out shadow.json    for gate.shadow, which is journalled only"""


def add(subparsers: Subparsers) -> None:
    """Registers the command."""
    parser = subparsers.add_parser(
        "calibrate",
        help="thresholds for --max-false-accept, saved beside the index",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "questions", type=Path, help="labelled questions, see data/schemas/eval_question.json"
    )
    parser.add_argument(
        "--max-false-accept",
        type=share,
        default=0.02,
        metavar="SHARE",
        help="of questions that must be refused, answered at most (default: 0.02)",
    )
    parser.add_argument(
        "--max-false-reject",
        type=share,
        default=0.08,
        metavar="SHARE",
        help="of questions that have an answer, refused outright at most (default: 0.08)",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write there instead of beside the index")
    parser.add_argument(
        "--json", action="store_true", help="one JSON object on standard output, nothing else"
    )
    add_common(parser)
    parser.set_defaults(run=run)


def share(text: str) -> float:
    """A number between 0 and 1, both excluded, for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 < value < 1.0:
        raise argparse.ArgumentTypeError(f"{text!r} is no share; write it as 0.02")
    return value


def run(args: argparse.Namespace) -> int:
    """0 when a calibration was written, also one whose sample is too small: that is said."""
    config = configured(args)
    questions = load_questions(args.questions)
    wanted = Wanted(args.max_false_accept, args.max_false_reject)
    with (
        progress_bar(quiet=args.json) as report,
        open_knowledge(config, report, calibrated=False) as knowledge,
    ):
        made = Calibrator(questions, knowledge, wanted, report).run(search_settings(config, None))
    path = save(made.calibration, args.out or config.paths.index)
    if args.json:
        print(json.dumps({"file": str(path), **asdict(made)}, ensure_ascii=False))
    else:
        _print(made, path)
    return 0


def _print(made: Calibrated, path: Path) -> None:
    calibration, bound = made.calibration, made.calibration.bound
    print(f"融合权重 {_pairs(made.tuned.weights)}；终排混合 {_pairs(made.tuned.blend)}")
    print(f"融合前后 {_pairs(made.tuned.fused)}；终排 {_pairs(made.tuned.ranked)}")
    print(f"门限 {_pairs(calibration.thresholds)}")
    print(
        f"选门限的一半：该拒未拒 {_of(bound.chosen_on)}；另一半：{_of(bound.seen_on)}，95% 上界 {bound.upper:.1%}"
    )
    if not bound.shown:
        print(
            f"样本不足以证明 {bound.wanted:.1%}：另一半须有至少 {bound.needed} 个该拒的问题且无一答出，"
            f"现有 {bound.seen_on[1]} 个、答出 {bound.seen_on[0]} 个"
        )
    print(
        f"全部问题（融合与门限都在其上选出，偏乐观）：该拒未拒 {_rate(made.false_accept)}；"
        f"有答而拒 {_rate(made.false_reject)}；反问 {_rate(made.asked_back)}"
    )
    print(f"已写入 {path}")


def _pairs(numbers: Mapping[Channel, float] | Mapping[str, float]) -> str:
    return "，".join(f"{name} {value:.4g}" for name, value in numbers.items())


def _of(counted: tuple[int, int]) -> str:
    return f"{counted[0]}/{counted[1]}"


def _rate(rate: Rate) -> str:
    share = "–" if rate.share is None else f"{rate.share:.1%}"
    return f"{rate.count}/{rate.total} = {share}（95% 区间 {rate.low:.1%} 至 {rate.high:.1%}）"
