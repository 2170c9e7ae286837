"""Whole calls over scripted models, in a replay's time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from audio.errors import ModelError
from retrieval.types import GateReason, Outcome, VerdictReason
from tests.fakes import (
    LIVELY,
    RULES,
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
    "讲个条款": Scripted(
        sentences=(("先说一句真话。[S1]", None), ("再编一句假话。[S1]", VerdictReason.NUM_UNSUPPORTED))
    ),
}


def dialogue(**changes: object) -> Dialogue:
    """As it is shipped: everything that can be done ahead is."""
    shipped = {"rules": LIVELY, "foresee_chars": 40, **changes}
    return Dialogue(ScriptedRecognizer(SCRIPT), ScriptedAnswers(ANSWERS), **shipped)  # type: ignore[arg-type]


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
    """End of speech to first sample, to a frame: recognition, search, check and synthesis begin at soft silence, and
    the pause costs nothing where it is shorter than they are; without any of that it comes before them."""
    call, late = dialogue(), dialogue(rules=RULES)
    call.run(question(1))
    late.run(question(1))
    first = [float(str(c.journal.of("reply_ended")[0]["first_audio_s"])) for c in (call, late)]
    assert first[0] == pytest.approx(0.2 + 0.4 + 0.1 + 0.02 + 0.3, abs=0.1)
    assert first[1] == pytest.approx(0.8 + 0.4 + 0.1 + 0.02 + 0.3, abs=0.1)


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


@pytest.mark.parametrize("gap", [0.3, 0.6, 1.0, 1.4])
def test_two_breaths_are_one_question(gap: float) -> None:
    """A pause after words that call for more splits nothing: no turn is split by a breath (FIELD A8)."""
    call = dialogue()
    call.recognizer.script = {1: "我想问一下就是", 2: "退款多久到账"}
    call.run(Clip(np.concatenate([voice(1), pause(gap), voice(2), pause(1.0)])))
    assert len(call.journal.of("reply_ended")) == 1 == len(call.journal.of("speech_ended"))
    assert call.recognizer.spans[-1] > 2.0 + gap and call.spoken() == [FIRST, SECOND]


@pytest.mark.parametrize("breath_s", [0.0, 0.3])
def test_who_never_stops_talking_is_heard_in_pieces(breath_s: float) -> None:
    """Ninety seconds, with breaths or without: a recognition a piece, the last one answered, and no task is left."""
    call = dialogue(rules=replace(RULES, max_utterance_s=15.0))
    call.run(
        Clip(
            np.concatenate(
                [voice(1, 90.0 if not breath_s else 2.0), pause(breath_s)] * (39 if breath_s else 1)
            )
        )
    )
    assert len(call.recognizer.spans) < 20 and max(call.recognizer.spans) < 20.0
    assert call.spoken()[-2:] == [FIRST, SECOND] and not call.journal.of("error")


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
    (exchange,) = call.answers.asked[1].history
    assert (exchange.question, exchange.answer, exchange.interrupted) == ("退款多久到账", "", FIRST)


def test_a_murmur_resumes_where_it_stopped() -> None:
    """Without the stretch from the duck to the resume, the agent's side is what it would have been: to the sample."""
    plain, murmured = dialogue(), dialogue()
    plain.run(question(1))
    murmured.run(question(1), Clip(voice(3, 0.5), "agent_started", 0.1))
    side = np.concatenate(murmured.agent_side)
    (paused,), (resumed,) = murmured.journal.of("paused"), murmured.journal.of("resumed")
    first, last = (round(float(str(at)) * 16_000) for at in (paused["ducked_s"], resumed["t"]))
    assert (np.abs(side[first:last]) < 0.5).all() and resumed["why"] == "backchannel"
    whole = np.concatenate([side[:first], side[last:]])
    assert np.array_equal(plain.heard_of_agent(), whole[whole != 0])


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
    call = dialogue(speed=20.0)
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
