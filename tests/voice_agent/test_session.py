"""Whole calls over scripted models, in a replay's time."""

from __future__ import annotations

import numpy as np
import pytest

from audio.errors import ModelError
from retrieval.types import GateReason, Outcome, VerdictReason
from tests.fakes import (
    Dialogue,
    MemorySink,
    Scripted,
    ScriptedAnswers,
    ScriptedRecognizer,
    ScriptedSynthesizer,
    pause,
    voice,
)
from voice_agent import phrases
from voice_agent.call.recorded import Clip
from voice_agent.call.tally import Tally
from voice_agent.floor.state import Floor

FIRST, SECOND = "退款在审核通过以后三天之内原路退回到账。", "节假日顺延。"
ANSWER = Scripted(sentences=((FIRST + "[S1]", None), (SECOND + "[S1]", None)))
SCRIPT = {
    1: "退款多久到账",
    2: "不是我问的是发票",
    3: "嗯",
    4: "",
    5: "黄金价格",
    6: "转人工",
    7: ModelError("broken ears"),
    8: "那它呢",
    9: "讲个条款",
}
ANSWERS = {
    "退款多久到账": ANSWER,
    "不是我问的是发票": Scripted(sentences=(("电子发票在订单详情页面里点开就可以开具。[S1]", None),)),
    "黄金价格": Scripted(Outcome.REFUSE, GateReason.LOW_SCORE),
    "那它呢": Scripted(Outcome.CLARIFY, GateReason.AMBIGUOUS),
    "慢一点的": Scripted(sentences=ANSWER.sentences, thinks=("2 s",)),
    "很慢很慢": Scripted(sentences=ANSWER.sentences, thinks=("8 s",)),
    "说个没完": Scripted(sentences=tuple((f"这是长长的一句话的第{i}句。[S1]", None) for i in range(5))),
    "说两遍吧": Scripted(sentences=((FIRST + "[S1]", None),), repeats=True),
    "讲个条款": Scripted(
        sentences=(("先说一句真话。[S1]", None), ("再编一句假话。[S1]", VerdictReason.NUM_UNSUPPORTED))
    ),
}


def dialogue(**changes: object) -> Dialogue:
    return Dialogue(ScriptedRecognizer(SCRIPT), ScriptedAnswers(ANSWERS), **changes)  # type: ignore[arg-type]


def question(line: int, seconds: float = 1.0) -> Clip:
    return Clip(np.concatenate([pause(0.5), voice(line, seconds), pause(1.0)]))


def test_a_question_is_answered_and_the_call_ends() -> None:
    """Heard, searched, checked, spoken to the end, in that order; the caller's silence then ends the call."""
    call = dialogue()
    session = call.run(question(1))
    assert call.spoken() == [FIRST, SECOND]
    kinds = [event["type"] for event in call.journal.events]
    for before, after in [
        ("transcript", "gate"),
        ("gate", "sentence"),
        ("sentence", "spoken"),
        ("spoken", "call_ended"),
    ]:
        assert kinds.index(before) < kinds.index(after)
    assert call.journal.of("reply_ended")[0]["outcome"] == "answered"
    assert session.state.floor is Floor.ENDED and not call.journal.of("error")


def test_the_first_sound_comes_when_the_budgets_say() -> None:
    """End of speech to first sample is the pause plus every stage's budget, to a frame: 0.8+0.4+0.1+0.02+0.3."""
    call = dialogue()
    call.run(question(1))
    assert call.journal.of("reply_ended")[0]["first_audio_s"] == pytest.approx(1.62, abs=0.1)


def test_the_same_call_twice_is_the_same_call() -> None:
    """At speed 0 nothing depends on how fast the machine is: the journals are equal, event by event."""
    first, second = dialogue(), dialogue()
    clips = question(1), Clip(voice(2), "agent_started", 0.4)
    first.run(*clips)
    second.run(*clips)

    def steady(call: Dialogue) -> list[dict[str, object]]:
        return [event for event in call.journal.events if event["type"] not in ("call", "timing")]

    assert steady(first) == steady(second)


def test_both_sides_are_recorded_for_the_same_time() -> None:
    """The recording's two channels have one length, and the agent's holds exactly what was spoken."""
    call = dialogue()
    call.run(question(1))
    assert sum(map(len, call.caller_side)) == sum(map(len, call.agent_side))
    assert len(call.heard_of_agent()) == len(FIRST + SECOND) * 800


@pytest.mark.parametrize("sound", [pause(5.0), voice(4, 0.06), np.concatenate([voice(4), pause(1.0)])])
def test_silence_clicks_and_noise_are_no_turn(sound: np.ndarray) -> None:
    """Nothing said, nothing answered: no turn is counted and the agent stays silent."""
    call = dialogue()
    session = call.run(Clip(sound))
    assert session.state.turn == 0 and call.spoken() == [] and not call.heard_of_agent().size


