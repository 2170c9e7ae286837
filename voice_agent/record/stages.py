"""At which stage did a turn fail? One pure rule over what the journal tells of it.

The stages are gone through in the order of the call, and the first that did not give the next one what it needs is
named. A turn has not failed that was answered, that the caller cut or ended, or that asked for nothing to be looked up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

from voice_agent.record.call_record import TurnRecord
from voice_agent.record.gate_reading import decider

Stage = Literal["asr", "recall", "rerank", "gate", "generate", "check", "speech"]

STAGES: Final[tuple[Stage, ...]] = get_args(Stage)

_MAY_FAIL: Final = ("answered", "clarify", "refused", "blocked", "failed")
_GIVEN_UP: Final = ("FAULT", "LOW_ASR", "GATE", "VERDICT")
_MISHEARD: Final = ("ASR_LOW", "EMPTY_QUERY")
_RERANK: Final = "rerank"


@dataclass(frozen=True, slots=True)
class Failure:
    """The stage, in one word or code what was the matter, and the facts of it in a line."""

    stage: Stage
    cause: str
    detail: str = ""


def failure_of(turn: TurnRecord) -> Failure | None:
    """Where the turn failed; None if it did not, or if the call ended before it could."""
    if (unchecked := _unchecked(turn)) is not None:
        return unchecked
    if not (turn.outcome in _MAY_FAIL or _broke_off(turn)):
        return None
    rules = (_unheard, _unfound, _unranked, _refused, _blocked, _unwritten, _unspoken)
    return next((failure for rule in rules if (failure := rule(turn)) is not None), None)


def _broke_off(turn: TurnRecord) -> bool:
    """Ended without an outcome, and not because the caller hung up, the time was over or the process was killed."""
    blocked = any(not sentence.passed for sentence in turn.sentences)
    unfinished = turn.outcome in (None, "unfinished")
    return unfinished and (bool(turn.errors) or turn.halted in _GIVEN_UP or blocked)


def _unchecked(turn: TurnRecord) -> Failure | None:
    """Something of the answer was heard that has no passed verdict: no check is no pass, however the turn ended.

    Where nothing was searched, an earlier answer may have been said once more; its verdicts stand in its own turn.
    """
    if turn.gate is None and turn.outcome != "answered":
        return None
    passed = {sentence.index for sentence in turn.sentences if sentence.passed}
    odd = sorted({spoken.index for spoken in turn.said} - passed)
    if not odd:
        return None
    return Failure("check", "unchecked", f"sentences {', '.join(map(str, odd))} were heard without a verdict")


def _unheard(turn: TurnRecord) -> Failure | None:
    fault = _fault(turn, "asr")
    if fault is not None:
        return Failure("asr", "error", fault)
    if turn.halted == "LOW_ASR" or (not turn.heard and turn.gate is None):
        return Failure("asr", turn.dropped or "unheard", turn.raw)
    if turn.outcome == "clarify" and turn.gate is None:  # asked whether these were the words
        return Failure("asr", "unsure", turn.raw)
    if turn.gate is not None and turn.gate.reason in _MISHEARD:
        found = decider(turn.gate)
        return Failure("asr", turn.gate.reason, found.shown if found else "")
    return None


def _unfound(turn: TurnRecord) -> Failure | None:
    """The search broke, a channel was down and missed, or nothing was there to be found."""
    if turn.gate is None:
        return Failure("recall", "error", _fault(turn, "reply") or "nothing was found in time")
    if turn.gate.outcome == "ANSWER":
        return None
    down = sorted(name for name in turn.down if name != _RERANK)
    if turn.gate.reason == "CHANNEL_DOWN" and down:
        return Failure("recall", "CHANNEL_DOWN", "; ".join(f"{name}: {turn.down[name]}" for name in down))
    if turn.gate.reason == "NO_INDEX":
        return Failure("recall", "NO_INDEX", "no passage was open to the search")
    if turn.channels and not any(turn.channels.values()):
        return Failure("recall", turn.gate.reason or "nothing", "no channel found any passage")
    return None


def _unranked(turn: TurnRecord) -> Failure | None:
    down = turn.down.get(_RERANK)
    if turn.gate is None or turn.gate.reason != "CHANNEL_DOWN" or down is None:
        return None
    return Failure("rerank", "CHANNEL_DOWN", f"rerank: {down}")


def _refused(turn: TurnRecord) -> Failure | None:
    found = decider(turn.gate) if turn.gate else None
    if turn.gate is None or found is None:
        return None
    return Failure("gate", f"{found.kind} {found.name}", f"{turn.gate.reason}: {found.shown}")


def _blocked(turn: TurnRecord) -> Failure | None:
    blocked = next((s for s in turn.sentences if not s.passed), None)
    if blocked is not None:
        return Failure("check", blocked.reason or "blocked", blocked.detail)
    unchecked = _fault(turn, "unchecked")
    return None if unchecked is None else Failure("check", "unchecked", unchecked)


def _unwritten(turn: TurnRecord) -> Failure | None:
    """The generator broke, said nothing, or stopped in the middle with all that it had said heard."""
    fault = _fault(turn, "reply")
    by_model = fault is not None and fault.startswith("LlmError")
    if not turn.sentences or by_model:
        return Failure("generate", "error" if fault else "silence", fault or "no sentence was written")
    if (fault or turn.halted == "FAULT") and not unplayed(turn):
        return Failure("generate", "error", fault or "the next sentence did not come in time")
    return None


def _unspoken(turn: TurnRecord) -> Failure | None:
    missing = unplayed(turn)
    if not missing:
        return None
    fault = _fault(turn, "reply")
    said = f"sentences {', '.join(map(str, missing))} passed and were not heard whole"
    return Failure("speech", "error" if fault else "unplayed", fault or said)


def unplayed(turn: TurnRecord) -> tuple[int, ...]:
    """The places of the sentences that passed and were not played to their end."""
    heard = {spoken.index for spoken in turn.said if spoken.complete}
    return tuple(s.index for s in turn.sentences if s.passed and s.index not in heard)


def _fault(turn: TurnRecord, where: str) -> str | None:
    """The message of the last fault recorded there."""
    mark = f"{where}: "
    return next((error[len(mark) :] for error in reversed(turn.errors) if error.startswith(mark)), None)
