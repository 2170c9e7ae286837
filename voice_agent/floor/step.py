"""Who may speak, decided by one pure function: `step(state, event, rules) -> (state, actions)`.

An event is legal, stale (it answers something given up meanwhile: counted, otherwise ignored) or illegal (raises
IllegalEventError; the caller of `step` keeps the old state). Nothing here waits, plays, logs or reads a clock.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from audio.types import Silent, Voiced
from voice_agent.floor.actions import CancelReply, EndCall, HandoffReason, Silence
from voice_agent.floor.ahead import (
    HAIR_S,
    on_early,
    on_foreseen,
    on_guessed,
    on_soft_silence,
    on_voice,
    spoken_on,
    tidied,
    turn_pause_s,
)
from voice_agent.floor.barge_in import levelled, paused_silence, paused_voice, voice_over
from voice_agent.floor.ending import hand_off, handoff_ended, hang_up
from voice_agent.floor.events import (
    CallBegan,
    Event,
    Fault,
    Foreseen,
    Guessed,
    HandoffEnded,
    HangUp,
    Heard,
    PersonCalled,
    Recognised,
    RecognitionFailed,
    ReplyEnded,
    ReplySounding,
    SentencePassed,
)
from voice_agent.floor.hearing import begin_hearing
from voice_agent.floor.keeping import begin_call, watched
from voice_agent.floor.state import Caller, Floor, IllegalEventError, Rules, State, Step
from voice_agent.floor.waiting import hold, lead_in, over_hold
from voice_agent.floor.words import recognition_ended, turn_heard_early


def step(state: State, event: Event, rules: Rules) -> Step:
    """The next state and what is to be done. Raises IllegalEventError."""
    if state.floor is Floor.ENDED:
        return state, ()
    after, actions = _decide(state, event, rules)
    return levelled(*watched(tidied(after), actions, event, rules.duties))


def _decide(state: State, event: Event, rules: Rules) -> Step:
    match event:
        case Heard():
            return _heard(state, event, rules)
        case Recognised() | RecognitionFailed() | Guessed() | Foreseen():
            return _words(state, event, rules)
        case SentencePassed() | ReplySounding() | ReplyEnded():
            return _stale(state) if event.reply != state.reply else _reply(state, event)
        case CallBegan():
            return begin_call(state, rules.duties)
        case HandoffEnded() | HangUp() | PersonCalled() | Fault():
            return _call(state, event)
        case _:
            assert_never(event)


def _call(state: State, event: HandoffEnded | HangUp | PersonCalled | Fault) -> Step:
    match event:
        case HandoffEnded():
            return handoff_ended(state, event.taken)
        case HangUp():
            return hang_up(state)
        case PersonCalled() | Fault():
            reason = HandoffReason.FAULT if isinstance(event, Fault) else HandoffReason.ASKED
            return (state, ()) if state.floor is Floor.HANDING_OFF else hand_off(state, reason)
        case _:
            assert_never(event)


def _heard(state: State, event: Heard, rules: Rules) -> Step:
    match event.activity:
        case Voiced():
            return _voiced(state, event.activity, rules)
        case Silent():
            return _silent(state, event.activity, rules)
        case _:
            assert_never(event.activity)


def _words(state: State, event: Recognised | RecognitionFailed | Guessed | Foreseen, rules: Rules) -> Step:
    match event:
        case Guessed() if event.job == state.ahead.guess:
            return on_guessed(state, event, rules)
        case Foreseen() if event.job == state.ahead.speculation:
            return on_foreseen(state, event)
        case Recognised() | RecognitionFailed() if event.job == state.hearing:
            return recognition_ended(state, event, rules)
        case Recognised() | RecognitionFailed() if event.job == state.ahead.early:
            return on_early(state, event, rules)
        case _:
            return _stale(state)


def _reply(state: State, event: SentencePassed | ReplySounding | ReplyEnded) -> Step:
    match event:
        case SentencePassed():
            return replace(state, passed=True), ()
        case ReplySounding():
            return _sounding(state)
        case ReplyEnded():
            return _reply_ended(state, event)
        case _:
            assert_never(event)


def _stale(state: State) -> Step:
    return replace(state, stale=state.stale + 1), ()


def _voiced(state: State, voiced: Voiced, rules: Rules) -> Step:
    new_s = max(voiced.since_s, state.full_until_s)
    since = new_s if state.utterance_from_s is None else state.utterance_from_s
    full = voiced.until_s - since >= rules.max_utterance_s
    state = replace(state, caller=Caller.VOICED, utterance_from_s=since, ahead=spoken_on(state.ahead))
    late = _limits(state, voiced.until_s, rules)
    if late is not None:
        return late
    match state.floor:
        case Floor.THINKING if over_hold(state):
            return voice_over(state, voiced, rules)
        case Floor.THINKING if voiced.length_s >= rules.rejoin_voice_s and not full:
            return _take_back(state)
        case Floor.SPEAKING:
            return voice_over(state, voiced, rules)
        case Floor.PAUSED:
            return paused_voice(state, voiced, rules)
        case Floor.IDLE if full:
            cut_s = voiced.until_s
            return begin_hearing(replace(state, full_until_s=cut_s), cut_s, cut_s)
        case _:
            return on_voice(state, voiced, rules)


def _silent(state: State, silent: Silent, rules: Rules) -> Step:
    ended = silent.length_s + HAIR_S >= turn_pause_s(state, silent, rules)
    quiet = Caller.QUIET if ended or state.utterance_from_s is None else Caller.SOFT_SILENCE
    state = replace(state, caller=quiet)
    late = _limits(state, silent.until_s, rules)
    if late is not None:
        return late
    if (said := hold(state, silent.until_s, rules) or lead_in(state, silent.until_s, rules)) is not None:
        return said
    if state.floor is Floor.PAUSED:
        return paused_silence(state, silent, rules)
    if state.utterance_from_s is None or state.hearing is not None:
        return state, ()
    return _turn_over(state, silent, rules) if ended else on_soft_silence(state, silent, rules)


def _turn_over(state: State, silent: Silent, rules: Rules) -> Step:
    """The silence is long enough to end a turn, if there was one."""
    match state.floor:
        case Floor.SPEAKING:  # too short to pause the agent: a cough
            return replace(state, utterance_from_s=None), ()
        case Floor.THINKING:  # its words are already being answered
            return state, ()
        case _ if state.ahead.early is not None:
            return turn_heard_early(state, state.ahead.early, silent, rules)
        case _:
            return begin_hearing(state, silent.since_s, silent.until_s)


def _limits(state: State, now_s: float, rules: Rules) -> Step | None:
    """The two deadlines of a call, or None while they are kept."""
    if state.floor is Floor.HANDING_OFF:
        return None
    if now_s >= rules.max_call_s:
        return hand_off(state, HandoffReason.MAX_LENGTH)
    waiting = state.waiting_since_s
    if state.floor is Floor.THINKING and waiting is not None and now_s - waiting >= rules.reply_limit_s:
        return hand_off(state, HandoffReason.FAULT)
    return None


def _take_back(state: State) -> Step:
    """The caller goes on before they were answered: one question in two breaths."""
    cancel = () if state.reply is None else (CancelReply(state.reply),)
    taken = replace(state, floor=Floor.IDLE, reply=None, hearing=None, waiting_since_s=None, holds=0)
    return taken, (*cancel, Silence())


def _sounding(state: State) -> Step:
    if state.floor is not Floor.THINKING:
        raise IllegalEventError(f"a reply began to sound while the floor was {state.floor}")
    spoken = replace(
        state, floor=Floor.SPEAKING, turn_open=False, waiting_since_s=None, utterance_from_s=None, holds=0
    )
    return spoken, ()


def _reply_ended(state: State, event: ReplyEnded) -> Step:
    match event.outcome:
        case "answered" | "repeated" | "courtesy" | "clarify":
            return _reply_done(replace(state, clarified=event.outcome == "clarify"))
        case "said":
            return _reply_done(state)
        case "goodbye":
            return replace(state, floor=Floor.ENDED, reply=None), (EndCall(state.kept.ending or "goodbye"),)
        case "refused":
            return hand_off(state, HandoffReason.GATE)
        case "blocked":
            return hand_off(state, HandoffReason.VERDICT)
        case "asked":
            return hand_off(state, HandoffReason.ASKED)
        case "failed":
            return hand_off(state, HandoffReason.FAULT)
        case _:
            assert_never(event.outcome)


def _reply_done(state: State) -> Step:
    if state.floor is Floor.PAUSED:  # the voice came as the last word ended: it is a turn like any other
        floor = Floor.IDLE if state.hearing is None else Floor.THINKING
        return replace(state, floor=floor, reply=None, turn_open=False), (Silence(),)
    if state.floor is not Floor.SPEAKING:
        raise IllegalEventError(f"a reply was played to its end while the floor was {state.floor}")
    return replace(state, floor=Floor.IDLE, reply=None), ()
