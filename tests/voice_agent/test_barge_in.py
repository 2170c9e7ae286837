"""A voice over the agent, measured at the player's blocks and followed to its end, in a replay's time."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from audio.errors import ModelError
from audio.types import FRAME_MS, Samples, Silent, Transcript, Voiced
from retrieval.types import Outcome
from tests.fakes import RULES, Dialogue, Scripted, ScriptedAnswers, ScriptedRecognizer, pause, voice
from tests.voice_agent.test_session import ANSWER, ANSWERS, FIRST, SCRIPT, SECOND, dialogue, question
from voice_agent import phrases
from voice_agent.call.recorded import Clip
from voice_agent.floor.actions import (
    BargedIn,
    CancelReply,
    Duck,
    PausePlayback,
    Recognise,
    ResumePlayback,
    Silence,
    Unduck,
)
from voice_agent.floor.barge_in import FALSE_ALARMS
from voice_agent.floor.events import (
    Event,
    Heard,
    JobId,
    Recognised,
    RecognitionFailed,
    ReplyEnded,
    ReplyId,
    ReplySounding,
)
from voice_agent.floor.state import Floor, State, Step
from voice_agent.floor.step import step

INVOICE = "电子发票在订单详情页面里点开就可以开具。"


def words(text: str) -> Transcript:
    return Transcript(text, text, 0.9, 1.0, 0.1)


def after(*events: Event, state: State = State()) -> Step:  # noqa: B008 - frozen
    """The state after these events and the actions of the last one."""
    actions: tuple[object, ...] = ()
    for event in events:
        state, actions = step(state, event, RULES)
    return state, actions  # type: ignore[return-value]


SPEAKING, _ = after(
    Heard(Voiced(1.0, 2.0)),
    Heard(Silent(2.0, 2.9)),
    Recognised(JobId(1), words("退款多久到账")),
    ReplySounding(ReplyId(2)),
)
PAUSED, _ = after(Heard(Voiced(5.0, 5.3)), state=SPEAKING)


def test_a_voice_lowers_the_agent_before_it_silences_it() -> None:
    """Duck at 0.12 s, once; pause at 0.3 s; a voice that ends between the two raises it again."""
    state, actions = after(Heard(Voiced(5.0, 5.12)), state=SPEAKING)
    assert actions == (Duck(),)
    assert after(Heard(Voiced(5.0, 5.2)), state=state)[1] == ()
    assert after(Heard(Voiced(5.0, 5.3)), state=state)[1] == (PausePlayback(),)
    assert after(Heard(Silent(5.2, 5.4)), state=state)[1] == (Unduck(),)
    assert after(ReplyEnded(ReplyId(2), "answered"), state=state)[1] == (Unduck(),)


def test_nothing_is_too_short_for_words() -> None:
    """Below 0.12 s nothing happens at all: a click is no caller."""
    assert after(Heard(Voiced(5.0, 5.1)), state=SPEAKING)[1] == ()


def test_a_short_silence_is_enough_to_find_out() -> None:
    """0.4 s after the voice it is recognised, without waiting for the end of a turn."""
    state, actions = after(Heard(Voiced(5.0, 5.6)), Heard(Silent(5.6, 6.0)), state=PAUSED)
    assert actions == (Recognise(JobId(3), 5.0, 5.6),)
    assert after(Heard(Silent(5.6, 6.2)), state=state)[1] == ()


def test_words_of_a_caller_who_has_finished_are_answered_at_once() -> None:
    """The recognition that decided is the turn's own."""
    state, actions = after(
        Heard(Silent(5.6, 6.0)), Heard(Silent(5.6, 6.5)), Recognised(JobId(3), words("发票呢")), state=PAUSED
    )
    assert actions[:3] == (CancelReply(ReplyId(2)), Silence(), BargedIn("发票呢"))
    assert state.floor is Floor.THINKING and state.reply == ReplyId(4)


def test_words_of_a_caller_who_has_not_are_heard_out() -> None:
    """Cut and cancelled, but the turn is what they say to its end: recognised whole, from their first word."""
    state, actions = after(
        Heard(Silent(5.6, 6.0)),
        Heard(Voiced(6.1, 6.3)),
        Recognised(JobId(3), words("不用说这个")),
        state=PAUSED,
    )
    assert actions == (CancelReply(ReplyId(2)), Silence(), BargedIn("不用说这个"))
    assert (state.floor, state.utterance_from_s) == (Floor.IDLE, 5.0)
    assert after(Heard(Silent(7.0, 7.9)), state=state)[1] == (Recognise(JobId(4), 5.0, 7.0),)


