"""What the configuration says of keeping calls, applied: for the start of a door that takes live calls."""

from __future__ import annotations

import time

from voice_agent.config import Config
from voice_agent.record.retention import Limits, sweep


def sweep_calls(config: Config) -> list[str]:
    """Erases the calls beyond `journal.keep_days` and `journal.max_mb`; returns their ids, oldest first."""
    limits = Limits(config.journal.keep_days, config.journal.max_mb)
    return sweep(config.paths.logs / "calls", limits, time.time())
