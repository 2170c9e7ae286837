"""A voice over the agent: lowered, paused, and then decided, each by a length of the call's own time. Pure.

At `barge_in_duck_s` of voice the agent lowers its voice, at `barge_in_pause_s` it falls silent. What was said decides
(overlap.py, echo.py): words cut, anything else lets it go on where it stopped. A recogniser that fails cuts, and so
does one that has not decided `barge_in_decide_s` after the pause: when in doubt the caller is right.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from audio.types import Activity, Silent, Voiced
from voice_agent.floor.actions import (
    Action,
    BargedIn,
    CancelReply,
    Duck,
    LineEchoes,
    PausePlayback,
    Recognise,
    ResumePlayback,
    Silence,
    Unduck,
)
from voice_agent.floor.duties import Over
from voice_agent.floor.echo import ECHO_LIMIT, is_echo
from voice_agent.floor.events import JobId, Recognised
from voice_agent.floor.keeping import affirms, denies
from voice_agent.floor.overlap import overlap
from voice_agent.floor.state import Caller, Floor, IllegalEventError, Rules, State, Step

FALSE_ALARMS = 3
"""Pauses of one reply over nothing. A room that noisy must not chop it up: then only a long voice pauses it."""

Meaning = Literal["words", "stop", "backchannel", "echo", "nothing"]


def voice_over(state: State, voiced: Voiced, rules: Rules) -> Step:
    """A voice while the agent sounds, or is about to behind a hold phrase."""
    noisy = state.over.alarms >= FALSE_ALARMS
    pause_s = rules.barge_in_cut_s if noisy else rules.barge_in_pause_s
    if _lasted(voiced, pause_s):
        since = voiced.since_s if state.turn_open else state.utterance_from_s
        over = replace(state.over, ducked=False, paused_from_s=voiced.until_s)
        return replace(state, floor=Floor.PAUSED, utterance_from_s=since, over=over), (PausePlayback(),)
    if _lasted(voiced, rules.barge_in_duck_s) and not state.over.ducked:
        return replace(state, over=replace(state.over, ducked=True)), (Duck(),)
    return state, ()


def paused_voice(state: State, voiced: Voiced, rules: Rules) -> Step:
    """The caller goes on speaking: after `barge_in_cut_s` nobody waits for the words."""
    if _lasted(voiced, rules.barge_in_cut_s):
        return cut(state, "")
    return _overdue(state, voiced.until_s, rules) or (state, ())


def paused_silence(state: State, silent: Silent, rules: Rules) -> Step:
    """The caller is done, or breathes: a short silence is enough to find out what it was."""
    if (late := _overdue(state, silent.until_s, rules)) is not None:
        return late
    since = state.utterance_from_s
    if since is None or state.hearing is not None or not _lasted(silent, rules.barge_in_listen_s):
        return state, ()
    job = JobId(state.last_id + 1)
    hearing = replace(state, hearing=job, last_id=job, waiting_since_s=silent.since_s)
    return replace(hearing, wait_from_s=silent.until_s), (Recognise(job, since, silent.since_s),)


def meaning(state: State, event: Recognised) -> Meaning:
    """What was said over the agent. A yes or no to words just being read back is an answer."""
    text = event.transcript.text
    if state.kept.read_back is not None and (affirms(text) or denies(text)):
        return "words"
    return "echo" if is_echo(text, event.spoken) else overlap(text)


def go_on(state: State, why: Literal["backchannel", "echo", "nothing"]) -> Step:
    """The agent goes on where it stopped, unless the caller is speaking again: then that is heard out first."""
    if state.caller is Caller.VOICED:
        return state, ()
    echoes = state.over.echoes + (why == "echo")
    over = Over(echoes=echoes, alarms=state.over.alarms + (why != "backchannel"))
    floor = Floor.THINKING if state.turn_open else Floor.SPEAKING
    found: tuple[Action, ...] = (LineEchoes(),) if why == "echo" and echoes == ECHO_LIMIT else ()
    return replace(state, floor=floor, utterance_from_s=None, over=over), (ResumePlayback(why), *found)


def cut(state: State, heard: str) -> Step:
    """The caller takes the floor from the agent. What they have begun to say goes on being listened to."""
    if state.reply is None:
        raise IllegalEventError("nobody is speaking who could be cut")
    actions = (CancelReply(state.reply), Silence(), BargedIn(heard))
    kept = replace(state.kept, prompts=0, ending=None)
    idle = replace(state, floor=Floor.IDLE, reply=None, hearing=None, turn_open=False, holds=0)
    return replace(idle, over=Over(), kept=kept), actions


def stopped(state: State, heard: str) -> Step:
    """Told to stop, in so many words: silence, and whatever comes next is a turn of its own."""
    after, actions = cut(state, heard)
    return replace(after, utterance_from_s=None, waiting_since_s=None), actions


def levelled(state: State, actions: tuple[Action, ...]) -> Step:
    """The duck ends with the voice that caused it, or with the sound it lowered."""
    kept = state.floor in (Floor.SPEAKING, Floor.THINKING) and state.caller is Caller.VOICED
    if not state.over.ducked or kept:
        return state, actions
    return replace(state, over=replace(state.over, ducked=False)), (*actions, Unduck())


def _lasted(run: Activity, length_s: float) -> bool:
    """Seconds are sums of floats: 5.3 - 5.0 is a hair below 0.3, and would cost a frame."""
    return run.length_s >= length_s - 1e-6


def _overdue(state: State, now_s: float, rules: Rules) -> Step | None:
    """Nobody waits longer: cut. Words still being recognised are then answered like any others."""
    paused_s = state.over.paused_from_s
    if paused_s is None or now_s - paused_s < rules.barge_in_decide_s:
        return None
    after, actions = cut(state, "")
    if state.hearing is not None:
        after = replace(after, floor=Floor.THINKING, hearing=state.hearing)
    return after, actions
