"""The caller's words are known, or could not be made out: what they lead to. Pure."""

from __future__ import annotations

from dataclasses import replace

from audio.types import Silent, Transcript
from voice_agent.floor.actions import Action, AddToPacket, AskAgain, BeginReply, HandoffReason, ReadBack
from voice_agent.floor.barge_in import cut, go_on, meaning, stopped
from voice_agent.floor.duties import Kept
from voice_agent.floor.echo import is_echo
from voice_agent.floor.ending import hand_off
from voice_agent.floor.events import JobId, Recognised, RecognitionFailed, ReplyId
from voice_agent.floor.hearing import take_early
from voice_agent.floor.keeping import affirms, denies, unsure_codes
from voice_agent.floor.state import Caller, Floor, Rules, State, Step

_SPOKE_UNCLEARLY = frozenset({"low_confidence", "loop", "too_dense", "not_chinese"})
"""Drops behind which a person may have spoken: they are asked to repeat. Other drops are no speech at all."""


def recognition_ended(state: State, event: Recognised | RecognitionFailed, rules: Rules) -> Step:
    """The recognition of a turn, or of what was said over the agent, has ended."""
    state = replace(state, hearing=None)
    return _recognised(state, event, rules) if isinstance(event, Recognised) else _unheard(state)


def turn_heard_early(state: State, job: JobId, silent: Silent, rules: Rules) -> Step:
    """The turn ends where its early recognition did; if that is over too, its words are acted on at once."""
    heard = state.ahead.heard
    state, actions = take_early(state, job, silent)
    if heard is None:
        return state, actions
    after, more = recognition_ended(state, heard, rules)
    return after, actions + more


def _recognised(state: State, event: Recognised, rules: Rules) -> Step:
    transcript = event.transcript
    if state.floor is Floor.HANDING_OFF:
        return replace(state, utterance_from_s=None), (AddToPacket(transcript),) if transcript.text else ()
    if state.floor is Floor.PAUSED:
        return _overlapped(state, event, rules)
    ours = is_echo(transcript.text, event.spoken)
    if transcript.text and not ours:
        return _begin_reply(replace(state, asked_again=0), transcript, rules)
    if transcript.dropped in _SPOKE_UNCLEARLY:
        return _unheard(state)
    over = replace(state.over, echoes=state.over.echoes + ours)
    quiet = replace(state, floor=Floor.IDLE, utterance_from_s=None, waiting_since_s=None, turn_open=False)
    return replace(quiet, holds=0, over=over), ()


def _overlapped(state: State, event: Recognised, rules: Rules) -> Step:
    """What was said over the agent is known. Words of a caller who has not finished are heard out first."""
    text = event.transcript.text
    match meaning(state, event):
        case "words" if state.caller is Caller.QUIET:
            state, actions = cut(state, text)
            begun, begin = _begin_reply(state, event.transcript, rules)
            return begun, actions + begin
        case "words":
            return cut(state, text)
        case "stop":
            return stopped(state, text)
        case why:
            return go_on(state, why)


def _begin_reply(state: State, transcript: Transcript, rules: Rules) -> Step:
    asked, state = state.kept.read_back, replace(state, kept=Kept(), over=replace(state.over, alarms=0))
    ahead = state.ahead.speculation
    state, reply = _next_reply(state)
    if asked is None and unsure_codes(transcript, rules.duties):
        return replace(state, kept=Kept(read_back=transcript)), (ReadBack(reply, transcript),)
    if asked is not None and denies(transcript.text):
        return replace(state, asked_again=1), (AskAgain(reply),)
    if asked is not None and affirms(transcript.text):
        transcript = replace(asked, confidence=1.0)  # by the caller's own word
    return state, (BeginReply(reply, transcript, may_clarify=not state.clarified, ahead=ahead),)


def _next_reply(state: State) -> tuple[State, ReplyId]:
    reply = ReplyId(state.last_id + 1)
    turn = state.turn if state.turn_open else state.turn + 1
    begun = replace(state, floor=Floor.THINKING, reply=reply, last_id=reply, passed=False)
    return replace(begun, turn=turn, turn_open=True), reply


def _unheard(state: State) -> Step:
    """Speech came in but no words out: over the agent it wins (fail towards the caller); ask once, then a person."""
    if state.floor is Floor.HANDING_OFF:
        return replace(state, utterance_from_s=None), ()
    before: tuple[Action, ...] = ()
    if state.floor is Floor.PAUSED:
        state, before = cut(state, "")
    if state.asked_again:
        state, after = hand_off(state, HandoffReason.LOW_ASR)
        return state, before + after
    state, reply = _next_reply(replace(state, asked_again=1))
    return state, (*before, AskAgain(reply))