def test_two_breaths_are_one_question() -> None:
    """A pause shorter than the end of turn splits nothing; a longer one is mended before the answer is heard."""
    for gap in (0.5, 1.0):
        call = dialogue()
        call.run(Clip(np.concatenate([voice(1), pause(gap), voice(1), pause(1.0)])))
        assert len(call.journal.of("reply_ended")) == 1
        assert call.recognizer.spans[-1] > 2.0 + gap


def test_two_questions_are_two_turns_with_history() -> None:
    """The second question is given the first exchange, in the words that were really heard."""
    call = dialogue()
    call.run(question(1), Clip(voice(2), "agent_finished", 0.5))
    assert [event["outcome"] for event in call.journal.of("reply_ended")] == ["answered", "answered"]
    (exchange,) = call.answers.asked[1].history
    assert (exchange.question, exchange.answer) == ("退款多久到账", FIRST + SECOND)


def test_words_over_the_agent_cut_it() -> None:
    """The agent falls silent, the cut sentence is recorded as incomplete, and the new question is answered."""
    call = dialogue()
    call.run(question(1), Clip(voice(2), "agent_started", 0.1))
    assert [event["outcome"] for event in call.journal.of("reply_ended")] == ["interrupted", "answered"]
    cut = call.journal.of("spoken")[0]
    assert cut["complete"] is False and call.spoken()[-1] == "电子发票在订单详情页面里点开就可以开具。"
    assert call.answers.asked[1].history == ()


def test_a_murmur_resumes_where_it_stopped() -> None:
    """With the gap taken out, the agent's side is what it would have been without the murmur."""
    plain, murmured = dialogue(), dialogue()
    plain.run(question(1))
    murmured.run(question(1), Clip(voice(3, 0.5), "agent_started", 0.1))
    assert murmured.journal.of("paused") and murmured.journal.of("resumed")
    assert np.array_equal(plain.heard_of_agent(), murmured.heard_of_agent())


def test_a_refusal_hands_over_with_a_packet() -> None:
    """The hand-off phrase is heard to its end, the packet says what was asked and looked at, and the call ends."""
    call = dialogue()
    call.run(question(5))
    assert call.spoken() == [phrases.HANDOFF]
    (packet,) = call.sink.packets
    assert (packet.question, packet.reason, packet.detail) == ("黄金价格", "GATE", "LOW_SCORE")
    assert call.journal.of("call_ended")[0]["reason"] == "handed_off"
    assert call.journal.of("reply_ended")[0]["outcome"] == "refused"


def test_a_failed_check_finishes_the_sentence_in_the_air_and_hands_over() -> None:
    """What passed and is playing goes on; the failed sentence is never synthesised; then the phrase."""
    call = dialogue()
    call.run(question(9))
    assert call.spoken() == ["先说一句真话。", phrases.HANDOFF]
    assert "再编一句假话。" not in call.synthesizer.asked
    withheld = call.sink.packets[0].withheld
    assert withheld is not None and withheld.reason == "NUM_UNSUPPORTED"


def test_a_person_is_always_to_be_had() -> None:
    """转人工 is not searched for; it is done."""
    call = dialogue()
    call.run(question(6))
    assert call.answers.asked == [] and call.sink.packets[0].reason == "ASKED"
    assert call.spoken() == [phrases.HANDOFF_ASKED]


def test_words_during_the_phrase_reach_the_person() -> None:
    """The phrase is not interrupted, and what was said over it is in the packet."""
    call = dialogue(phrase_s=6.0)
    call.run(question(5), Clip(voice(1, 0.8), "agent_started", 0.5))
    assert call.spoken() == [phrases.HANDOFF] and call.journal.of("spoken")[0]["complete"] is True
    assert [packet.added for packet in call.sink.packets] == [(), ("退款多久到账",)]


def test_a_clarification_is_spoken_once_then_a_person() -> None:
    """Asked back the first time; the second unclear question in a row goes to a person."""
    call = dialogue()
    call.run(question(8), Clip(voice(8), "agent_finished", 0.5))
    assert call.spoken() == [phrases.CLARIFY, phrases.HANDOFF]


def test_broken_ears_ask_again_then_hand_over() -> None:
    """A recogniser that raises never leaves the caller in silence."""
    call = dialogue()
    call.run(question(7), Clip(voice(7), "agent_finished", 0.5))
    assert call.spoken() == [phrases.REPEAT, phrases.HANDOFF]
    assert call.sink.packets[0].reason == "LOW_ASR"
    assert len(call.journal.of("error")) == 2


