"""What a call owes its caller beside answers, in whole calls over scripted models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.fakes import RULES, Dialogue, Scripted, ScriptedAnswers, ScriptedRecognizer, pause, voice
from tests.voice_agent.test_dead_air import SLOWER
from tests.voice_agent.test_session import ANSWER, ANSWERS, FIRST, SCRIPT, SECOND, question
from voice_agent import phrases
from voice_agent.build import live_duties, replay_duties
from voice_agent.call.recorded import Clip
from voice_agent.config import Config
from voice_agent.floor.duties import Duties
from voice_agent.floor.keeping import affirms, denies
from voice_agent.record.schema import validate_event

GREETS = Duties(greeting=phrases.GREETING)
PROMPTS = Duties(prompt_after_s=8.0)
CODE = "错误代码ERR2048怎么办"


def dialogue(lines: dict[int, str] | None = None, **changes: object) -> Dialogue:
    """A call whose recogniser hears these lines beside the usual ones."""
    recognizer = ScriptedRecognizer({**SCRIPT, **(lines or {})})
    plans = {**ANSWERS, CODE: Scripted(sentences=(("请重新登录一次就可以解决。[S1]", None),))}
    return Dialogue(recognizer, ScriptedAnswers(plans), **changes)  # type: ignore[arg-type]


def ended(call: Dialogue) -> object:
    return call.journal.of("call_ended")[0]["reason"]


def test_a_greeting_says_what_it_is_and_whether_the_call_is_recorded() -> None:
    """Said first, in no turn, without a caller's word; whoever keeps the sound says so."""
    call = dialogue(duties=GREETS, stays_s=3.0)
    call.run()
    (spoken,) = call.journal.of("spoken")
    assert (spoken["text"], spoken["turn"], spoken["complete"]) == (phrases.GREETING, 0, True)
    assert not call.journal.of("reply_ended") and ended(call) == "hung_up"
    assert "智能" in phrases.GREETING and "录音" not in phrases.GREETING
    assert live_duties(Config(), recorded=True).greeting == phrases.GREETING_RECORDED
    assert "录音" in phrases.GREETING_RECORDED


def test_a_greeting_may_be_interrupted() -> None:
    """A question over it cuts it and is answered, as turn 1; a murmur lets it go on."""
    call = dialogue(duties=GREETS, phrase_s=4.0)
    call.run(Clip(voice(1), "agent_started", 0.3))
    assert call.spoken() == [phrases.GREETING, FIRST, SECOND]
    assert [event["turn"] for event in call.journal.of("reply_ended")] == [1]
    murmured = dialogue(duties=GREETS, phrase_s=4.0)
    murmured.run(Clip(voice(3, 0.4), "agent_started", 0.3))
    assert [event["complete"] for event in murmured.journal.of("spoken")] == [True]


def test_a_recorded_call_keeps_its_timing() -> None:
    """By default a replay has no greeting and no silence prompts; the configuration can ask for them."""
    duties = replay_duties(Config())
    assert (duties.greeting, duties.prompt_after_s) == (None, None) and duties.goodbye
    asked = Config.model_validate({"duties": {"replays": True}})
    assert replay_duties(asked) == live_duties(asked, recorded=False)
    assert live_duties(Config.model_validate({"duties": {"greeting": False}}), recorded=True).greeting is None


def test_a_silent_caller_is_asked_twice_and_then_taken_leave_of() -> None:
    """Each time after 8 s of silence, counted from our own last word; then a polite end, and its reason."""
    call = dialogue(duties=PROMPTS, stays_s=100.0)
    call.run(question(1))
    assert call.spoken() == [FIRST, SECOND, phrases.STILL_THERE, phrases.STILL_THERE, phrases.NO_ANSWER]
    times = [(float(str(e["start_s"])), float(str(e["end_s"]))) for e in call.journal.of("spoken")][1:]
    waits = [later[0] - earlier[1] for earlier, later in zip(times, times[1:], strict=False)]
    assert waits == pytest.approx([8.0, 8.0, 8.0], abs=0.1)
    assert ended(call) == "no_answer" and not call.journal.of("handoff")


def test_whoever_speaks_again_is_asked_anew() -> None:
    """An answer to 您还在吗 is a turn, and the count begins again."""
    call = dialogue(duties=PROMPTS, stays_s=90.0)
    call.run(Clip(voice(1), "agent_started", 2.0))
    still = phrases.STILL_THERE
    assert call.spoken() == [still, FIRST, SECOND, still, still, phrases.NO_ANSWER]


def test_leave_may_be_interrupted() -> None:
    """Words over the last phrase are answered: the call goes on."""
    call = dialogue(duties=replace(PROMPTS, prompts=0), stays_s=9.0, phrase_s=3.0)
    call.run(Clip(voice(1), "agent_started", 0.2))
    assert call.spoken() == [phrases.NO_ANSWER, FIRST, SECOND] and ended(call) == "hung_up"


