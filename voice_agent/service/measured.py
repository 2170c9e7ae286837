"""Prometheus metrics of the process, served beside the other routes. The library is the extra `telemetry`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from voice_agent.record.telemetry import Metrics


@dataclass(frozen=True, slots=True)
class Exposition:
    """What is counted, and the counts as text in `content_type`. `refused` counts a caller not let in, by reason."""

    metrics: Metrics
    text: Callable[[], bytes]
    content_type: str
    refused: Callable[[str], None]


def exposition() -> Exposition | None:
    """Counters of their own; None where the library is not installed."""
    try:
        from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, generate_latest
    except ImportError:
        return None
    registry = CollectorRegistry()
    refused = Counter("voice_agent_refused_calls", "Callers not let in", ["reason"], registry=registry)
    return Exposition(
        Metrics(registry),
        lambda: generate_latest(registry),
        CONTENT_TYPE_LATEST,
        lambda reason: refused.labels(reason=reason).inc(),
    )
