"""Laws of the rule that names the stage at which a turn failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.voice_agent.failing_calls import CALLS, Call, record
from voice_agent.record.call_record import TurnRecord
from voice_agent.record.inspection import read_call
from voice_agent.record.stages import STAGES, failure_of


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


@pytest.mark.parametrize("outcome", ["asked", "interrupted", "unfinished", None])
def test_what_the_caller_ended_has_not_failed(outcome: str | None) -> None:
    """A person was asked for, the agent was cut, the caller hung up, the process was killed."""
    assert failure_of(TurnRecord(1, heard="退款", outcome=outcome)) is None
