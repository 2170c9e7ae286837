"""`voice-agent replay`: recorded calls through the whole agent, as fast as it can or in real time.

Journals are replayed too: their decisions are made again, see replay_journals.py.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from audio.errors import AudioError
from audio.wav import read_wav
from voice_agent.build import Agent, open_agent
from voice_agent.call.recorded import Clip, Cue
from voice_agent.doors.common import Subparsers, add_common, configured, day, progress_bar
from voice_agent.doors.replay_journals import add_audit, are_journals, run_audit
from voice_agent.errors import InputError
from voice_agent.expectations import Expectation, load_expectations, unmet
from voice_agent.record.call_record import CallRecord, TurnRecord
from voice_agent.record.inspection import read_call
from voice_agent.replay import replay_call, unhurried

EXAMPLES = """examples:
  voice-agent replay call.wav                        one recording, as fast as it can
  voice-agent replay call.wav --speed 1 --out out    in real time; keeps the call's sound and journal in out/
  voice-agent replay data/calls --expect data/calls/expect.jsonl --json
  voice-agent replay logs/calls --audit              every decision of these journals made again
  voice-agent replay call.jsonl --index data/kb      is what was said still what the documents say?
  voice-agent replay logs/calls --what-if gate.answer=0.9"""


@dataclass(frozen=True, slots=True)
class _Plan:
    """A call by the names of its recordings, each with its cue and delay."""

    call: str
    wavs: tuple[tuple[Path, Cue, float], ...]
    as_of: date
    expected: Expectation | None


@dataclass(frozen=True, slots=True)
class _Job:
    """A call by its sound."""

    call: str
    clips: tuple[Clip, ...]
    as_of: date
    warnings: tuple[str, ...]
    expected: Expectation | None


def add(subparsers: Subparsers) -> None:
    """Registers the command."""
    parser = subparsers.add_parser(
        "replay",
        help="recorded WAV calls through the whole agent; journals audited",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="WAV|JOURNAL|FOLDER")
    parser.add_argument(
        "--speed", type=_speed, default=0.0, help="1 is real time; 0, the default, as fast as it can"
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="keep the call's sound (caller left, agent right) and journal"
    )
    parser.add_argument(
        "--expect", type=Path, metavar="FILE", help="what the calls must come to; exit 1 where one does not"
    )
    parser.add_argument("--call", metavar="NAME", help="of the expected calls, only this one")
    parser.add_argument("--as-of", type=day, metavar="DATE", help="the day of the call (default: today)")
    parser.add_argument("--channel", default="mix", help="of a stereo file: mix (default), left or right")
    parser.add_argument(
        "--json", action="store_true", help="one JSON object a call on standard output, nothing else"
    )
    add_audit(parser)
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0 done, 1 an unmet expectation, a fault in a call or a decision that differs, 2 an input of no use."""
    if are_journals(args):
        return run_audit(args)
    jobs, refused = _jobs(args)
    for line in refused:
        print(line, file=sys.stderr)
    if not jobs:
        return 2
    config = configured(args) if args.speed else unhurried(configured(args))
    failed = False
    with progress_bar(quiet=args.json) as report, open_agent(config, report) as agent:
        _tell_ready(agent, quiet=args.json)
        for job in jobs:
            record = asyncio.run(replay_call(agent, job.call, job.clips, job.as_of, args.speed, args.out))
            call = read_call(record)
            faults = (
                unmet(job.expected, call) if job.expected else [e for turn in call.turns for e in turn.errors]
            )
            failed = failed or bool(faults)
            _show(call, job, faults, as_json=args.json)
    return 2 if refused else int(failed)


def _speed(text: str) -> float:
    speed = float(text)
    if not 0 <= speed <= 100:
        raise argparse.ArgumentTypeError(f"{text}: a speed is 0 (as fast as it can) to 100 times real time")
    return speed


def _jobs(args: argparse.Namespace) -> tuple[list[_Job], list[str]]:
    """The calls to replay, and one line for each that cannot be."""
    jobs: list[_Job] = []
    refused: list[str] = []
    for plan in _plans(args):
        try:
            recordings = [read_wav(path, args.channel) for path, _, _ in plan.wavs]
        except AudioError as e:
            refused.append(f"voice-agent: {e}")
            continue
        pairs = list(zip(plan.wavs, recordings, strict=True))
        clips = tuple(Clip(recording.samples, cue, delay_s) for (_, cue, delay_s), recording in pairs)
        warnings = tuple(f"{path}: {warning}" for (path, _, _), r in pairs for warning in r.warnings)
        jobs.append(_Job(plan.call, clips, plan.as_of, warnings, plan.expected))
    return jobs, refused


