"""A caller who waits: the hold phrase, its end, and words spoken over it, in whole calls over scripted models."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes import RULES, Dialogue, Scripted, ScriptedAnswers, ScriptedRecognizer, voice
from tests.voice_agent.test_session import ANSWER, ANSWERS, FIRST, SCRIPT, SECOND, question
from voice_agent import phrases
from voice_agent.call.recorded import Clip

SLOW = Scripted(sentences=ANSWER.sentences, thinks=("2 s",))
SLOWER = Scripted(sentences=ANSWER.sentences, thinks=("8 s",))


def asked(text: str, plan: Scripted, **changes: object) -> Dialogue:
    """A dialogue whose line 1 is `text`, answered by `plan`."""
    recognizer = ScriptedRecognizer({**SCRIPT, 1: text})
    return Dialogue(recognizer, ScriptedAnswers({**ANSWERS, text: plan}), **changes)  # type: ignore[arg-type]


def test_a_hold_phrase_bridges_the_wait_and_the_answer_follows_it() -> None:
    """1.5 s after the turn's end without a checked sentence; said once; the answer begins when it has ended."""
    call = asked("慢一点的", SLOW, phrase_s=2.0)
    call.run(question(1))
    assert call.spoken() == [phrases.HOLD, FIRST, SECOND]
    held, first, _ = call.journal.of("spoken")
    ended_s = float(str(call.journal.of("transcript")[0]["end_s"]))
    assert float(str(held["start_s"])) == pytest.approx(ended_s + 0.8 + 1.5, abs=0.05)
    assert first["start_s"] == pytest.approx(held["end_s"], abs=0.021)
    assert held["source"] == "phrase" and held["turn"] == first["turn"] == 1


def test_synthesis_is_no_dead_air() -> None:
    """A sentence that passed in time is only being synthesised: a phrase now would come between."""
    call = asked("刚好来得及", Scripted(sentences=ANSWER.sentences, thinks=("0.9 s",)))
    call.run(question(1))
    ended = call.journal.of("reply_ended")[0]
    assert call.spoken() == [FIRST, SECOND] and float(str(ended["first_audio_s"])) > 0.8 + 1.5


def test_a_hold_phrase_is_said_once_more_and_never_again() -> None:
    """At 6 s the second; after that only the answer or the limit."""
    call = asked("很慢很慢", SLOWER)
    call.run(question(1))
    assert call.spoken() == [phrases.HOLD, phrases.HOLD_AGAIN, FIRST, SECOND]


def test_a_hold_phrase_is_no_answer() -> None:
    """The time to the first sound is the answer's, and neither the counters nor the history know the phrase."""
    call = asked("慢一点的", SLOW)
    call.run(question(1), Clip(voice(2), "agent_finished", 0.5))
    ended = call.journal.of("reply_ended")[0]
    assert ended["first_audio_s"] == pytest.approx(3.62, abs=0.1)
    assert ended["sentences"] == {"generated": 2, "checked": 2, "blocked": {}, "spoken": 2}
    assert call.answers.asked[1].history[0].answer == FIRST + SECOND


def test_words_over_the_hold_phrase_are_obeyed() -> None:
    """The phrase stops, the reply under way is given up, the new words are answered; the question stays in mind."""
    call = asked("很慢很慢", SLOWER, phrase_s=3.0)
    call.run(question(1), Clip(voice(2), "agent_started", 0.2))
    assert [event["outcome"] for event in call.journal.of("reply_ended")] == ["interrupted", "answered"]
    assert call.journal.of("spoken")[0]["complete"] is False
    assert call.spoken() == [phrases.HOLD, "电子发票在订单详情页面里点开就可以开具。"]
    assert [(turn.question, turn.answer) for turn in call.answers.asked[1].history] == [("很慢很慢", "")]


def test_a_murmur_over_the_hold_phrase_gives_nothing_up() -> None:
    """嗯 to 我查一下 is no new question: the reply goes on being made and is heard whole."""
    call = asked("慢一点的", SLOW, phrase_s=2.0)
    call.run(question(1), Clip(voice(3, 0.5), "agent_started", 0.2))
    assert call.journal.of("paused") and call.journal.of("resumed")
    assert [event["outcome"] for event in call.journal.of("reply_ended")] == ["answered"]
    assert call.spoken() == [phrases.HOLD, FIRST, SECOND] and len(call.answers.asked) == 1


def test_a_lead_in_goes_before_the_answer_and_is_none() -> None:
    """Its sound is there at once, the sentence's 0.3 s later; neither counters nor history know of it."""
    call = asked("普通问题", ANSWER, rules=replace(RULES, lead_in_s=0.1), phrase_s=0.2)
    call.run(question(1), Clip(voice(2), "agent_finished", 0.5))
    assert call.spoken()[:3] == [phrases.LEAD_IN, FIRST, SECOND]
    led, first, _ = call.journal.of("spoken")[:3]
    ended = call.journal.of("reply_ended")[0]
    asked_s = float(str(call.journal.of("transcript")[0]["end_s"]))
    assert ended["first_audio_s"] == pytest.approx(float(str(first["start_s"])) - asked_s, abs=0.002)
    assert float(str(led["start_s"])) < float(str(first["start_s"])) and led["source"] == "phrase"
    assert ended["sentences"] == {"generated": 2, "checked": 2, "blocked": {}, "spoken": 2}
    assert call.answers.asked[1].history[0].answer == FIRST + SECOND
    assert call.journal.of("call_ended")[0]["counters"]["lead_ins"] >= 1  # type: ignore[index]


def test_no_lead_in_where_the_answer_is_there_in_time() -> None:
    """An answer whose sound is at hand begins with its first word."""
    call = asked("普通问题", ANSWER, rules=replace(RULES, lead_in_s=2.0))
    call.run(question(1))
    assert call.spoken() == [FIRST, SECOND]
