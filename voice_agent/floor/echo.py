"""Whether the agent hears itself. Pure: texts compared by their characters, and when to be deaf.

Where nothing cancels the echo of a loudspeaker, the recogniser writes down what the agent is saying, with its own
mishearings. An echo can hold only what was already said, so it is compared with that stretch alone: a caller who
names the next word of the agent's question is no echo.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from voice_agent.floor.overlap import commands

Echo = Literal["half_duplex", "overlap_text", "headset"]
"""half_duplex: nothing is heard while the agent sounds. overlap_text: words that the agent is just saying are its own.
headset: whatever is heard is the caller."""


@dataclass(frozen=True, slots=True)
class EchoRules:
    """Config: audio. `tail_s` is how long after the agent's last sound its echo may still come."""

    mode: Echo = "overlap_text"
    tail_s: float = 0.4


ECHO_LIMIT = 2
"""Echoes in a row after which the line is taken to echo for good, and is heard half duplex."""

_EXACT = 3
"""A text of at most so many characters must stand in the spoken one as it is: any three are near some others."""

_ERRORS = 0.4
"""Share of characters that may differ: whisper-base hears our voices with up to 0.35."""


def is_echo(heard: str, spoken: str) -> bool:
    """Whether `heard` is what the agent was saying. What asks it to stop never is: that fails towards the caller.

    >>> is_echo("审核通过以后三天", "退款在审核通过以后三天之内到账"), is_echo("我问的是发票", "退款在审核通过以后")
    (True, False)
    """
    words, said = _characters(heard), _characters(spoken)
    if len(words) < 2 or not said or commands(heard):
        return False
    if len(words) <= _EXACT:
        return words in said
    return _distance_within(words, said) <= _ERRORS * len(words)


def deaf(rules: EchoRules, echoes: int, since_sound_s: float) -> bool:
    """Whether the line is not to be heard now: the agent last sounded `since_sound_s` ago."""
    echoing = rules.mode == "half_duplex" or (rules.mode == "overlap_text" and echoes >= ECHO_LIMIT)
    return echoing and since_sound_s <= rules.tail_s


def _characters(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())


def _distance_within(words: str, said: str) -> int:
    """The fewest edits that make `words` some stretch of `said`: it may begin and end anywhere in it."""
    above = [0] * (len(said) + 1)
    for row, character in enumerate(words, start=1):
        here = [row]
        for column, other in enumerate(said, start=1):
            replaced = above[column - 1] + (character != other)
            here.append(min(replaced, above[column] + 1, here[column - 1] + 1))
        above = here
    return min(above)
