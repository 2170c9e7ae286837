"""Marked turns as evaluation questions, in the format of data/eval (data/schemas/eval_question.json). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from audio.cer import characters
from voice_agent.record.call_record import CallRecord, TurnRecord
from voice_agent.record.review import Mark

MOST_BEFORE = 6
"""Turns before a question that go with it, as many as a call keeps for follow-ups."""


def case_of(call: CallRecord, turn: TurnRecord, mark: Mark) -> dict[str, Any] | None:
    """The turn as a labelled question; None where the mark does not say what would have been right.

    A right answer expects the passages it cited; a right refusal must be refused; a right question back says nothing.
    """
    expect = _expected(turn, mark)
    question = turn.heard or turn.raw
    if expect is None or not question.strip():
        return None
    history = list(_before(call, turn)) if turn.history else []
    misheard = bool(mark.said) and characters(mark.said) != characters(question)
    case: dict[str, Any] = {
        "id": f"review-{call.call}-{turn.turn}",
        "kind": _kind(turn, expect, history, misheard),
        "question": question,
        "expect": list(expect),
        "must_refuse": not expect,
        "as_of": turn.as_of or _day(call),
    }
    if misheard:
        case["spoken"] = mark.said
    if history:
        case["history"] = history
    return case


def _expected(turn: TurnRecord, mark: Mark) -> tuple[str, ...] | None:
    """The right passages, () for a refusal, None if the mark does not tell."""
    if mark.judgement == "should_have_refused":
        return ()
    if mark.expect:
        return tuple(dict.fromkeys(mark.expect))
    if mark.judgement != "right":
        return None
    if turn.outcome == "answered":
        cited = dict.fromkeys(passage for s in turn.sentences if s.passed for passage in s.cited)
        return tuple(cited) or None
    return () if turn.outcome == "refused" else None


def _kind(turn: TurnRecord, expect: Sequence[str], history: Sequence[object], misheard: bool) -> str:
    if not expect:
        by_hand = turn.gate is not None and turn.gate.reason == "MUST_HANDOFF"
        return "must_handoff" if by_hand else "hard_negative"
    return "multi_turn" if history else "misheard" if misheard else "plain"


def _before(call: CallRecord, turn: TurnRecord) -> Iterator[dict[str, str]]:
    """The turns that a follow-up may have leaned on, with what was heard of their answers."""
    earlier = [one for one in call.turns if one.turn < turn.turn and one.heard.strip()]
    for one in earlier[-MOST_BEFORE:]:
        yield {"question": one.heard, "answer": "".join(s.text for s in one.said if s.complete)}


def _day(call: CallRecord) -> str:
    as_of = call.header.get("as_of")
    return as_of if isinstance(as_of, str) else call.started[:10]
