"""A circuit breaker as pure state: after repeated faults a server is left alone for a while, then tried once.

Closed: every request may go. Open: none, until the rest is over. Half open: one trial decides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class BreakerRules:
    """`faults` in a row open it; it rests for `rest_s` seconds of the caller's clock."""

    faults: int = 3
    rest_s: float = 30.0


@dataclass(frozen=True, slots=True)
class Breaker:
    """What happened so far. `rests_until_s` is None while closed; `trying` while the one trial is out."""

    faults: int = 0
    rests_until_s: float | None = None
    trying: bool = False

    def allows(self, now_s: float) -> bool:
        """May a request go now?"""
        return self.rests_until_s is None or (now_s >= self.rests_until_s and not self.trying)

    def begun(self) -> Breaker:
        """A request that was allowed has gone out."""
        return replace(self, trying=self.rests_until_s is not None)

    def succeeded(self) -> Breaker:
        """An answer came: all is forgotten."""
        return Breaker()

    def failed(self, now_s: float, rules: BreakerRules) -> Breaker:
        """A fault more. A failed trial opens it again at once."""
        faults = self.faults + 1
        opens = self.trying or faults >= rules.faults
        return Breaker(faults, now_s + rules.rest_s if opens else self.rests_until_s)

    def abandoned(self) -> Breaker:
        """The request was given up before it could tell: the next may be the trial."""
        return replace(self, trying=False)
