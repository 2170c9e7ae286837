"""One pull at a time, and a killed one leaves no lock behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from voice_agent.errors import WeightsError
from voice_agent.weights.lock import only_one


def test_a_second_holder_is_refused_and_the_next_is_not(tmp_path: Path) -> None:
    """While it is held nobody else gets it; let go, or left by a fault, it is free."""
    lock = tmp_path / ".lock"
    with only_one(lock, 0), pytest.raises(WeightsError, match="another"), only_one(lock, 0.3):
        pytest.fail("two hold one lock")
    with pytest.raises(ZeroDivisionError), only_one(lock, 0):
        _ = 1 / 0
    with only_one(lock, 0):
        pass


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    """The system lets the lock go with the process: no stale lock has to be removed by hand."""
    lock = tmp_path / ".lock"
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom voice_agent.weights.lock import only_one\n"
        f"with only_one(Path({str(lock)!r}), 0):\n    print('held', flush=True)\n    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(WeightsError), only_one(lock, 0):
            pytest.fail("the other process holds it")
        holder.kill()
    with only_one(lock, 5):
        pass