def test_noise_is_no_sign_of_life() -> None:
    """Sounds that are no words do not put the prompts off."""
    call = dialogue(duties=PROMPTS, stays_s=60.0)
    call.run(Clip(np.concatenate([pause(3.0), voice(4, 0.5), pause(1.0)])))
    first = call.journal.of("spoken")[0]
    assert first["text"] == phrases.STILL_THERE and float(str(first["start_s"])) == pytest.approx(
        8.0, abs=0.2
    )


def test_no_prompt_while_somebody_works_or_speaks() -> None:
    """A slow answer is bridged by its own phrase; the silence of a caller who waits is not counted."""
    slow = dialogue({1: "很慢很慢"}, duties=replace(PROMPTS, prompt_after_s=2.0))
    slow.answers.script = {"很慢很慢": SLOWER}
    slow.run(question(1))
    assert slow.spoken() == [phrases.HOLD, phrases.HOLD_AGAIN, FIRST, SECOND]


@pytest.mark.parametrize("repeat", ["sentence", "answer"])
def test_again_says_the_last_whole_checked_sentence(repeat: str) -> None:
    """From what passed and was heard, not generated anew: not searched, not checked, not counted a second time."""
    call = dialogue({2: "请再说一遍"}, duties=Duties(repeat=repeat))  # type: ignore[arg-type]
    call.run(question(1), Clip(voice(2), "agent_finished", 0.5))
    said = [SECOND] if repeat == "sentence" else [FIRST, SECOND]
    assert call.spoken() == [FIRST, SECOND, *said] and len(call.answers.asked) == 1
    assert [event["outcome"] for event in call.journal.of("reply_ended")] == ["answered", "repeated"]
    assert call.journal.of("spoken")[-1]["source"] == "手册"
    assert call.journal.of("call_ended")[0]["counters"]["sentences"]["spoken"] == 2  # type: ignore[index, call-overload]


def test_again_leaves_history_as_it_was() -> None:
    """A follow-up after it still leans on the answer."""
    call = dialogue({2: "没听清"})
    call.run(question(1), Clip(voice(2), "agent_finished", 0.5), Clip(voice(5), "agent_finished", 0.5))
    assert [exchange.question for exchange in call.answers.asked[1].history] == ["退款多久到账"]


def test_a_cut_sentence_is_never_repeated() -> None:
    """What was cut is not said again as it was: its question is asked anew, with its search and its checks."""
    call = dialogue({2: "你说什么"})
    call.run(question(1), Clip(voice(2), "agent_started", 0.1))
    assert [asked.question for asked in call.answers.asked] == ["退款多久到账"] * 2
    assert len(call.journal.of("gate")) == 2 and call.spoken() == [FIRST, FIRST, SECOND]


def test_nothing_to_repeat_is_said_so() -> None:
    """Before the first answer there is nothing: no search for the words 再说一遍, no hand-off."""
    call = dialogue({1: "再说一遍"})
    call.run(question(1))
    assert call.spoken() == [phrases.NOTHING_TO_REPEAT] and not call.answers.asked


@pytest.mark.parametrize("words", ["再见", "没有别的了", "不用了谢谢", "没有了", "好的谢谢再见"])
def test_goodbye_ends_the_call(words: str) -> None:
    """Politely, to the end of the phrase, and nobody takes over."""
    call = dialogue({2: words}, stays_s=60.0)
    call.run(question(1), Clip(voice(2), "agent_finished", 0.5))
    assert call.spoken() == [FIRST, SECOND, phrases.GOODBYE]
    assert ended(call) == "goodbye" and not call.journal.of("handoff")
    assert call.journal.of("reply_ended")[-1]["outcome"] == "goodbye"


def test_whoever_has_one_more_question_is_answered() -> None:
    """Words over the goodbye cut it."""
    call = dialogue({2: "再见"}, phrase_s=3.0)
    call.run(question(2), Clip(voice(1), "agent_started", 0.3))
    assert call.spoken() == [phrases.GOODBYE, FIRST, SECOND] and ended(call) == "hung_up"


@pytest.mark.parametrize(
    ("words", "phrase"),
    [("谢谢", phrases.ANYTHING_ELSE), ("嗯", phrases.ANYTHING_ELSE), ("等一下", phrases.GO_ON)],
)
def test_thanks_and_murmurs_are_no_questions(words: str, phrase: str) -> None:
    """Acknowledged, not searched for: a caller who says thank you is not handed to a person."""
    call = dialogue({2: words})
    call.run(question(1), Clip(voice(2), "agent_finished", 0.5))
    assert call.spoken() == [FIRST, SECOND, phrase] and len(call.answers.asked) == 1


def test_each_duty_can_be_switched_off() -> None:
    """Then the words are searched for like any others."""
    for words, off in [
        ("再见", Duties(goodbye=False)),
        ("谢谢", Duties(courtesy=False)),
        ("再说一遍", Duties(repeat="off")),
    ]:
        call = dialogue({1: words}, duties=off)
        call.answers.script = {words: ANSWER}
        call.run(question(1))
        assert [asked.question for asked in call.answers.asked] == [words]


