"""What is begun before a turn has ended: used if it ends with these words, otherwise gone without a trace."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from audio.types import Silent, Transcript, Voiced
from retrieval.types import GateReason, Outcome
from tests.fakes import LIVELY, Dialogue, Scripted, ScriptedAnswers, ScriptedRecognizer, pause, voice
from tests.voice_agent.test_session import ANSWERS, FIRST, SCRIPT, SECOND
from voice_agent import phrases
from voice_agent.call.recorded import Clip
from voice_agent.floor.actions import (
    Action,
    BeginReply,
    Guess,
    Recognise,
    RecogniseEarly,
    Speculate,
    TakeEarly,
)
from voice_agent.floor.events import (
    Event,
    Foreseen,
    Guessed,
    Heard,
    JobId,
    Recognised,
    RecognitionFailed,
    ReplyId,
)
from voice_agent.floor.state import Ahead, Floor, Rules, State
from voice_agent.floor.step import step

QUESTION, PLAIN, OPEN = "退款多久到账", "会员积分有效期", "我想问一下就是"


def words(text: str) -> Transcript:
    return Transcript(text=text, raw=text, confidence=0.9, voiced_s=1.0, seconds=0.1)


def play(*events: Event, state: State | None = None, rules: Rules = LIVELY) -> tuple[State, list[Action]]:
    state, done = state or State(), list[Action]()
    for event in events:
        state, actions = step(state, event, rules)
        done.extend(actions)
    return state, done


SAID = (Heard(Voiced(1.0, 1.5)), Heard(Silent(1.5, 1.7)))
"""Half a second of voice, then soft silence."""


def early(text: str) -> tuple[Event, ...]:
    return (*SAID, Recognised(JobId(1), words(text)))


def test_the_final_recognition_begins_at_soft_silence_once() -> None:
    """Of the whole utterance so far, and not again while the silence lasts."""
    state, actions = play(*SAID, Heard(Silent(1.5, 1.9)))
    assert actions == [RecogniseEarly(JobId(1), 1.0, 1.5)] and state.floor is Floor.IDLE


@pytest.mark.parametrize(
    ("text", "sure", "ends_s"),
    [(QUESTION, False, 0.5), (PLAIN, False, 0.8), (PLAIN, True, 0.5), (OPEN, True, 1.6)],
)
def test_the_words_decide_how_long_the_silence_must_be(text: str, sure: bool, ends_s: float) -> None:
    """A question or a sure answer ends it early, words that call for more late; its words are acted on at once."""
    state, _ = play(*early(text), Foreseen(JobId(2), sure))
    before, actions = play(Heard(Silent(1.5, 1.5 + ends_s - 0.02)), state=state)
    assert actions == [] and before.floor is Floor.IDLE
    after, actions = play(Heard(Silent(1.5, 1.5 + ends_s + 0.001)), state=before)
    assert actions == [
        TakeEarly(JobId(1), 1.0, 1.5, words(text)),
        BeginReply(ReplyId(3), words(text), may_clarify=True, ahead=JobId(2)),
    ]
    assert after.floor is Floor.THINKING and after.ahead == Ahead()


def test_words_still_being_recognised_are_waited_for() -> None:
    """Nothing could be answered sooner; at the longest wait the turn ends and they are its words all the same."""
    state, actions = play(*SAID, Heard(Silent(1.5, 2.6)))
    assert actions == [RecogniseEarly(JobId(1), 1.0, 1.5)]
    state, actions = play(Heard(Silent(1.5, 3.2)), state=state)
    assert actions == [TakeEarly(JobId(1), 1.0, 1.5, None)] and state.hearing == JobId(1)
    _, actions = play(Recognised(JobId(1), words(QUESTION)), state=state)
    assert actions == [BeginReply(ReplyId(2), words(QUESTION), may_clarify=True)]


def test_a_voice_voids_what_was_begun_on_the_silence() -> None:
    """Its late results are stale; the next silence begins anew, over the whole utterance."""
    state, _ = play(*early(QUESTION), Heard(Voiced(2.0, 2.2)))  # where a partial is due: job 3
    assert (state.ahead.early, state.ahead.heard, state.ahead.speculation) == (None, None, None)
    after, actions = play(Foreseen(JobId(2), True), Recognised(JobId(1), words("旧")), state=state)
    assert actions == [] and after.stale == 2
    _, actions = play(Heard(Silent(2.2, 2.4)), state=after)
    assert actions == [RecogniseEarly(JobId(4), 1.0, 2.2)]


def test_an_early_recognition_that_failed_is_the_turns() -> None:
    """The caller is asked again when their turn has ended, not before."""
    state, actions = play(*SAID, RecognitionFailed(JobId(1)), Heard(Silent(1.5, 2.2)))
    assert len(actions) == 1 and state.floor is Floor.IDLE
    state, actions = play(Heard(Silent(1.5, 2.4)), state=state)
    assert isinstance(actions[0], TakeEarly) and state.asked_again == 1


def test_partials_begin_at_fixed_places_one_in_flight() -> None:
    """Every 0.6 s of the utterance; one that is due while another runs is left out, not put off."""
    voices = [Heard(Voiced(1.0, 1.0 + 0.02 * n)) for n in range(6, 130)]
    _, actions = play(*voices)
    assert actions == [Guess(JobId(1), 1.0, pytest.approx(1.6))]
    state, actions = play(*voices[:40], Guessed(JobId(1), words("退款"), 1.6))
    assert state.ahead.said == words("退款")
    _, actions = play(*voices[40:], state=state)
    assert actions == [Guess(JobId(2), 1.0, pytest.approx(2.2))]


def test_a_monologue_has_no_partials_beyond_a_length() -> None:
    """Each would take longer than the one before."""
    _, actions = play(Heard(Voiced(1.0, 12.9)), Guessed(JobId(1), None, 12.9), Heard(Voiced(1.0, 29.0)))
    assert [type(action) for action in actions] == [Guess]


def test_without_early_recognition_a_partial_is_searched_for() -> None:
    """At soft silence the newest words are guessed, speculated on, and judged by their ending."""
    rules = replace(LIVELY, early_asr=False)
    state, actions = play(*SAID, Guessed(JobId(1), words(QUESTION), 1.5), rules=rules)
    assert actions == [Guess(JobId(1), 1.0, 1.5), Speculate(JobId(2), words(QUESTION))]
    state, actions = play(Heard(Silent(1.5, 2.01)), state=state, rules=rules)
    assert actions == [Recognise(JobId(3), 1.0, 1.5)]


# Whole dialogues.


def dialogue(**changes: object) -> Dialogue:
    shipped = {"rules": LIVELY, "foresee_chars": 40, **changes}
    return Dialogue(ScriptedRecognizer(SCRIPT), ScriptedAnswers(ANSWERS), **shipped)  # type: ignore[arg-type]


def speculations(call: Dialogue) -> list[object]:
    return [event["state"] for event in call.journal.of("speculation")]


def test_a_speculation_is_used_and_its_answer_is_the_same() -> None:
    """Searched once, synthesised once; what is said and recorded is what would be without it."""
    ahead, plain = dialogue(), dialogue(rules=replace(LIVELY, speculation=False))
    for call in (ahead, plain):
        call.run(Clip(np.concatenate([voice(1), pause(1.0)])))
    assert speculations(ahead) == ["begun", "used"] and speculations(plain) == []
    assert len(ahead.answers.asked) == 1 and ahead.synthesizer.asked == [FIRST, SECOND]
    for kind in ("query", "gate", "sentence", "spoken"):
        assert len(ahead.journal.of(kind)) == len(plain.journal.of(kind)) > 0
    assert ahead.spoken() == plain.spoken() == [FIRST, SECOND]


def test_a_wasted_speculation_leaves_nothing_but_its_count() -> None:
    """The caller went on: nothing of what was found is said, kept or recorded as a fact (FIELD A7 29)."""
    call = dialogue()
    call.recognizer.script = {1: PLAIN, 2: "不是我问的是发票"}
    call.answers.script = {**ANSWERS, PLAIN: ANSWERS[QUESTION]}
    call.run(Clip(np.concatenate([voice(1), pause(0.66), voice(2), pause(1.0)])))
    assert speculations(call) == ["begun", "wasted", "begun", "used"]
    assert len(call.journal.of("gate")) == len(call.journal.of("reply_ended")) == 1
    assert call.spoken() == ["电子发票在订单详情页面里点开就可以开具。"]
    assert all(asked.history == () for asked in call.answers.asked)
    counters = call.journal.of("call_ended")[0]["counters"]
    assert isinstance(counters, dict) and counters["speculations_wasted"] == 1


def test_a_cough_after_a_wasted_speculation_loses_no_turn() -> None:
    """What is given up is the speculation, not the question (FIELD A7 20)."""
    call = dialogue()
    call.run(Clip(np.concatenate([voice(1), pause(0.4), voice(1, 0.16), pause(1.5)])))
    assert call.spoken() == [FIRST, SECOND] and len(call.journal.of("reply_ended")) == 1


@pytest.mark.parametrize("line", [5, 6, 8, 9])
def test_every_outcome_is_what_it_is_without_speculation(line: int) -> None:
    """Refused, asked for a person, asked back, blocked: looking ahead changes no decision."""
    ahead, plain = dialogue(), dialogue(rules=replace(LIVELY, speculation=False))
    for call in (ahead, plain):
        call.run(Clip(np.concatenate([voice(line), pause(1.0)])))
    assert ahead.spoken() == plain.spoken()
    ended = [[event["outcome"] for event in call.journal.of("reply_ended")] for call in (ahead, plain)]
    assert ended[0] == ended[1]


def test_a_fault_ahead_is_met_again_by_the_reply() -> None:
    """A speculation that raises is noted and nothing of it is used; the reply decides what the fault means."""
    call = dialogue()
    call.answers.script = {}
    call.run(Clip(np.concatenate([voice(1), pause(1.0)])))
    assert "failed" in speculations(call) and call.spoken() == [phrases.HANDOFF]
    assert call.sink.packets[0].reason == "FAULT"


def test_a_model_that_writes_is_not_asked_ahead() -> None:
    """Only the search is done: a sentence of a language model may cost money and cannot be taken back."""
    call = dialogue(foresee_chars=0)
    call.answers.script = {QUESTION: Scripted(Outcome.CLARIFY, GateReason.AMBIGUOUS)}
    call.run(Clip(np.concatenate([voice(1), pause(1.0)])))
    assert call.synthesizer.asked == [] and call.spoken() == [phrases.CLARIFY]


def test_a_recording_that_ends_in_speech_is_still_answered() -> None:
    """The last utterance is heard although no silence follows it in the file (FIELD A7 47)."""
    call = dialogue()
    call.run(Clip(voice(1)))
    assert call.spoken() == [FIRST, SECOND]