def test_a_broken_voice_hands_over_with_a_phrase_made_beforehand() -> None:
    """When synthesis fails the caller still hears where they are being sent."""
    call = dialogue(synthesizer=ScriptedSynthesizer(fails=[FIRST]))
    call.run(question(1))
    assert call.spoken() == [phrases.HANDOFF] and call.sink.packets[0].reason == "FAULT"


def test_a_packet_nobody_takes_does_not_silence_the_phrase() -> None:
    """A failed delivery is recorded, and the caller is still told."""
    call = dialogue(sink=MemorySink(fails=True))
    call.run(question(5))
    assert call.spoken() == [phrases.HANDOFF, phrases.CALL_LATER]
    assert [event["where"] for event in call.journal.of("error")] == ["handoff"]
    assert [event["delivery"] for event in call.journal.of("handoff")] == ["failed"]
    assert call.journal.of("call_ended")[0]["reason"] == "handoff_failed"


def test_a_reply_that_stalls_is_cancelled_and_handed_over() -> None:
    """The deadline is in the call's own time; the generator is closed."""
    call = dialogue(speed=100.0)
    call.answers.script = {"退款多久到账": Scripted(stalls=True)}
    call.run(question(1))
    assert call.spoken() == [phrases.HOLD, phrases.HOLD_AGAIN, phrases.HANDOFF]
    assert call.sink.packets[0].reason == "FAULT" and call.answers.closed == 1


def test_fifty_interruptions_leave_nothing_behind() -> None:
    """Cut again and again, the call still answers the last question, and no task outlives it."""
    call = dialogue()
    call.rules = type(call.rules)(
        **{**{f: getattr(call.rules, f) for f in call.rules.__slots__}, "max_call_s": 900.0}
    )
    call.run(question(1), *[Clip(voice(2), "agent_started", 0.1) for _ in range(50)])
    outcomes = [event["outcome"] for event in call.journal.of("reply_ended")]
    assert outcomes == ["interrupted"] * 50 + ["answered"]
    assert call.journal.of("call_ended")[0]["reason"] == "hung_up"


def asked(text: str, **changes: object) -> Dialogue:
    """A dialogue whose line 1 is `text`."""
    call = dialogue(**changes)
    call.recognizer.script = {**SCRIPT, 1: text}
    return call


def test_a_hold_phrase_bridges_the_wait_and_the_answer_follows_it() -> None:
    """1.5 s after the turn's end without a checked sentence; said once; the answer begins when it has ended."""
    call = asked("慢一点的", phrase_s=2.0)
    call.run(question(1))
    assert call.spoken() == [phrases.HOLD, FIRST, SECOND]
    held, first, _ = call.journal.of("spoken")
    ended_s = float(str(call.journal.of("transcript")[0]["end_s"]))
    assert float(str(held["start_s"])) == pytest.approx(ended_s + 0.8 + 1.5, abs=0.05)
    assert first["start_s"] == pytest.approx(held["end_s"], abs=0.021)
    assert held["source"] == "phrase" and held["turn"] == first["turn"] == 1


def test_a_hold_phrase_is_said_once_more_and_never_again() -> None:
    """At 6 s the second; after that only the answer or the limit."""
    call = asked("很慢很慢")
    call.run(question(1))
    assert call.spoken() == [phrases.HOLD, phrases.HOLD_AGAIN, FIRST, SECOND]


def test_a_hold_phrase_is_no_answer() -> None:
    """The time to the first sound is the answer's, and neither the counters nor the history know the phrase."""
    call = asked("慢一点的")
    call.run(question(1), Clip(voice(2), "agent_finished", 0.5))
    ended = call.journal.of("reply_ended")[0]
    assert ended["first_audio_s"] == pytest.approx(3.62, abs=0.1)
    assert ended["sentences"] == {"generated": 2, "checked": 2, "blocked": {}, "spoken": 2}
    assert call.answers.asked[1].history[0].answer == FIRST + SECOND


def test_words_over_the_hold_phrase_are_obeyed() -> None:
    """The phrase stops, the reply under way is given up, the new words are answered; the question stays in mind."""
    call = asked("很慢很慢", phrase_s=3.0)
    call.run(question(1), Clip(voice(2), "agent_started", 0.2))
    assert [event["outcome"] for event in call.journal.of("reply_ended")] == ["interrupted", "answered"]
    assert call.journal.of("spoken")[0]["complete"] is False
    assert call.spoken() == [phrases.HOLD, "电子发票在订单详情页面里点开就可以开具。"]
    assert [(turn.question, turn.answer) for turn in call.answers.asked[1].history] == [("很慢很慢", "")]