@pytest.mark.parametrize("heard", ["停", "等一下", "不是", "等等。", "先停一下", "别说了"])
def test_an_order_to_stop_is_obeyed_in_silence(heard: str) -> None:
    """Cut, cancelled, and listened to: no search for 停, no hand-off, and the next words are a turn of their own."""
    state, actions = after(
        Heard(Silent(5.6, 6.0)), Heard(Silent(5.6, 6.5)), Recognised(JobId(3), words(heard)), state=PAUSED
    )
    assert actions == (CancelReply(ReplyId(2)), Silence(), BargedIn(heard))
    assert (state.floor, state.reply, state.utterance_from_s) == (Floor.IDLE, None, None)


def test_nobody_is_paused_for_ever() -> None:
    """4 s after the pause without a decision the agent is cut; words still to come are then answered."""
    hearing, _ = after(Heard(Silent(5.6, 6.0)), state=PAUSED)
    state, actions = after(Heard(Silent(5.6, 9.3)), state=hearing)
    assert actions == (CancelReply(ReplyId(2)), Silence(), BargedIn(""))
    assert (state.floor, state.hearing) == (Floor.THINKING, JobId(3))
    state, _ = after(Recognised(JobId(3), words("发票呢")), state=state)
    assert state.reply == ReplyId(4)
    state, actions = after(Heard(Voiced(9.0, 9.3)), state=replace(hearing, hearing=None))
    assert actions[-1] == BargedIn("") and state.floor is Floor.IDLE


def test_a_murmur_of_a_caller_who_goes_on_does_not_let_the_agent_over_them() -> None:
    """嗯 and then a voice: still paused, and the whole is recognised at the next silence."""
    state, actions = after(
        Heard(Silent(5.6, 6.0)), Heard(Voiced(6.1, 6.3)), Recognised(JobId(3), words("嗯")), state=PAUSED
    )
    assert actions == () and state.floor is Floor.PAUSED
    assert after(Heard(Silent(6.5, 6.9)), state=state)[1] == (Recognise(JobId(4), 5.0, 6.5),)


def test_a_noisy_room_does_not_chop_up_an_answer() -> None:
    """After three pauses over nothing only a long voice pauses this reply; the next reply begins afresh."""
    state, at_s = SPEAKING, 5.0
    for _ in range(FALSE_ALARMS):
        state, _ = after(Heard(Voiced(at_s, at_s + 0.3)), Heard(Silent(at_s + 0.3, at_s + 0.7)), state=state)
        state, actions = after(Recognised(state.hearing or JobId(0), words("")), state=state)
        assert actions == (ResumePlayback("nothing"),)
        at_s += 2
    state, actions = after(Heard(Voiced(at_s, at_s + 0.5)), state=state)
    assert actions == (Duck(),)
    _, actions = after(Heard(Voiced(at_s, at_s + 1.5)), state=state)
    assert actions[0] == PausePlayback()


def test_the_last_word_may_end_as_the_pause_begins() -> None:
    """A reply that was all heard when the voice came is over, and the voice is a turn like any other."""
    state, actions = after(ReplyEnded(ReplyId(2), "answered"), state=PAUSED)
    assert (state.floor, state.reply, actions) == (Floor.IDLE, None, (Silence(),))
    assert after(Heard(Silent(5.6, 6.5)), state=state)[1] == (Recognise(JobId(3), 5.0, 5.6),)


def test_a_failed_recognition_cuts() -> None:
    """Fail towards the caller: they spoke, and they are asked to say it again."""
    _, actions = after(Heard(Silent(5.6, 6.0)), RecognitionFailed(JobId(3)), state=PAUSED)
    assert actions[:3] == (CancelReply(ReplyId(2)), Silence(), BargedIn(""))


# Whole calls, measured at the blocks that the player gave out.


def first_block(blocks: list[Samples], from_s: float, quieter_than: float) -> float:
    """When the agent's side first is below a level, in seconds after `from_s`."""
    for index, block in enumerate(blocks):
        at_s = index * FRAME_MS / 1000
        if at_s >= from_s and np.abs(block[-1]) < quieter_than:
            return at_s + FRAME_MS / 1000 - from_s
    raise AssertionError("the agent never became quieter")


@pytest.mark.parametrize("into_s", [0.1, 0.33, 0.47, 0.6])
def test_ducked_within_200_ms_and_silent_within_350(into_s: float) -> None:
    """From the caller's first voiced sample to the end of the first block at the ducked level, and to silence."""
    call = dialogue()
    call.run(question(1), Clip(voice(2), "agent_started", into_s))
    caller = np.concatenate(call.caller_side)
    began_s = float(np.flatnonzero(np.isclose(caller, 0.2))[0]) / 16_000
    assert first_block(call.agent_side, began_s, 0.2) <= 0.200
    assert first_block(call.agent_side, began_s, 0.001) <= 0.350


