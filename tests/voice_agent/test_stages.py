"""Laws of the rule that names the stage at which a turn failed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.voice_agent.failing_calls import CALLS, Call, record
from voice_agent.record.call_record import GateRecord, SentenceRecord, SpokenRecord, TurnRecord
from voice_agent.record.inspection import read_call
from voice_agent.record.stages import STAGES, failure_of

ANSWERED = GateRecord("ANSWER", None, {}, {})
PASSED = SentenceRecord(0, "三天到账。[S1]", True, None, "", ("p",), (), 1.0)
PLAYED = SpokenRecord(0, "三天到账。", 1.0, 2.0, True, "手册")
CUT = SpokenRecord(0, "三天到账。", 1.0, 1.5, False, "手册")


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_each_stage_that_fails_is_named(tmp_path: Path, call: Call) -> None:
    """A call recorded with one broken part fails at that part's stage, with its cause; a whole call fails nowhere."""
    turns = read_call(record(tmp_path, call)).turns
    found = failure_of(turns[0])
    assert (found and found.stage, found and found.cause) == (call.stage, call.cause)


def test_every_stage_has_a_call_that_fails_there() -> None:
    """The gate twice: by a feature and by a threshold."""
    assert {call.stage for call in CALLS if call.cause} == set(STAGES)
    assert {"feature", "threshold"} <= {c.cause.split()[0] for c in CALLS if c.stage == "gate" and c.cause}


@pytest.mark.parametrize(
    "outcome", ["asked", "interrupted", "courtesy", "repeated", "goodbye", "unfinished", None]
)
def test_what_the_caller_ended_or_never_asked_has_not_failed(outcome: str | None) -> None:
    """A person was asked for, the agent was cut, thanked or asked to repeat; the caller hung up; a killed process."""
    assert failure_of(TurnRecord(1, heard="退款", outcome=outcome)) is None
    assert failure_of(TurnRecord(1, heard="再说一遍", outcome=outcome, spoken=(PLAYED,))) is None


@pytest.mark.parametrize(
    ("facts", "stage", "cause"),
    [
        ({"gate": ANSWERED, "halted": "FAULT"}, "generate", "silence"),
        ({"gate": ANSWERED, "halted": "MAX_LENGTH"}, None, None),
        ({"halted": "FAULT"}, "recall", "error"),
        ({"gate": ANSWERED, "halted": "FAULT", "sentences": (PASSED,)}, "speech", "unplayed"),
        (
            {"gate": ANSWERED, "halted": "FAULT", "sentences": (PASSED,), "spoken": (CUT,)},
            "speech",
            "unplayed",
        ),
        (
            {"gate": ANSWERED, "halted": "FAULT", "sentences": (PASSED,), "spoken": (PLAYED,)},
            "generate",
            "error",
        ),
        ({"gate": ANSWERED, "outcome": "answered", "spoken": (PLAYED,)}, "check", "unchecked"),
        ({"gate": GateRecord("REFUSE", "NO_INDEX", {}, {}), "outcome": "refused"}, "recall", "NO_INDEX"),
        ({"gate": GateRecord("CLARIFY", "ASR_LOW", {}, {}), "outcome": "clarify"}, "asr", "ASR_LOW"),
        ({"outcome": "clarify"}, "asr", "unsure"),
        ({"gate": ANSWERED, "outcome": "failed", "errors": ("reply: LlmError: gone",)}, "generate", "error"),
        ({"gate": ANSWERED, "errors": ("unchecked: twice",), "sentences": (PASSED,)}, "check", "unchecked"),
    ],
)
def test_what_stopped_without_a_word_is_placed_by_what_came_before(
    facts: dict[str, Any], stage: str | None, cause: str | None
) -> None:
    """A deadline names no stage: the one behind the last that left a trace is meant."""
    found = failure_of(TurnRecord(1, **{"heard": "退款多久到账", **facts}))
    assert (found and found.stage, found and found.cause) == (stage, cause)
