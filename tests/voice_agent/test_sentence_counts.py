"""Every sentence is counted, checked ahead and spoken once, or dropped; in whole calls over scripted models."""

from __future__ import annotations

import numpy as np
import pytest

from retrieval.types import VerdictReason
from tests.fakes import Dialogue, MemorySink, Scripted, ScriptedAnswers, ScriptedRecognizer
from tests.voice_agent.test_session import ANSWERS, FIRST, SCRIPT, SECOND, question
from voice_agent import phrases
from voice_agent.call.tally import Tally

ENDLESS = Scripted(sentences=tuple((f"这是长长的一句话的第{i}句。[S1]", None) for i in range(5)))
TWICE = Scripted(sentences=((FIRST + "[S1]", None),), repeats=True)


def asked(text: str, plan: Scripted, **changes: object) -> Dialogue:
    """A dialogue whose line 1 is `text`, answered by `plan`."""
    recognizer = ScriptedRecognizer({**SCRIPT, 1: text})
    return Dialogue(recognizer, ScriptedAnswers({**ANSWERS, text: plan}), **changes)  # type: ignore[arg-type]


def test_the_next_sentence_is_checked_while_the_present_one_plays() -> None:
    """The check adds no silence: it lies inside the playback of the sentence before, which the next one follows."""
    call = Dialogue(ScriptedRecognizer(SCRIPT), ScriptedAnswers(ANSWERS))
    call.run(question(1))
    first, second = call.journal.of("spoken")
    checked = call.journal.of("sentence")[1]["t"]
    assert float(str(first["start_s"])) < float(str(checked)) < float(str(first["end_s"]))
    assert second["start_s"] == pytest.approx(first["end_s"], abs=0.021)


def test_few_checked_sentences_wait_to_be_played() -> None:
    """However fast they are written, at most two have passed and not begun; every one is heard."""
    call = asked("说个没完", ENDLESS)
    call.run(question(1))
    begun = sorted(float(str(event["start_s"])) for event in call.journal.of("spoken"))
    for number, event in enumerate(call.journal.of("sentence"), start=1):
        t = float(str(event["t"]))
        assert number - sum(start_s <= t for start_s in begun) <= 3  # the third is the one being judged
    assert len(begun) == 5 and len({event["t"] for event in call.journal.of("sentence")}) == 5
    assert float(str(call.journal.of("sentence")[4]["t"])) >= begun[2] - 0.021


def test_the_counters_tell_what_became_of_every_sentence() -> None:
    """Per turn and for the call: generated, checked, blocked by reason, spoken."""
    call = Dialogue(ScriptedRecognizer(SCRIPT), ScriptedAnswers(ANSWERS))
    call.run(question(9))
    counted = {"generated": 2, "checked": 2, "blocked": {"NUM_UNSUPPORTED": 1}, "spoken": 1}
    assert call.journal.of("reply_ended")[0]["sentences"] == counted
    assert call.journal.of("call_ended")[0]["counters"]["sentences"] == counted  # type: ignore[index, call-overload]


def test_more_sentences_than_were_checked_are_refused() -> None:
    """An answerer that gives one checked sentence out twice: it is heard once at most, and a person takes over."""
    call = asked("说两遍吧", TWICE)
    call.run(question(1))
    assert call.spoken().count(FIRST) <= 1 and call.spoken()[-1] == phrases.HANDOFF
    assert "without a passed check" in str(call.journal.of("error")[0]["message"])
    assert call.sink.packets[0].reason == "FAULT"


def test_the_session_silences_what_never_was_released(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last lock is at the ear: with the one before it open, an unchecked sentence is cut in its first frame."""
    monkeypatch.setattr(Tally, "release", lambda self, index: None)
    call = Dialogue(ScriptedRecognizer(SCRIPT), ScriptedAnswers(ANSWERS))
    call.run(question(1))
    assert call.spoken() == [FIRST, phrases.HANDOFF] and call.journal.of("spoken")[0]["complete"] is False
    assert call.journal.of("error")[0]["where"] == "unchecked"
    assert float(np.abs(call.heard_of_agent() - 0.5).min()) == 0 and len(call.heard_of_agent()) <= 320 + 8000


def test_nobody_took_the_call() -> None:
    """The packet is kept but not taken: the caller is told that somebody will call back, and the end says so."""
    call = Dialogue(ScriptedRecognizer(SCRIPT), ScriptedAnswers(ANSWERS), sink=MemorySink(spools=True))
    call.run(question(5))
    assert call.spoken() == [phrases.HANDOFF, phrases.CALLBACK]
    assert [(event["delivery"], event["detail"]) for event in call.journal.of("handoff")] == [
        ("spooled", "refused")
    ]
    assert call.journal.of("call_ended")[0]["reason"] == "callback" and not call.journal.of("error")


def test_a_halt_drops_the_checked_sentences_not_yet_begun() -> None:
    """The third of three is blocked while the first plays: the second passed and is still never heard."""
    three = (("先说一句很长很长很长很长很长很长很长很长的真话。[S1]", None), (SECOND + "[S1]", None))
    blocked = (("再编一句假话。[S1]", VerdictReason.POLARITY),)
    call = asked("三句", Scripted(sentences=three + blocked))
    call.run(question(1))
    assert len(call.spoken()) == 2 and SECOND not in call.spoken() and SECOND in call.synthesizer.asked
    ended = call.journal.of("reply_ended")[0]
    assert ended["sentences"] == {"generated": 3, "checked": 3, "blocked": {"POLARITY": 1}, "spoken": 1}


def test_marks_are_kept_in_the_journal_and_never_spoken() -> None:
    """A7-12: the sentence as generated with its marks and passages; what was played without."""
    call = Dialogue(ScriptedRecognizer(SCRIPT), ScriptedAnswers(ANSWERS))
    call.run(question(1))
    assert [event["text"] for event in call.journal.of("sentence")] == [FIRST + "[S1]", SECOND + "[S1]"]
    assert [event["cited"] for event in call.journal.of("sentence")] == [["p1"], ["p1"]]
    assert call.spoken() == [FIRST, SECOND] == call.synthesizer.asked
