"""Replay: what speed 0 lifts, and nothing else."""

from __future__ import annotations

from voice_agent.config import Config
from voice_agent.replay import UNHURRIED_MS, unhurried


def test_only_the_wall_time_limits_of_a_search_are_lifted() -> None:
    """A busy machine must not decide otherwise in a replay; every other setting is the one that was configured."""
    changed = unhurried(Config()).model_dump()
    retrieval = changed["retrieval"]
    assert (retrieval["channel_deadline_ms"], retrieval["rerank_budget_ms"]) == (UNHURRIED_MS, UNHURRIED_MS)
    usual = Config().model_dump()
    usual["retrieval"] |= {"channel_deadline_ms": UNHURRIED_MS, "rerank_budget_ms": UNHURRIED_MS}
    assert changed == usual
