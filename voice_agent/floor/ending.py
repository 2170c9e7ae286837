"""How a call ends: given to a person, whom nobody may be, or hung up. Pure."""

from __future__ import annotations

from dataclasses import replace

from voice_agent.floor.actions import CancelReply, EndCall, HandOff, HandoffReason, Silence, TellUntaken
from voice_agent.floor.duties import Ending, Kept
from voice_agent.floor.events import Taken
from voice_agent.floor.state import Floor, IllegalEventError, State, Step


def hand_off(state: State, reason: HandoffReason) -> Step:
    """The call goes to a person: what still generates is cancelled, what was not yet begun is dropped."""
    cancel = () if state.reply is None else (CancelReply(state.reply),)
    ending: Ending | None = "max_length" if reason is HandoffReason.MAX_LENGTH else None
    ended = replace(
        state,
        floor=Floor.HANDING_OFF,
        kept=Kept(ending=ending),
        reply=None,
        hearing=None,
        utterance_from_s=None,
        turn_open=False,
        waiting_since_s=None,
    )
    return ended, (*cancel, HandOff(reason))


def handoff_ended(state: State, taken: Taken) -> Step:
    """A packet taken ends the call. Otherwise the caller is told first, and the end's reason is what they were told."""
    if state.floor is not Floor.HANDING_OFF:
        raise IllegalEventError(f"a hand-off ended while the floor was {state.floor}")
    if taken is not Taken.DELIVERED and state.untaken is None:
        return replace(state, untaken=taken), (TellUntaken(kept=taken is Taken.SPOOLED),)
    ended = replace(state, floor=Floor.ENDED)
    match state.untaken:
        case None:
            return ended, (EndCall(state.kept.ending or "handed_off"),)
        case Taken.SPOOLED:
            return ended, (EndCall("callback"),)
        case _:
            return ended, (EndCall("handoff_failed"),)


def hang_up(state: State) -> Step:
    """The line is dead: nothing more is said."""
    cancel = () if state.reply is None else (CancelReply(state.reply),)
    ended = replace(state, floor=Floor.ENDED, reply=None, hearing=None)
    return ended, (*cancel, Silence(), EndCall("hung_up"))
