"""What is begun before the caller's turn has ended, so that the silence that must be waited for is not idle. Pure.

While they speak: partial recognitions at fixed places of the utterance. At soft silence: the final recognition, or
without `early_asr` one more partial; and on its words the search. If the voice goes on, all of that is given up.
"""

from __future__ import annotations

from dataclasses import replace

from audio.types import Silent, Transcript, Voiced
from voice_agent.floor.actions import Action, Guess, RecogniseEarly, Speculate
from voice_agent.floor.events import Foreseen, Guessed, JobId, Recognised, RecognitionFailed
from voice_agent.floor.state import Ahead, Caller, Floor, Rules, State, Step
from voice_agent.floor.turn_end import pause_s

HAIR_S = 1e-6
"""Seconds are sums of floats: 1.7 - 1.5 is a hair below 0.2, and would cost a frame."""


def tidied(state: State) -> State:
    """The state with nothing under way that nobody waits for."""
    waited_for = state.floor is Floor.IDLE and state.utterance_from_s is not None
    return state if waited_for else replace(state, ahead=Ahead())


def spoken_on(ahead: Ahead) -> Ahead:
    """The caller goes on: what was begun on their silence is void, their partials stay."""
    return replace(ahead, early=None, heard=None, speculation=None, sure=False)


def turn_pause_s(state: State, silent: Silent, rules: Rules) -> float:
    """The silence that ends this turn, by what is known of its words.

    While its words are still being recognised nothing can be answered, so nothing is lost by waiting for them.
    """
    ahead = state.ahead
    if ahead.early is not None and ahead.heard is None:
        return max(rules.long_pause_s, rules.end_pause_s)
    return pause_s(_words(ahead, silent), ahead.sure, rules)


def on_voice(state: State, voiced: Voiced, rules: Rules) -> Step:
    """A partial where one is due: every `partial_every_s` from the utterance's beginning, one in flight."""
    from_s = state.utterance_from_s
    if not rules.partial_every_s or from_s is None or state.floor is not Floor.IDLE:
        return state, ()
    due_s = state.ahead.next_guess_s
    if due_s is None:
        due_s = from_s + rules.partial_every_s
    if voiced.until_s < due_s or voiced.until_s - from_s > rules.partial_until_s:
        return state, ()
    while due_s <= voiced.until_s:
        due_s += rules.partial_every_s
    state = replace(state, ahead=replace(state.ahead, next_guess_s=due_s))
    return (state, ()) if state.ahead.guess is not None else _guess(state, from_s, voiced.until_s)


def on_soft_silence(state: State, silent: Silent, rules: Rules) -> Step:
    """The words so far are recognised, once a silence."""
    from_s, ahead = state.utterance_from_s, state.ahead
    if from_s is None or silent.length_s + HAIR_S < rules.soft_pause_s or state.floor is not Floor.IDLE:
        return state, ()
    if rules.early_asr and ahead.early is None:
        job = JobId(state.last_id + 1)
        ahead = replace(ahead, guess=None, early=job, early_until_s=silent.since_s)
        return replace(state, ahead=ahead, last_id=job), (RecogniseEarly(job, from_s, silent.since_s),)
    partials = bool(rules.partial_every_s) and silent.since_s - from_s <= rules.partial_until_s
    if partials and not rules.early_asr and ahead.guess is None and ahead.said_until_s < silent.since_s:
        whole = replace(state, ahead=replace(ahead, early_until_s=silent.since_s))
        return _guess(whole, from_s, silent.since_s)
    return state, ()


def on_guessed(state: State, event: Guessed, rules: Rules) -> Step:
    """A partial: the newest words. Those recognised at soft silence may be the turn's."""
    ahead = replace(state.ahead, guess=None, said_until_s=event.until_s)
    if event.transcript is not None:
        ahead = replace(ahead, said=event.transcript)
    state = replace(state, ahead=ahead)
    whole = state.caller is Caller.SOFT_SILENCE and event.until_s == ahead.early_until_s
    return _speculate(state, event.transcript, rules) if whole else (state, ())


def on_early(state: State, event: Recognised | RecognitionFailed, rules: Rules) -> Step:
    """The early final is here, before the turn has ended."""
    state = replace(state, ahead=replace(state.ahead, heard=event))
    return _speculate(state, event.transcript if isinstance(event, Recognised) else None, rules)


def on_foreseen(state: State, event: Foreseen) -> Step:
    return replace(state, ahead=replace(state.ahead, sure=event.sure)), ()


def _speculate(state: State, words: Transcript | None, rules: Rules) -> Step:
    if not rules.speculation or words is None or not words.text or state.floor is not Floor.IDLE:
        return state, ()
    job = JobId(state.last_id + 1)
    ahead = replace(state.ahead, speculation=job, sure=False)
    action: Action = Speculate(job, words)
    return replace(state, ahead=ahead, last_id=job), (action,)


def _guess(state: State, from_s: float, until_s: float) -> Step:
    job = JobId(state.last_id + 1)
    ahead = replace(state.ahead, guess=job)
    return replace(state, ahead=ahead, last_id=job), (Guess(job, from_s, until_s),)


def _words(ahead: Ahead, silent: Silent) -> Transcript | None:
    """The words up to the last voiced sample: the early final's, else those of a partial that reached so far."""
    if ahead.early is not None:
        return ahead.heard.transcript if isinstance(ahead.heard, Recognised) else None
    return ahead.said if ahead.said_until_s >= silent.since_s else None
