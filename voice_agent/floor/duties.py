"""What a call owes its caller beside answers: the settings, and how far each duty has come. Pure values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from audio.types import Transcript


class Said(StrEnum):
    """What the floor itself has said, outside any turn."""

    GREETING = "greeting"
    STILL_THERE = "still_there"
    NO_ANSWER = "no_answer"


Ending = Literal["handed_off", "callback", "handoff_failed", "hung_up", "goodbye", "no_answer", "max_length"]
"""Why a call ended. `callback`: nobody took it, but its packet waits to be sent; `no_answer`: nobody spoke any more;
`max_length`: a person took it over because it had lasted too long."""


@dataclass(frozen=True, slots=True)
class Duties:
    """Which duties are kept (config: duties). The defaults are those of a recording played: nobody hears a greeting.

    `greeting` is said first. `prompt_after_s` of silence asks whether the caller is there, `prompts` times, and then
    takes leave; None: never. `read_back_below` is the confidence of a transcript under which its codes are read back.
    `repeat` is what 再说一遍 says again: the last whole sentence, or all of the last answer that was heard whole.
    `goodbye` ends the call on 再见, `courtesy` acknowledges thanks and murmurs instead of searching for them.
    """

    greeting: str | None = None
    prompt_after_s: float | None = None
    prompts: int = 2
    read_back_below: float = 0.0
    repeat: Literal["sentence", "answer", "off"] = "sentence"
    goodbye: bool = True
    courtesy: bool = True


@dataclass(frozen=True, slots=True)
class Kept:
    """How far the duties have come.

    `quiet_from_s` is since when nobody has said anything, `prompts` how often in a row we asked whether the caller is
    there. `read_back` are the words that the caller was asked to confirm. `ending` is why the call will end.
    """

    quiet_from_s: float | None = None
    prompts: int = 0
    read_back: Transcript | None = None
    ending: Ending | None = None


@dataclass(frozen=True, slots=True)
class Over:
    """A voice over the agent: whether we are ducked, and since when paused.

    `echoes` is how often since the caller last cut us it was our own, `alarms` how often in this reply no words at all.
    """

    ducked: bool = False
    paused_from_s: float | None = None
    echoes: int = 0
    alarms: int = 0
