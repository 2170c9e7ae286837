"""The circuit breaker: closed, open, half open, over an injected clock."""

from __future__ import annotations

from voice_agent.reply.breaker import Breaker, BreakerRules

RULES = BreakerRules(faults=3, rest_s=30.0)


def failing(times: int, now_s: float = 0.0) -> Breaker:
    breaker = Breaker()
    for _ in range(times):
        breaker = breaker.begun().failed(now_s, RULES)
    return breaker


def test_it_opens_after_faults_in_a_row() -> None:
    """Two faults are bad luck, three are a server to be left alone; a success in between forgives."""
    assert failing(2).allows(0.0) and not failing(3).allows(29.9)
    assert failing(2).succeeded().failed(0.0, RULES).failed(0.0, RULES).allows(0.0)


def test_one_trial_after_the_rest() -> None:
    """Half open lets one request through; the next waits for what becomes of it."""
    rested = failing(3)
    assert rested.allows(30.0) and not rested.begun().allows(30.0)


def test_a_trial_decides() -> None:
    """Success closes it; failure opens it for another rest at once; one given up lets the next one try."""
    trial = failing(3).begun()
    assert trial.succeeded() == Breaker()
    again = trial.failed(31.0, RULES)
    assert not again.allows(60.9) and again.allows(61.0)
    assert trial.abandoned().allows(30.0)
