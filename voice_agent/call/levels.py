"""How loud the agent is: lowered, raised, silent with its place kept, and on again; each as the journal has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from voice_agent.call.speech import Speech
from voice_agent.floor.actions import Duck, PausePlayback, ResumePlayback, Unduck

LevelAction = Duck | Unduck | PausePlayback | ResumePlayback


def level(action: LevelAction, speech: Speech) -> tuple[str, Mapping[str, object]]:
    """Does it; returns the kind of event to write and its fields, an empty kind for none."""
    match action:
        case Duck():
            speech.duck()
            return "", {}
        case Unduck():
            speech.unduck()
            return "", {}
        case PausePlayback():
            return "paused", {"ducked_s": speech.pause()}
        case ResumePlayback():
            speech.resume()
            return "resumed", {"why": action.why}
        case _:
            assert_never(action)
