"""What the agent was saying when: the stretch of text that an echo of it could hold. Pure.

The sound of a sentence is taken to pass over its characters evenly, which is right to a few of them.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

KEPT_S = 15.0
"""Longer than any voice over the agent is waited for."""

LATE_S = 0.6
"""An echo comes after the sound, by what the loudspeaker and the microphone hold back."""

SLACK = 4
"""Characters that the even pace may be wrong by, either way."""

CHARACTERS_A_SECOND = 4.5
"""Of our voices, for a sentence whose sound is not whole yet."""


@dataclass(frozen=True, slots=True)
class _Moment:
    item: int
    at_s: float
    share: float


class Sounded:
    """Follows the agent's side beat by beat."""

    def __init__(self) -> None:
        self._moments: deque[_Moment] = deque()
        self._texts: dict[int, tuple[str, ...]] = {}

    def sounding(self, item: int, texts: tuple[str, ...], at_s: float, share: float) -> None:
        """At `at_s` so much of the item, in [0, 1], has been said. `texts` are the ways its words may be written."""
        self._texts[item] = texts
        self._moments.append(_Moment(item, at_s, share))
        while at_s - self._moments[0].at_s > KEPT_S:
            self._moments.popleft()
        live = {moment.item for moment in self._moments}
        self._texts = {number: words for number, words in self._texts.items() if number in live}

    def between(self, from_s: float, until_s: float) -> str:
        """What an echo heard in this span may be of; empty when the agent was silent."""
        shares: dict[int, list[float]] = {}
        for moment in self._moments:
            if from_s - LATE_S <= moment.at_s <= until_s:
                shares.setdefault(moment.item, []).append(moment.share)
        return "".join(
            _stretch(text, min(said), max(said))
            for item, said in sorted(shares.items())
            for text in self._texts[item]
        )


def _stretch(text: str, first: float, last: float) -> str:
    begin = max(0, int(first * len(text)) - SLACK)
    return text[begin : int(last * len(text)) + SLACK]
