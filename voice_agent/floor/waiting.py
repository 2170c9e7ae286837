"""Dead air: when a caller who waits for an answer is told that we are still at it. Pure.

The wait is counted from the moment the turn's end was known. The first sentence that passed its check ends it, not its
sound: a phrase of doubt begun in between would only delay the answer. What may come in between is a lead-in, neutral
words that belong to the reply and that its first sentence follows.
"""

from __future__ import annotations

from dataclasses import replace

from voice_agent.floor.actions import SayHold, SayLeadIn
from voice_agent.floor.state import Floor, Rules, State


def hold(state: State, now_s: float, rules: Rules) -> tuple[State, tuple[SayHold]] | None:
    """The hold phrase, when it is due and the caller is silent: once, and once again; None otherwise."""
    if state.floor is not Floor.THINKING or state.passed or state.wait_from_s is None:
        return None
    due_s = (rules.hold_first_s, rules.hold_again_s)[state.holds : state.holds + 1]
    if not due_s or now_s - state.wait_from_s < due_s[0]:
        return None
    return replace(state, holds=state.holds + 1), (SayHold(again=state.holds > 0),)


def lead_in(state: State, now_s: float, rules: Rules) -> tuple[State, tuple[SayLeadIn]] | None:
    """The lead-in, once a reply, when it may speak, is not heard, and the caller is silent; None otherwise.

    Not after a hold phrase: two of our own phrases in a row are one too many.
    """
    if rules.lead_in_s is None or state.floor is not Floor.THINKING or not state.passed or state.holds:
        return None
    if state.reply is None or state.reply == state.led_in or state.wait_from_s is None:
        return None
    if now_s - state.wait_from_s < rules.lead_in_s:
        return None
    return replace(state, led_in=state.reply), (SayLeadIn(state.reply),)


def over_hold(state: State) -> bool:
    """Whether a voice now answers a hold phrase: a murmur must not throw away the reply that is being made."""
    return state.floor is Floor.THINKING and state.holds > 0 and state.reply is not None