def test_recorded_callers_are_given_way_to_in_time_and_a_murmur_costs_no_sample() -> None:
    """The bench's own figures, by the real voice detector: P95 within 200 and 350 ms at the player's blocks."""
    bench = runpy.run_path(str(Path(__file__).resolve().parents[2] / "scripts" / "bench_barge_in"))
    shown = bench["report"]((0.62,))
    assert shown["ok"] and shown["ducked_ms"]["p95"] <= 200 and shown["silent_ms"]["p95"] <= 350
    assert shown["murmur"]["sample_for_sample"] and shown["silent_ms"]["measured"] == 8


def test_after_the_cut_not_one_sample_of_the_old_answer() -> None:
    """From the cut to the new answer the agent's side is silent, whatever was queued."""
    call = dialogue()
    call.run(question(1), Clip(voice(2), "agent_started", 0.1))
    cut_s, next_s = (
        float(str(call.journal.of("paused")[0]["t"])),
        float(str(call.journal.of("spoken")[1]["start_s"])),
    )
    side = np.concatenate(call.agent_side)
    assert not side[round(cut_s * 16_000) : round(next_s * 16_000)].any()


def test_a_cough_before_the_answer_never_loses_it() -> None:
    """Too short to take the turn back: the reply under way goes on."""
    call = dialogue()
    call.run(Clip(np.concatenate([pause(0.5), voice(1), pause(1.0), voice(4, 0.16), pause(2.0)])))
    assert call.spoken() == [FIRST, SECOND]


def test_a_cut_answer_is_remembered_as_what_was_heard() -> None:
    """The sentence heard whole is history, the cut one is flagged, and what was never begun is neither."""
    call = dialogue()
    call.run(question(1), Clip(voice(2), "agent_started", 0.98))
    (exchange,) = call.answers.asked[1].history
    assert (exchange.answer, exchange.interrupted) == (FIRST, SECOND)
    three = dialogue()
    plan = Scripted(sentences=(*ANSWER.sentences, ("还有第三句话。[S1]", None)))
    three.answers.script = {**ANSWERS, "退款多久到账": plan}
    three.run(question(1), Clip(voice(2), "agent_started", 0.1))
    (exchange,) = three.answers.asked[1].history
    assert (exchange.answer, exchange.interrupted) == ("", FIRST)


def test_fifty_barge_ins_in_a_row_leave_no_old_sound_no_stuck_state_and_no_task() -> None:
    """Words, orders, murmurs and coughs in turn: each is decided, the sound of each reply is that of its own question,
    and the last one is heard to its end."""
    stopped = np.concatenate([voice(9, 0.6), pause(2.0), voice(1)])
    again = Clip(voice(1), "agent_finished", 0.5)
    round_of_four = [
        *(Clip(voice(line, 0.6), "agent_started", 0.15) for line in (2, 3)),
        again,
        Clip(stopped, "agent_started", 0.15),
        Clip(voice(4, 0.6), "agent_started", 0.15),
        again,
    ]
    rules = replace(RULES, max_call_s=2000.0)
    call = Dialogue(ScriptedRecognizer({**SCRIPT, 9: "停"}), ScriptedAnswers(ANSWERS), rules=rules)
    session = call.run(question(1), *round_of_four * 13)
    decided = len(call.journal.of("barge_in")), len(call.journal.of("resumed"))
    assert decided == (26, 26) and len(call.journal.of("paused")) == 52
    assert session.state.floor is Floor.ENDED and not session.state.over.ducked
    assert not call.journal.of("error") and not call.journal.of("handoff")
    answers = {"退款多久到账": {FIRST, SECOND}, "不是我问的是发票": {INVOICE}}
    asked = {event["turn"]: str(event["text"]) for event in call.journal.of("query")}
    for event in call.journal.of("spoken"):
        assert event["text"] in answers[asked[event["turn"]]]
    assert call.journal.of("reply_ended")[-1]["outcome"] == "answered"


def test_ears_that_break_over_the_agent_end_in_a_person() -> None:
    """A cut, a question back, and with the second failure a hand-off: never silence."""
    call = dialogue()
    call.run(question(1), Clip(voice(7), "agent_started", 0.1), Clip(voice(7), "agent_finished", 0.5))
    assert call.journal.of("barge_in")[0]["heard"] == ""
    assert call.spoken()[-2:] == [phrases.REPEAT, phrases.HANDOFF]
    assert isinstance(SCRIPT[7], ModelError)


def test_a_person_is_to_be_had_over_the_agent() -> None:
    """转人工 cuts and hands over, from an answer as from a refusal already under way."""
    call = dialogue()
    call.run(question(1), Clip(voice(6), "agent_started", 0.1))
    assert call.sink.packets[0].reason == "ASKED" and call.spoken()[-1] == phrases.HANDOFF_ASKED
    refused = dialogue(phrase_s=6.0)
    refused.run(question(5), Clip(voice(6, 0.8), "agent_started", 0.5))
    assert refused.sink.packets[-1].added == ("转人工",)
    assert ANSWERS["黄金价格"].outcome is Outcome.REFUSE
