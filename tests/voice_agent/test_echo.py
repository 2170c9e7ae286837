"""Without echo cancellation the agent must not answer itself, and must still be interrupted."""

from __future__ import annotations

import pytest

from tests.fakes import Dialogue, ScriptedAnswers, ScriptedRecognizer, voice
from tests.voice_agent.test_session import ANSWERS, FIRST, SCRIPT, SECOND, question
from voice_agent.call.recorded import Clip
from voice_agent.call.sounded import Sounded
from voice_agent.floor.echo import ECHO_LIMIT, Echo, EchoRules, deaf, is_echo

SAID = "退款在审核通过以后三天之内原路退回到账。"
HEARD_BACK = "审核通过以后三天"
"""What the recogniser makes of the agent's own voice, which comes back at the level of line 4."""


@pytest.mark.parametrize(
    ("heard", "spoken", "echo"),
    [
        ("审核通过以后三天", SAID, True),
        ("退宽在审核通锅以后", SAID, True),  # as whisper-base mishears our voices
        ("三天", SAID, True),
        ("退款", SAID, True),
        ("我问的是发票", SAID, False),
        ("三个", SAID, False),  # short texts must be exact: any two characters are near some others
        ("三", SAID, False),
        ("停", "停机以后照常计费", False),  # orders are obeyed even if it is saying that word
        ("转人工", "您也可以转人工处理", False),
        ("审核通过以后三天", "", False),  # the agent was silent
        ("", SAID, False),
        ("那信用卡要多久才能到账呢", SAID, False),
        ("ERR 2048", "错误代码 err-2048 表示", True),
    ],
)
def test_only_what_the_agent_is_saying_is_its_echo(heard: str, spoken: str, echo: bool) -> None:
    """By characters, with the mishearings of a recogniser; nothing that asks it to stop ever is."""
    assert is_echo(heard, spoken) is echo


@pytest.mark.parametrize(
    ("mode", "echoes", "since_s", "is_deaf"),
    [
        ("half_duplex", 0, 0.3, True),
        ("half_duplex", 0, 0.5, False),
        ("overlap_text", 0, 0.0, False),
        ("overlap_text", ECHO_LIMIT, 0.3, True),
        ("headset", 9, 0.0, False),
    ],
)
def test_when_the_line_is_not_heard(mode: Echo, echoes: int, since_s: float, is_deaf: bool) -> None:
    """Half duplex while the agent sounds and a short tail; overlap_text only once the line is known to echo."""
    assert deaf(EchoRules(mode, 0.4), echoes, since_s) is is_deaf


def test_an_echo_can_hold_only_what_was_already_said() -> None:
    """The stretch of the sentence that sounded in the span, some characters either way: never what is still to come."""
    sounded = Sounded()
    for frame in range(100):
        sounded.sounding(1, ("一二三四五六七八九十甲乙丙丁戊己庚辛壬癸",), frame * 0.05, frame / 100)
    assert sounded.between(2.0, 2.5) == "二三四五六七八九十甲乙丙丁"
    assert sounded.between(50.0, 60.0) == "" and "癸" not in sounded.between(0.0, 2.0)


def test_what_was_said_is_not_kept_for_ever() -> None:
    """A long call holds the last seconds only."""
    sounded = Sounded()
    for frame in range(10_000):
        sounded.sounding(frame // 100, ("文" * 50,), frame * 0.02, (frame % 100) / 100)
    assert sounded.between(0.0, 150.0) == "" and sounded.between(195.0, 200.0)


def echoing(mode: Echo, heard_back: str = HEARD_BACK, **changes: object) -> Dialogue:
    recognizer = ScriptedRecognizer({**SCRIPT, 4: heard_back})
    echo = EchoRules(mode, 0.4)
    return Dialogue(recognizer, ScriptedAnswers(ANSWERS), echo=echo, echoed=0.8, **changes)  # type: ignore[arg-type]


def test_a_bot_that_hears_itself_does_not_answer_itself() -> None:
    """Twice its own words let it go on; then the line is known to echo and is not heard while the agent sounds."""
    call = echoing("overlap_text")
    call.run(question(1))
    assert [event["why"] for event in call.journal.of("resumed")] == ["echo"] * ECHO_LIMIT
    assert [event["to"] for event in call.journal.of("fallback")] == ["half_duplex"]
    assert call.spoken() == [FIRST, SECOND] and not call.journal.of("barge_in")
    assert [event["outcome"] for event in call.journal.of("reply_ended")] == ["answered"]


def test_half_duplex_hears_nothing_of_itself() -> None:
    """No pause, no turn, not even a recognition of its own voice."""
    call = echoing("half_duplex")
    call.run(question(1))
    assert call.spoken() == [FIRST, SECOND] and not call.journal.of("paused")
    assert len(call.recognizer.spans) == 1


def test_half_duplex_hears_the_caller_after_the_tail() -> None:
    """What is said once the agent is silent is a turn as ever."""
    call = echoing("half_duplex")
    call.run(question(1), Clip(voice(2), "agent_finished", 0.5))
    assert [event["outcome"] for event in call.journal.of("reply_ended")] == ["answered", "answered"]


def test_a_caller_over_an_echoing_agent_is_heard() -> None:
    """overlap_text: words that are not the agent's cut it, echo or not."""
    call = echoing("overlap_text")
    call.run(question(1), Clip(voice(6), "agent_started", 0.05))
    assert call.journal.of("handoff")[0]["reason"] == "ASKED"


def test_with_a_headset_everything_is_the_caller() -> None:
    """The same words that would be an echo are obeyed: the caller repeats what the agent says to ask about it."""
    call = Dialogue(
        ScriptedRecognizer({**SCRIPT, 2: HEARD_BACK}),
        ScriptedAnswers({**ANSWERS, HEARD_BACK: ANSWERS["不是我问的是发票"]}),
        echo=EchoRules("headset"),
    )
    call.run(question(1), Clip(voice(2), "agent_started", 0.1))
    assert [event["outcome"] for event in call.journal.of("reply_ended")] == ["interrupted", "answered"]


def test_the_tail_of_an_answer_is_no_question() -> None:
    """An echo that reaches past the agent's last word, where nothing is left to be paused, opens no turn."""
    short = "退款三天。"
    call = echoing("overlap_text", heard_back="退款三天")
    call.answers.script = {"退款多久到账": type(ANSWERS["退款多久到账"])(sentences=((short + "[S1]", None),))}
    call.run(question(1))
    assert call.spoken() == [short]
    assert [event["outcome"] for event in call.journal.of("reply_ended")] == ["answered"]