@pytest.mark.parametrize(
    ("before", "duties"),
    [
        ((), GREETS),  # over the greeting
        ((), PROMPTS),  # over 您还在吗
        ((question(1),), Duties()),  # over an answer
    ],
)
def test_a_person_is_to_be_had_at_any_moment(before: tuple[Clip, ...], duties: Duties) -> None:
    """转人工 over whatever is being said hands over, because it was asked for."""
    call = dialogue(duties=duties, stays_s=9.0, phrase_s=3.0)
    call.run(*before, Clip(voice(6), "agent_started", 0.2))
    assert call.sink.packets[0].reason == "ASKED" and call.spoken()[-1] == phrases.HANDOFF_ASKED


def test_a_person_is_to_be_had_over_the_hold_phrase_and_the_read_back() -> None:
    """Neither a wait nor a question of ours stands in the way."""
    slow = dialogue({1: "很慢很慢"}, phrase_s=3.0)
    slow.answers.script = {"很慢很慢": SLOWER}
    slow.run(question(1), Clip(voice(6), "agent_started", 0.2))
    assert slow.sink.packets[0].reason == "ASKED"
    asking = dialogue({1: CODE}, duties=Duties(read_back_below=0.6))
    asking.recognizer.unsure = (1,)
    asking.run(question(1), Clip(voice(6), "agent_finished", 0.5))
    assert asking.sink.packets[0].reason == "ASKED"


def test_a_call_has_a_longest_length() -> None:
    """At the limit a person takes over, is told why, and the end says so."""
    call = dialogue(rules=replace(RULES, max_call_s=20.0), stays_s=60.0)
    call.run(question(1))
    assert call.spoken() == [FIRST, SECOND, phrases.TOO_LONG]
    assert call.sink.packets[0].reason == "MAX_LENGTH" and ended(call) == "max_length"


def unsure(*clips: Clip, lines: dict[int, str]) -> Dialogue:
    """A call whose first line holds a code and was not heard well."""
    call = dialogue({1: CODE, **lines}, duties=Duties(read_back_below=0.6))
    call.recognizer.unsure = (1,)
    call.run(question(1), *clips)
    return call


def test_a_code_heard_badly_is_read_back_and_a_yes_goes_on_with_it() -> None:
    """Asked once; the answer is to the question as it was heard, now certain."""
    call = unsure(Clip(voice(2), "agent_finished", 0.5), lines={2: "对"})
    assert call.spoken() == ["您说的是ERR2048，对吗？", "请重新登录一次就可以解决。"]
    (asked,) = call.answers.asked
    assert (asked.question, asked.confidence) == (CODE, 1.0)


def test_a_yes_over_the_read_back_is_a_yes() -> None:
    """对 over an answer is a murmur; over a question of ours it answers it."""
    call = unsure(Clip(voice(2, 0.4), "agent_started", 0.1), lines={2: "对"})
    assert call.spoken()[-1] == "请重新登录一次就可以解决。" and not call.journal.of("resumed")


def test_a_no_asks_to_repeat_and_nothing_is_read_back_twice() -> None:
    """不是 asks for the words again; other words are a new question, however badly heard."""
    call = unsure(Clip(voice(2), "agent_finished", 0.5), lines={2: "不是"})
    assert call.spoken()[1] == phrases.REPEAT and not call.answers.asked
    anew = unsure(Clip(voice(1), "agent_finished", 0.5), lines={})
    assert anew.spoken()[1] == "请重新登录一次就可以解决。" and anew.answers.asked[0].confidence == 0.5


def test_what_was_heard_well_or_holds_no_code_is_not_read_back() -> None:
    """No question back where nothing is in doubt."""
    sure = dialogue({1: CODE}, duties=Duties(read_back_below=0.6))
    sure.run(question(1))
    assert sure.spoken() == ["请重新登录一次就可以解决。"]
    plain = dialogue(duties=Duties(read_back_below=0.6))
    plain.recognizer.unsure = (1,)
    plain.run(question(1))
    assert plain.spoken() == [FIRST, SECOND]


@pytest.mark.parametrize(
    ("text", "yes", "no"),
    [
        ("对", True, False),
        ("是的没错", True, False),
        ("不对", False, True),
        ("不是不是", False, True),
        ("不是我的", False, False),
        ("", False, False),
        ("对了我想问", False, False),
    ],
)
def test_yes_and_no(text: str, yes: bool, no: bool) -> None:
    """Only a whole yes or no is one."""
    assert (affirms(text), denies(text)) == (yes, no)


def test_every_event_of_these_calls_fits_the_schema() -> None:
    """Ends, echoes and prompts are written as they are published."""
    call = dialogue({2: "再见"}, duties=replace(GREETS, prompt_after_s=8.0), stays_s=60.0)
    call.run(question(1), Clip(voice(3, 0.5), "agent_started", 0.1), Clip(voice(2), "agent_finished", 0.5))
    assert [fault for event in call.journal.events for fault in validate_event(event)] == []
