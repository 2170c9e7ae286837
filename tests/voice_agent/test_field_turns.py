"""Faults that users of other agents met in the taking of turns, and what happens here instead."""

from __future__ import annotations

import numpy as np
import pytest

from audio.types import Voiced
from tests.fakes import pause, voice
from tests.voice_agent.test_barge_in import PAUSED, SPEAKING, after, words
from tests.voice_agent.test_session import FIRST, dialogue, question
from voice_agent.call.recorded import Clip
from voice_agent.floor.actions import Silence
from voice_agent.floor.events import Event, Foreseen, Guessed, Heard, JobId, Recognised
from voice_agent.floor.state import State


@pytest.mark.parametrize("state", [SPEAKING, PAUSED])
@pytest.mark.parametrize(
    "early",
    [
        Guessed(JobId(2), words("停"), 5.1),
        Guessed(JobId(7), words("我要问发票"), 5.1),
        Recognised(JobId(1), words("停")),
        Recognised(JobId(7), words("我要问发票")),
        Foreseen(JobId(2), True),
    ],
)
def test_no_second_way_cuts_the_agent(state: State, early: Event) -> None:
    """A7 22: only the recognition that was asked for over the agent decides. Words from anywhere else, however clear,
    do not cut it before the voice has lasted."""
    left, actions = after(early, state=state)
    assert Silence() not in actions and left.floor is state.floor
    assert after(Heard(Voiced(6.0, 6.1)), state=left)[1] == ()


def test_history_stays_in_the_order_it_was_said() -> None:
    """A7 28: answered, cut, answered, cut: every question stands once, in its place, with what was heard of its
    answer."""
    call = dialogue()
    call.run(
        question(1),
        Clip(voice(2), "agent_started", 0.1),
        Clip(np.concatenate([voice(1), pause(0.5)]), "agent_finished", 0.5),
        Clip(voice(2), "agent_started", 0.1),
        Clip(voice(1), "agent_finished", 0.5),
    )
    told = [(each.question, each.interrupted) for each in call.answers.asked[-1].history]
    asked = [asked.question for asked in call.answers.asked]
    assert [question for question, _ in told] == asked[: len(told)][-len(told) :] and len(told) >= 3
    assert [bool(cut) for _, cut in told] == [True, False] * (len(told) // 2) + [True] * (len(told) % 2)
    assert told[0] == ("退款多久到账", FIRST)