def test_a_murmur_over_the_hold_phrase_gives_nothing_up() -> None:
    """嗯 to 我查一下 is no new question: the reply goes on being made and is heard whole."""
    call = asked("慢一点的", phrase_s=2.0)
    call.run(question(1), Clip(voice(3, 0.5), "agent_started", 0.2))
    assert call.journal.of("paused") and call.journal.of("resumed")
    assert [event["outcome"] for event in call.journal.of("reply_ended")] == ["answered"]
    assert call.spoken() == [phrases.HOLD, FIRST, SECOND] and len(call.answers.asked) == 1


def test_the_next_sentence_is_checked_while_the_present_one_plays() -> None:
    """The check adds no silence: it lies inside the playback of the sentence before, which the next one follows."""
    call = dialogue()
    call.run(question(1))
    first, second = call.journal.of("spoken")
    checked = call.journal.of("sentence")[1]["t"]
    assert float(str(first["start_s"])) < float(str(checked)) < float(str(first["end_s"]))
    assert second["start_s"] == pytest.approx(first["end_s"], abs=0.021)


def test_few_checked_sentences_wait_to_be_played() -> None:
    """However fast they are written, at most two have passed and not begun; every one is heard."""
    call = asked("说个没完")
    call.run(question(1))
    begun = sorted(float(str(event["start_s"])) for event in call.journal.of("spoken"))
    for number, event in enumerate(call.journal.of("sentence"), start=1):
        t = float(str(event["t"]))
        assert number - sum(start_s <= t for start_s in begun) <= 3  # the third is the one being judged
    assert len(begun) == 5 and len({event["t"] for event in call.journal.of("sentence")}) == 5
    assert float(str(call.journal.of("sentence")[4]["t"])) >= begun[2] - 0.021


def test_the_counters_tell_what_became_of_every_sentence() -> None:
    """Per turn and for the call: generated, checked, blocked by reason, spoken."""
    call = dialogue()
    call.run(question(9))
    counted = {"generated": 2, "checked": 2, "blocked": {"NUM_UNSUPPORTED": 1}, "spoken": 1}
    assert call.journal.of("reply_ended")[0]["sentences"] == counted
    assert call.journal.of("call_ended")[0]["counters"]["sentences"] == counted  # type: ignore[index, call-overload]


def test_more_sentences_than_were_checked_are_refused() -> None:
    """An answerer that gives one checked sentence out twice: it is heard once at most, and a person takes over."""
    call = asked("说两遍吧")
    call.run(question(1))
    assert call.spoken().count(FIRST) <= 1 and call.spoken()[-1] == phrases.HANDOFF
    assert "without a passed check" in str(call.journal.of("error")[0]["message"])
    assert call.sink.packets[0].reason == "FAULT"


def test_the_session_silences_what_never_was_released(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last lock is at the ear: with the one before it open, an unchecked sentence is cut in its first frame."""
    monkeypatch.setattr(Tally, "release", lambda self, index: None)
    call = dialogue()
    call.run(question(1))
    assert call.spoken() == [FIRST, phrases.HANDOFF] and call.journal.of("spoken")[0]["complete"] is False
    assert call.journal.of("error")[0]["where"] == "unchecked"
    assert float(np.abs(call.heard_of_agent() - 0.5).min()) == 0 and len(call.heard_of_agent()) <= 320 + 8000


def test_nobody_took_the_call() -> None:
    """The packet is kept but not taken: the caller is told that somebody will call back, and the end says so."""
    call = dialogue(sink=MemorySink(spools=True))
    call.run(question(5))
    assert call.spoken() == [phrases.HANDOFF, phrases.CALLBACK]
    assert [(event["delivery"], event["detail"]) for event in call.journal.of("handoff")] == [
        ("spooled", "refused")
    ]
    assert call.journal.of("call_ended")[0]["reason"] == "callback" and not call.journal.of("error")


def test_a_halt_drops_the_checked_sentences_not_yet_begun() -> None:
    """The third of three is blocked while the first plays: the second passed and is still never heard."""
    call = asked("三句")
    three = (("先说一句很长很长很长很长很长很长很长很长的真话。[S1]", None), (SECOND + "[S1]", None))
    blocked = (("再编一句假话。[S1]", VerdictReason.POLARITY),)
    call.answers.script = {"三句": Scripted(sentences=three + blocked)}
    call.run(question(1))
    assert len(call.spoken()) == 2 and SECOND not in call.spoken() and SECOND in call.synthesizer.asked
    ended = call.journal.of("reply_ended")[0]
    assert ended["sentences"] == {"generated": 3, "checked": 3, "blocked": {"POLARITY": 1}, "spoken": 1}
