"""Dead air: when a caller who waits for an answer is told that we are still at it. Pure.

The wait is counted from the moment the turn's end was known. It is over with the first sentence that passed its check,
not with its sound: a phrase begun in between would only delay the answer.
"""

from __future__ import annotations

from dataclasses import replace

from voice_agent.floor.actions import SayHold
from voice_agent.floor.state import Floor, Rules, State


def hold(state: State, now_s: float, rules: Rules) -> tuple[State, tuple[SayHold]] | None:
    """The hold phrase, when it is due and the caller is silent: once, and once again; None otherwise."""
    if state.floor is not Floor.THINKING or state.passed or state.wait_from_s is None:
        return None
    due_s = (rules.hold_first_s, rules.hold_again_s)[state.holds : state.holds + 1]
    if not due_s or now_s - state.wait_from_s < due_s[0]:
        return None
    return replace(state, holds=state.holds + 1), (SayHold(again=state.holds > 0),)


def over_hold(state: State) -> bool:
    """Whether a voice now answers a hold phrase: a murmur must not throw away the reply that is being made."""
    return state.floor is Floor.THINKING and state.holds > 0 and state.reply is not None
