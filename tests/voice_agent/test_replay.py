"""Replay: what speed 0 lifts, and nothing else."""

from __future__ import annotations

from voice_agent.config import Config
from voice_agent.replay import UNHURRIED_MS, unhurried


def test_only_what_wall_time_decides_is_lifted() -> None:
    """A busy machine must not decide otherwise in a replay, nor be bridged; all other settings are as configured."""
    changed = unhurried(Config()).model_dump()
    retrieval = changed["retrieval"]
    assert (retrieval["channel_deadline_ms"], retrieval["rerank_budget_ms"]) == (UNHURRIED_MS, UNHURRIED_MS)
    usual = Config().model_dump()
    usual["retrieval"] |= {"channel_deadline_ms": UNHURRIED_MS, "rerank_budget_ms": UNHURRIED_MS}
    usual["turn"] |= {"lead_in_s": None}
    assert changed == usual
