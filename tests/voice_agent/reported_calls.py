"""Journals made for the report: calls of many turns of every ending, with what a hostile caller would say in them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from audio.types import CALL_RATE_HZ
from audio.wav import write_wav

NASTY = (
    "</script></template><script>document.title='owned'</script>"
    "<img src=x onerror=\"document.title='owned'\">' &amp;"
)
"""What must stay text in an element, in an attribute, and in what the script copies."""

TURN_S = 10.0

Line = dict[str, Any]


def write_report_call(folder: Path, call: str, turns: int, *, sound: bool = False, nasty: str = "") -> Path:
    """A call whose turns are answered, refused at the gate, blocked by the check and interrupted by turns."""
    lines: list[Line] = [
        {
            "type": "call",
            "schema": 1,
            "call": call,
            "models": {"asr": nasty or "whisper"},
            "started": "2026-11-30T09:00:05",
        }
    ]
    for turn in range(1, turns + 1):
        lines += _turn(turn, nasty)
    length = {"length_s": TURN_S * turns, "turns": turns, "stale_events": 0, "counters": {}}
    lines.append({"type": "call_ended", "t": TURN_S * turns, "turn": turns, "reason": "hung_up", **length})
    path = folder / f"{call}.jsonl"
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    if sound:
        tone = np.sin(np.arange(int(TURN_S * turns * CALL_RATE_HZ)) / 20.0).astype(np.float32) * 0.1
        write_wav(folder / f"{call}.wav", np.stack([tone, tone], axis=1), CALL_RATE_HZ)
    return path


def _turn(turn: int, nasty: str) -> Iterator[Line]:
    at = TURN_S * (turn - 1)
    question = f"第{turn}次问：退款多久到账？{nasty}"

    def event(kind: str, seconds: float, **fields: Any) -> Line:
        return {"type": kind, "t": round(at + seconds, 3), "turn": turn, **fields}

    yield event("speech_started", 0.7) | {"turn": turn - 1}
    yield event("partial", 1.4, text=f"退款{nasty}") | {"turn": turn - 1}
    yield event("speech_ended", 3.2, ended_s=at + 2.4) | {"turn": turn - 1}
    heard = {"text": question, "raw": f"嗯{question}", "confidence": 0.9, "dropped": None}
    yield event("transcript", 3.6, **heard, start_s=at + 0.5, end_s=at + 2.4, voiced_s=1.8)
    yield event("query", 3.7, text=question, terms=["退款", nasty], repairs=[{"to": nasty}])
    ranking = [{"id": f"passage-{n}{nasty}", "rank": n, "score": 1.0 / n} for n in range(1, 9)]
    yield event(
        "recall", 3.7, channels={"bm25": ranking, "dense": ranking[::-1]}, down={"phonetic": nasty or "late"}
    )
    yield event("fusion", 3.7, ranking=ranking)
    yield event("rerank", 3.7, ranking=ranking[:5])
    yield from _reply(turn, event, nasty)


def _reply(turn: int, event: Any, nasty: str) -> Iterator[Line]:
    outcome = ("answered", "refused", "blocked", "interrupted")[turn % 4]
    refused = outcome == "refused"
    gate = {"outcome": "REFUSE" if refused else "ANSWER", "reason": "LOW_SCORE" if refused else None}
    yield event("gate", 3.8, **gate, features={"asked": 1.0, "dense_top": 0.4}, thresholds={"answer": 0.7})
    if not refused:
        passage = {"citation_id": "S1", "id": f"passage-1{nasty}", "source": f"手册{nasty}"}
        verdict = {
            "passed": outcome != "blocked",
            "reason": "NUM_UNSUPPORTED" if outcome == "blocked" else None,
        }
        yield event(
            "sentence", 4.2, index=0, text=f"退款3天到账{nasty}。[S1]", **verdict, detail=nasty, ms=20.0,
            cited=[f"passage-1{nasty}"], evidence=[passage | {"text": f"先申请。退款在审核后3天到账{nasty}。"}],
        )  # fmt: skip
    whole = outcome != "interrupted"
    source = "phrase" if outcome in ("refused", "blocked") else f"手册{nasty}"
    yield event("spoken", 8.0, index=0, text=f"退款三天到账{nasty}。", start_s=event("", 5.0)["t"],
                end_s=event("", 8.0)["t"], complete=whole, source=source)  # fmt: skip
    if not whole:
        yield event("barge_in", 8.0, heard=nasty or "等等")
    if turn % 20 == 2:
        yield event("handoff", 8.1, reason=nasty or "VERDICT", packet={}, delivery="delivered")
    yield event("timing", 8.2, stages_ms={"asr": 300.0, "search": 40.0, "check": 20.0})
    yield event("error", 8.2, where="speech", message=nasty or "slow")
    yield event("reply_ended", 8.3, outcome=outcome, first_audio_s=2.6)
