"""Questions at a rate: a bounded queue before the worker, a deadline, and what came of each."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from retrieval.metrics import percentile
from sizing.machine import Machine, Stage


@dataclass(frozen=True)
class Limits:
    """As service.at_once, service.queue and service.deadline_s."""

    at_once: int = 1
    queue: int = 16
    deadline_s: float = 10.0


@dataclass
class Came:
    """Seconds of the answered; how many were refused at once, and how many were not ready by their deadline."""

    answered_s: list[float] = field(default_factory=list)
    refused: int = 0
    late: int = 0

    def facts(self, lasted_s: float) -> dict[str, Any]:
        total = len(self.answered_s) + self.refused + self.late
        middle, high = (percentile(self.answered_s, q) if self.answered_s else None for q in (0.5, 0.95))
        return {
            "answered_per_s": round(len(self.answered_s) / lasted_s, 2),
            "p50_ms": None if middle is None else round(middle * 1000, 1),
            "p95_ms": None if high is None else round(high * 1000, 1),
            "refused_503": round(self.refused / total, 4) if total else 0.0,
            "late_504": round(self.late / total, 4) if total else 0.0,
        }


@dataclass(frozen=True)
class Asking:
    """Arrivals: so many a second for so long, evenly as the bench sends them, or at random as people ring."""

    per_s: float
    seconds: float
    even: bool = True


def asked(
    asking: Asking, take: Callable[[], float], limits: Limits, cores: int, chance: random.Random
) -> dict[str, Any]:
    """Each question takes `take()` seconds of one core; the last answers are waited for."""
    machine, stage, came = Machine(cores), Stage(limits.at_once), Came()
    held = 0

    def arrive() -> None:
        nonlocal held
        if held >= limits.at_once + limits.queue:
            came.refused += 1
            return
        held += 1
        began = machine.now
        machine.work(stage, take(), lambda now: end(now - began))

    def end(took_s: float) -> None:
        nonlocal held
        held -= 1
        if took_s > limits.deadline_s:
            came.late += 1
        else:
            came.answered_s.append(took_s)

    moment = 0.0
    for n in range(max(1, round(asking.per_s * asking.seconds))):
        moment = n / asking.per_s if asking.even else moment + chance.expovariate(asking.per_s)
        machine.at(moment, arrive)
    machine.run(float("inf"))
    return {"per_s": asking.per_s, **came.facts(machine.now)}
