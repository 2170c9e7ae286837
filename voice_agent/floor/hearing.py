"""The caller's turn has ended: its words are to be recognised, or are already. Pure."""

from __future__ import annotations

from dataclasses import replace

from audio.types import Silent
from voice_agent.floor.actions import Recognise, TakeEarly
from voice_agent.floor.events import JobId, Recognised
from voice_agent.floor.state import Floor, IllegalEventError, State, Step


def begin_hearing(state: State, until_s: float, now_s: float) -> Step:
    """The words up to `until_s` are recognised. Raises IllegalEventError."""
    from_s = _began(state)
    job = JobId(state.last_id + 1)
    return replace(_waiting(state, job, until_s, now_s), last_id=job), (Recognise(job, from_s, until_s),)


def take_early(state: State, job: JobId, silent: Silent) -> Step:
    """The recognition begun at soft silence is the turn's. Raises IllegalEventError."""
    heard = state.ahead.heard
    words = heard.transcript if isinstance(heard, Recognised) else None
    action = TakeEarly(job, _began(state), silent.since_s, words)
    return _waiting(state, job, silent.since_s, silent.until_s), (action,)


def _began(state: State) -> float:
    if state.utterance_from_s is None:
        raise IllegalEventError("nothing was said that could be recognised")
    return state.utterance_from_s


def _waiting(state: State, job: JobId, until_s: float, now_s: float) -> State:
    """The turn ended at `until_s`, as is known now; `job` hears it."""
    floor = Floor.THINKING if state.floor is Floor.IDLE else state.floor
    passed = state.passed and state.floor is not Floor.IDLE
    waiting = replace(state, waiting_since_s=until_s, wait_from_s=now_s, passed=passed)
    return replace(waiting, hearing=job, floor=floor)
