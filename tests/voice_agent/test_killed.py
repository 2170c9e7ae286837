"""Laws of a call whose process is killed: what it had written down is there and can be read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from voice_agent.record.audit import redecide
from voice_agent.record.inspection import read_call
from voice_agent.record.lines import read_lines
from voice_agent.record.schema import validate_event

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 50


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    """The folder of the journals and, a round, what the child told before it was killed."""
    folder = tmp_path_factory.mktemp("killed")
    argv = [sys.executable, "-m", "tests.voice_agent.killed", str(folder), str(ROUNDS), "6"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return folder, [json.loads(line) for line in done.stdout.splitlines()]


def test_no_event_whose_write_returned_is_lost(rounds: tuple[Path, list[dict[str, Any]]]) -> None:
    """Killed at 50 random moments of a replay: every number told is in the file, in order, and none twice."""
    folder, told = rounds
    assert len(told) == ROUNDS + 1
    for one in told:
        numbers = [event["number"] for event in read_lines(folder / f"{one['call']}.jsonl").events]
        assert numbers[: len(one["told"])] == one["told"] == list(range(1, len(one["told"]) + 1))
        assert len(numbers) - len(one["told"]) <= 1, "only the event that was being told may be more"


def test_every_journal_can_be_read_and_judged(rounds: tuple[Path, list[dict[str, Any]]]) -> None:
    """Inspection and audit take each, whole lines fit the schema, and the one that was not killed has its end."""
    folder, told = rounds
    for one in told:
        path = folder / f"{one['call']}.jsonl"
        call, lines = read_call(path), read_lines(path)
        assert call.broken == 0 and call.header and (call.ended is not None or one["call"] != "whole")
        assert [fault for event in lines.events for fault in validate_event(event)] == []
        redecide(lines)


def test_the_moments_were_spread_over_the_replay(rounds: tuple[Path, list[dict[str, Any]]]) -> None:
    """The law would be empty if every child had been killed at its first event or after its last."""
    whole, *killed = (len(one["told"]) for one in rounds[1])
    assert len(set(killed)) >= 10 and min(killed) < whole / 2 < max(killed)