def _plans(args: argparse.Namespace) -> list[_Plan]:
    if args.expect is None:
        as_of = args.as_of or date.today()
        return [_Plan(path.stem, ((path, "start", 0.0),), as_of, None) for path in _files(args.paths)]
    if len(args.paths) != 1 or not args.paths[0].is_dir():
        raise InputError("--expect: give the one folder that holds the recordings it names")
    folder: Path = args.paths[0]
    plans = []
    for expected in load_expectations(args.expect):
        if args.call not in (None, expected.call):
            continue
        wavs = tuple((folder / clip.wav, clip.cue, clip.delay_s) for clip in expected.clips)
        plans.append(_Plan(expected.call, wavs, expected.as_of, expected))
    if not plans:
        raise InputError(f"--call {args.call}: {args.expect} expects no such call")
    return plans


def _files(paths: Sequence[Path]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(path.glob("*.wav"))
            if not inside:
                raise InputError(f"{path}: no .wav file in this folder; name one that has recordings")
            files.extend(inside)
        else:
            files.append(path)
    return files


def _tell_ready(agent: Agent, quiet: bool) -> None:
    if not quiet:
        steps = "，".join(f"{step} {ms / 1000:.1f}" for step, ms in agent.timings_ms.items())
        print(f"就绪，用时 {sum(agent.timings_ms.values()) / 1000:.1f} 秒（{steps}）")


def _show(call: CallRecord, job: _Job, faults: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(_facts(call, job, faults), ensure_ascii=False), flush=True)
        return
    print(f"\n通话 {call.call}  {call.length_s or 0:.1f} 秒  {call.path}")
    for warning in job.warnings:
        print(f"  注意：{warning}")
    for turn in call.turns:
        _show_turn(turn)
    if not call.turns:
        print("  没有听到提问")
    for fault in faults:
        print(f"  不符：{fault}")


def _show_turn(turn: TurnRecord) -> None:
    confidence = "" if turn.confidence is None else f"（把握 {turn.confidence:.2f}）"
    unheard = f"〔未采信：{turn.dropped}〕" if turn.dropped else "〔没有〕"
    print(f"  第 {turn.turn} 轮  听到：{turn.heard or unheard}{confidence}")
    if turn.gate:
        print(f"         判断：{turn.gate.outcome}{f'  {turn.gate.reason}' if turn.gate.reason else ''}")
    for line in turn.spoken:
        print(f"         说出：{line.text}{'' if line.complete else '〔被打断〕'}  来源：{line.source}")
    for sentence in turn.sentences:
        if not sentence.passed:
            print(f"         未说：{sentence.text}  原因：{sentence.reason} {sentence.detail}")
    if turn.handoff:
        print(f"         转人工：{turn.handoff}")
    if turn.first_audio_s is not None:
        print(f"         话音落到首个声音：{turn.first_audio_s:.2f} 秒")


def _facts(call: CallRecord, job: _Job, faults: Sequence[str]) -> dict[str, object]:
    return {
        "call": call.call,
        "ok": not faults,
        "unmet": list(faults),
        "handoff": call.handoff,
        "ended": call.ended,
        "length_s": call.length_s,
        "journal": str(call.path),
        "warnings": list(job.warnings),
        "turns": [_turn_facts(turn) for turn in call.turns],
    }


def _turn_facts(turn: TurnRecord) -> dict[str, object]:
    return {
        "turn": turn.turn,
        "heard": turn.heard,
        "dropped": turn.dropped,
        "gate": turn.gate.outcome if turn.gate else None,
        "reason": turn.gate.reason if turn.gate else None,
        "sentences": [
            {"text": s.text, "passed": s.passed, "reason": s.reason, "cited": s.cited} for s in turn.sentences
        ],
        "spoken": [line.text for line in turn.spoken],
        "outcome": turn.outcome,
        "first_audio_s": turn.first_audio_s,
    }
