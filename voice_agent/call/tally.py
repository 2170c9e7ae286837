"""The sentences of a turn, counted: generated, checked, blocked, spoken. Pure.

Also the last lock before the voice: a sentence leaves the tally once, and only if its own check was passed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from retrieval.types import Verdict


class UncheckedError(Exception):
    """A sentence was to be spoken that has no passed check of its own."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Sentences. `generated` were whole and given to the check, `checked` have a verdict, `blocked` is by reason,
    `spoken` were heard at least in part; our own phrases are not among them."""

    generated: int = 0
    checked: int = 0
    blocked: Mapping[str, int] = field(default_factory=dict)
    spoken: int = 0

    def plus(self, other: Counts) -> Counts:
        """Both together."""
        blocked = Counter(self.blocked)
        blocked.update(other.blocked)
        return Counts(
            self.generated + other.generated,
            self.checked + other.checked,
            dict(blocked),
            self.spoken + other.spoken,
        )

    def as_json(self) -> dict[str, object]:
        """For the journal."""
        return {
            "generated": self.generated,
            "checked": self.checked,
            "blocked": dict(self.blocked),
            "spoken": self.spoken,
        }


class Tally:
    """One turn's. Sentences are known by their index in the answer."""

    def __init__(self) -> None:
        self._verdicts: dict[int, Verdict] = {}
        self._released: set[int] = set()
        self._spoken: set[int] = set()

    def judged(self, index: int, verdict: Verdict) -> None:
        """A sentence came with its verdict. A second verdict on the same place counts once, and a block stays one."""
        before = self._verdicts.get(index)
        if before is None or before.passed:
            self._verdicts[index] = verdict

    def release(self, index: int) -> None:
        """The sentence goes to the voice. Raises UncheckedError if it did not pass or has gone already."""
        verdict = self._verdicts.get(index)
        if verdict is None or not verdict.passed or index in self._released:
            raise UncheckedError(f"sentence {index} was to be spoken without a passed check of its own")
        self._released.add(index)

    def sounded(self, index: int) -> None:
        """The sentence became audible. Raises UncheckedError if it never was released."""
        if index not in self._released or index in self._spoken:
            raise UncheckedError(f"sentence {index} became audible without a passed check of its own")
        self._spoken.add(index)

    @property
    def counts(self) -> Counts:
        """So far."""
        blocked = Counter(str(v.reason) for v in self._verdicts.values() if not v.passed)
        generated = max(self._verdicts, default=-1) + 1
        return Counts(generated, len(self._verdicts), dict(blocked), len(self._spoken))
