"""From a call's journal: how long each caller waited for the first sample of an answer, and for what."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

PARTS = ("end_of_turn", "asr_tail", "search_to_gate", "generate_and_check", "tts")
"""What the wait is made of, in order; together it is the whole of it."""


@dataclass(frozen=True)
class Wait:
    """One answered turn. Seconds from the last voiced sample to any sound of the agent's (`first_sound_s`), and to the
    answer's; `stages_ms` is work, some of it done ahead."""

    call: str
    turn: int
    first_sound_s: float
    first_audio_s: float
    parts_s: dict[str, float]
    stages_ms: dict[str, float]


def waits(journal: Path) -> list[Wait]:
    """The turns of a call that were answered from documents and not taken back or cut before."""
    events = [json.loads(line) for line in journal.read_text(encoding="utf-8").split("\n") if line]
    turns = {e["turn"] for e in events if e["type"] == "reply_ended" and e["first_audio_s"] is not None}
    found = (_wait(journal.stem, turn, events) for turn in sorted(turns))
    return [wait for wait in found if wait is not None]


def _wait(call: str, turn: int, events: Sequence[dict[str, Any]]) -> Wait | None:
    own = [e for e in events if e.get("turn") == turn]
    last = {e["type"]: e for e in own}
    sentences = [e for e in own if e["type"] == "sentence" and e["passed"]]
    heard = last.get("transcript")
    if heard is None or not sentences or "gate" not in last:
        return None
    ended_s = heard["end_s"]
    known = next(e["t"] for e in events if e["type"] == "speech_ended" and e["ended_s"] == ended_s)
    audible_s = ended_s + last["reply_ended"]["first_audio_s"]
    marks = (ended_s, known, heard["t"], last["gate"]["t"], sentences[0]["t"], audible_s)
    parts = {name: round(b - a, 3) for name, a, b in zip(PARTS, marks[:-1], marks[1:], strict=True)}
    sounds = [e["start_s"] for e in own if e["type"] == "spoken" and e["start_s"] >= ended_s]
    first_s = round(min(sounds, default=audible_s) - ended_s, 3)
    return Wait(call, turn, first_s, round(audible_s - ended_s, 3), parts, last["timing"]["stages_ms"])


def summary(found: Sequence[Wait]) -> dict[str, Any]:
    """P50 and P95 of the waits, P50 of its parts and of the work; None where nothing was answered."""
    if not found:
        return {"turns": 0}
    stages = sorted({stage for wait in found for stage in wait.stages_ms})
    return {
        "turns": len(found),
        "first_sound_s": percentiles([wait.first_sound_s for wait in found], (50, 95)),
        "first_audio_s": percentiles([wait.first_audio_s for wait in found], (50, 95)),
        "parts_p50_s": {p: _middle(wait.parts_s[p] for wait in found) for p in PARTS},
        "work_p50_ms": {s: _middle(wait.stages_ms.get(s, 0.0) for wait in found) for s in stages},
    }


def percentiles(values: Sequence[float], which: Sequence[int]) -> dict[str, float]:
    """`{"p50": …}`, rounded to the millisecond."""
    return {f"p{q}": round(float(np.percentile(values, q)), 3) for q in which}


def _middle(values: Iterator[float]) -> float:
    return round(float(np.median(list(values))), 3)
