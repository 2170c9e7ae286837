"""The two suites of hearing: sounds in which nobody speaks raise no turn, short words that are spoken raise one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from statistics import fmean
from typing import Any

from audio.cer import character_error_rate
from hearing.chain import Ear, Span, listen, on_a_line, raised
from hearing.noise import Clip
from hearing.utterances import Utterance

LINE_DBFS = -65.0
"""Hiss of a quiet line under every word."""


def silence_suite(clips: Iterable[Clip], ear: Ear) -> dict[str, Any]:
    """How many clips of each kind made the agent act (must be none), and why the others were dropped."""
    counts, by_kind, reasons, false = Counter[str](), Counter[str](), Counter[str](), []
    for clip in clips:
        spans = listen(clip.samples, ear)
        counts["clips"] += 1
        counts["seconds"] += round(len(clip.samples) / 16_000)
        counts["taken_for_voice"] += bool(spans)
        by_kind[clip.kind] += 1
        reasons.update(span.transcript.dropped or "heard" for span in spans)
        if acted := raised(spans):
            false.append({"clip": clip.name, **_told(acted)})
    return {
        **counts,
        "turns": len(false),
        "kinds": dict(by_kind),
        "spans": dict(reasons),
        "false_turns": false,
    }


def speech_suite(utterances: Iterable[Utterance], ear: Ear) -> dict[str, Any]:
    """How many words made the agent act (all but one may not), and apart from that how well they were understood."""
    counts, errors, missed, wrong = Counter[str](), list[float](), [], []
    for number, said in enumerate(utterances):
        spans = listen(on_a_line(said.samples, LINE_DBFS, number), ear)
        counts["utterances"] += 1
        acted = raised(spans)
        counts["raised"] += bool(acted)
        counts["answered"] += any(span.outcome == "turn" for span in acted)
        heard = "".join(span.transcript.text for span in spans)
        if not acted:
            missed.append({"said": said.text, "voice": said.voice, **_told(spans)})
        if said.text:
            errors.append(min(1.0, character_error_rate(said.text, heard)))
            if errors[-1]:
                wrong.append(f"{said.text} → {heard or _told(spans)['dropped']}")
    asked = counts["raised"] - counts["answered"]
    report = {**counts, "asked_again": asked, "missed": missed}
    if errors:
        exact = sum(not error for error in errors) / len(errors)
        report |= {"exact": round(exact, 3), "cer": round(fmean(errors), 3), "misheard": wrong}
    return report


def _told(spans: list[Span]) -> dict[str, Any]:
    return {
        "outcome": [span.outcome for span in spans],
        "dropped": [span.transcript.dropped for span in spans],
        "raw": [span.transcript.raw for span in spans],
    }
