"""Calls at once: each speaks, is recognised while it speaks and once more at its end, and hears its answer.

One worker hears and one speaks for all calls of a process, as in the service. A rough recognition is left out where the
worker is busy; one under way is waited for.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from retrieval.metrics import percentile
from sizing.machine import Machine, Stage
from sizing.measured import Turn


@dataclass(frozen=True)
class Talk:
    """How callers talk, in seconds. `partial_of_asr`, a rough recognition's work in that of a final one, is assumed."""

    speaks_s: float = 3.0
    every_s: float = 10.0
    soft_pause_s: float = 0.16
    partial_every_s: float = 0.6
    partial_of_asr: float = 0.4
    together: bool = False
    """Every call says the same in the same moment, as bench_call --concurrency plays them: the worst that can be."""


@dataclass(frozen=True)
class Cores:
    """How many there are, and how many a recognition and a synthesis use, as threads.asr and threads.tts."""

    there: int = 2
    asr: int = 2
    tts: int = 2


class _Service:
    def __init__(self, cores: Cores, turn: Turn, talk: Talk, chance: random.Random) -> None:
        self.machine = Machine(cores.there)
        self._hearing = Stage(1, cores.asr)
        self._searching = Stage(1)
        self._speaking = Stage(1, cores.tts)
        self._turn, self._talk, self._chance = turn, talk, chance
        self.waited_s: list[float] = []

    def speak(self, pace: random.Random) -> None:
        """A caller begins a turn now, and the next one so long after it."""
        now, talk = self.machine.now, self._talk
        speaks_s = talk.speaks_s * pace.uniform(0.6, 1.4)
        partials = int(speaks_s / talk.partial_every_s) if talk.partial_every_s else 0
        for n in range(1, partials + 1):
            self.machine.at(now + n * talk.partial_every_s, self._partial)
        ended = now + speaks_s
        self.machine.at(ended + talk.soft_pause_s, lambda: self._final(ended))
        self.machine.at(now + talk.every_s * pace.uniform(0.7, 1.3), lambda: self.speak(pace))

    def _partial(self) -> None:
        if not self._hearing.busy:
            self.machine.work(self._hearing, self._turn.asr_s * self._talk.partial_of_asr, lambda now: None)

    def _final(self, ended: float) -> None:
        spread = self._chance.uniform(2 - self._turn.p95_over_p50, self._turn.p95_over_p50)
        look_s = self._turn.search_s + self._turn.check_s

        def heard(now: float) -> None:
            self.machine.work(self._searching, look_s, known)

        def known(now: float) -> None:
            # The answer is made in the pause that ends the turn; it does not sound before that pause is over.
            self.machine.at(max(now, ended + self._turn.pause_s), lambda: self._say(ended))

        self.machine.work(self._hearing, self._turn.asr_s * spread, heard)

    def _say(self, ended: float) -> None:
        self.machine.work(self._speaking, self._turn.speech_s, lambda now: self.waited_s.append(now - ended))


def called(number: int, seconds: float, turn: Turn, talk: Talk, cores: Cores, seed: int) -> dict[str, Any]:
    """So many calls for so long: seconds from a caller's last sample to the answer's first, P50 and P95."""
    chance = random.Random(seed)  # noqa: S311 - a simulation
    service = _Service(cores, turn, talk, chance)
    for n in range(number):
        pace = random.Random(seed if talk.together else seed + n)  # noqa: S311 - a simulation
        begins = 0.0 if talk.together else n * talk.every_s / number
        service.machine.at(begins, lambda pace=pace: service.speak(pace))
    service.machine.run(seconds)
    middle, high = (percentile(service.waited_s, q) for q in (0.5, 0.95))
    return {
        "calls": number,
        "turns": len(service.waited_s),
        "p50": round(middle or 0, 3),
        "p95": round(high or 0, 3),
    }


def carried(rows: list[dict[str, Any]], times: float = 2.0) -> int:
    """The most calls whose P95 is at most so many times that of one call: as bench_call --concurrency counts."""
    most = 0
    for row in rows:
        if row["p95"] > times * rows[0]["p95"]:
            break
        most = row["calls"]
    return most
