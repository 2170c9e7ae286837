"""The way from sound to a turn, with the agent idle: detector, segments, the floor's own decisions, recogniser.

The pure `step` of the call decides here as it does there; only time and speech are left out. A span is recognised at
the frame that asks for it, and where the agent would begin to answer or ask again, the turn is noted and the
next one is waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from audio.segments import SegmentRules
from audio.types import CALL_RATE_HZ, Recognizer, Samples, Transcript
from audio.wav import frames
from voice_agent.call.hearing import TAIL_S
from voice_agent.call.listen import Listener, VoiceActivity
from voice_agent.floor.actions import AskAgain, Recognise
from voice_agent.floor.events import Event, Heard, Recognised
from voice_agent.floor.state import Rules, State
from voice_agent.floor.step import step

Outcome = Literal["turn", "asked_again", "dropped"]


@dataclass(frozen=True, slots=True)
class Ear:
    """What hears. `detector` makes one voice detector a call."""

    detector: Callable[[], VoiceActivity]
    recognizer: Recognizer
    rules: Rules
    preroll_s: float


@dataclass(frozen=True, slots=True)
class Span:
    """One stretch given to the recogniser, and what came of it."""

    outcome: Outcome
    transcript: Transcript


def listen(sound: Samples, ear: Ear) -> list[Span]:
    """Everything that was taken for an utterance in a whole sound, in order."""
    listener = Listener(ear.detector(), SegmentRules(), ear.rules.max_utterance_s + 5)
    state, spans = State(), list[Span]()
    for frame in frames(sound):
        state, actions = step(state, Heard(listener.hear(frame)), ear.rules)
        for action in actions:
            if isinstance(action, Recognise):
                cut = listener.cut(action.from_s - ear.preroll_s, action.until_s + TAIL_S)
                transcript = ear.recognizer.transcribe(cut.samples, cut.voiced_s)
                outcome, state = _decided(state, Recognised(action.job, transcript), ear.rules)
                spans.append(Span(outcome, transcript))
    return spans


def _decided(state: State, event: Event, rules: Rules) -> tuple[Outcome, State]:
    """What the floor makes of a recognition; after a turn it is idle again, as if the agent had answered."""
    state, actions = step(state, event, rules)
    if any(isinstance(action, AskAgain) for action in actions):
        return "asked_again", State()
    return ("turn", State()) if actions else ("dropped", state)


def on_a_line(
    sound: Samples, hiss_dbfs: float, seed: int, before_s: float = 1.0, after_s: float = 2.2
) -> Samples:
    """The sound between stretches of the line alone, whose hiss lies under all of it."""
    ends = [np.zeros(int(s * CALL_RATE_HZ), dtype=np.float32) for s in (before_s, after_s)]
    whole = np.concatenate([ends[0], sound, ends[1]])
    hiss = np.random.default_rng(seed).standard_normal(len(whole)) * 10 ** (hiss_dbfs / 20)
    return np.clip(whole + hiss, -1, 1).astype(np.float32)


def raised(spans: Sequence[Span]) -> list[Span]:
    """The spans that made the agent act."""
    return [span for span in spans if span.outcome != "dropped"]
