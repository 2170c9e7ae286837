"""The floor: who may speak, as tables and as laws over any sequence of events."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.types import DropReason, Silent, Transcript, Voiced
from voice_agent.floor.actions import (
    Action,
    AddToPacket,
    AskAgain,
    BargedIn,
    BeginReply,
    CancelReply,
    EndCall,
    HandOff,
    HandoffReason,
    PausePlayback,
    ReadBack,
    Recognise,
    ResumePlayback,
    Say,
    SayHold,
    SayLeadIn,
    Silence,
    TellUntaken,
)
from voice_agent.floor.duties import Duties
from voice_agent.floor.events import (
    CallBegan,
    Event,
    Fault,
    HandoffEnded,
    HangUp,
    Heard,
    JobId,
    PersonCalled,
    Recognised,
    RecognitionFailed,
    ReplyEnded,
    ReplyId,
    ReplyOutcome,
    ReplySounding,
    SentencePassed,
    Taken,
)
from voice_agent.floor.overlap import overlap
from voice_agent.floor.state import Caller, Floor, IllegalEventError, Rules, State
from voice_agent.floor.step import step

RULES = Rules(
    end_pause_s=0.8,
    rejoin_voice_s=0.2,
    barge_in_pause_s=0.3,
    barge_in_cut_s=1.5,
    max_utterance_s=30.0,
    reply_limit_s=20.0,
    max_call_s=600.0,
)


def words(text: str, dropped: DropReason | None = None) -> Transcript:
    return Transcript(text=text, raw=text, confidence=0.9, voiced_s=1.0, seconds=0.1, dropped=dropped)


def play(*events: Event, state: State | None = None, rules: Rules = RULES) -> tuple[State, list[Action]]:
    state = state or State()
    done: list[Action] = []
    for event in events:
        state, actions = step(state, event, rules)
        done.extend(actions)
    return state, done


ASKED = (Heard(Voiced(1.0, 2.0)), Heard(Silent(2.0, 2.5)), Heard(Silent(2.0, 2.9)))
ANSWERING = (*ASKED, Recognised(JobId(1), words("退款多久到账")), ReplySounding(ReplyId(2)))


def test_a_turn_ends_after_the_pause_and_covers_the_whole_utterance() -> None:
    """Silence shorter than the pause changes nothing; at the pause the span from the first voice is recognised."""
    state, actions = play(*ASKED[:2])
    assert (state.caller, state.floor, actions) == (Caller.SOFT_SILENCE, Floor.IDLE, [])
    state, actions = play(*ASKED)
    assert (state.caller, state.floor) == (Caller.QUIET, Floor.THINKING)
    assert actions == [Recognise(JobId(1), 1.0, 2.0)]


def test_words_begin_a_reply_and_its_sound_opens_the_floor() -> None:
    """A transcript with text is answered under a new id; the first audible sample makes the agent the speaker."""
    state, actions = play(*ANSWERING)
    assert state.floor is Floor.SPEAKING
    assert actions[-1] == BeginReply(ReplyId(2), words("退款多久到账"), may_clarify=True)
    assert state.turn == 1


def test_a_question_in_two_breaths_is_one_turn() -> None:
    """Voice before the answer is audible takes the question back; both halves are recognised together, as one turn."""
    state, actions = play(
        *ASKED,
        Recognised(JobId(1), words("我想问一下")),
        Heard(Voiced(3.0, 3.3)),
        Heard(Silent(3.3, 4.2)),
        Recognised(JobId(3), words("我想问一下退款多久到账")),
    )
    assert CancelReply(ReplyId(2)) in actions
    assert Recognise(JobId(3), 1.0, 3.3) in actions
    assert (state.turn, state.floor) == (1, Floor.THINKING)


def test_a_cough_before_the_answer_does_not_lose_the_question() -> None:
    """Voice shorter than a rejoin leaves the reply under way."""
    state, actions = play(
        *ASKED, Recognised(JobId(1), words("退款多久")), Heard(Voiced(3.0, 3.1)), Heard(Silent(3.1, 4.5))
    )
    assert state.floor is Floor.THINKING
    assert not [action for action in actions if isinstance(action, CancelReply)]


@pytest.mark.parametrize("dropped", ["too_quiet", "no_speech", "boilerplate", "prompt_echo", "too_short"])
def test_noise_is_no_turn(dropped: DropReason) -> None:
    """A dropped decoding behind which nobody spoke returns the floor in silence, and no turn is counted."""
    state, actions = play(*ASKED, Recognised(JobId(1), words("", dropped)))
    assert (state.floor, state.turn, state.utterance_from_s) == (Floor.IDLE, 0, None)
    assert len(actions) == 1


@pytest.mark.parametrize("dropped", ["low_confidence", "loop", "too_dense", "not_chinese"])
def test_unclear_speech_is_asked_again_once_then_goes_to_a_person(dropped: DropReason) -> None:
    """The first time the caller is asked to repeat; the second time in a row a person takes over."""
    state, actions = play(
        *ASKED,
        Recognised(JobId(1), words("", dropped)),
        ReplySounding(ReplyId(2)),
        ReplyEnded(ReplyId(2), "clarify"),
    )
    assert AskAgain(ReplyId(2)) in actions and state.floor is Floor.IDLE
    state, actions = play(
        Heard(Voiced(9.0, 9.5)),
        Heard(Silent(9.5, 10.4)),
        Recognised(JobId(3), words("", dropped)),
        state=state,
    )
    assert actions[-1] == HandOff(HandoffReason.LOW_ASR)


def test_a_failed_recognition_is_treated_like_unclear_speech() -> None:
    """The caller is asked to repeat: they spoke, and it was our fault."""
    state, actions = play(*ASKED, RecognitionFailed(JobId(1)))
    assert actions[-1] == AskAgain(ReplyId(2))


def test_a_second_question_back_in_a_row_is_not_allowed() -> None:
    """After a clarification the next reply must answer or hand over."""
    state, _ = play(*ANSWERING, ReplyEnded(ReplyId(2), "clarify"))
    _, actions = play(
        Heard(Voiced(9.0, 9.5)), Heard(Silent(9.5, 10.4)), Recognised(JobId(3), words("退款")), state=state
    )
    assert actions[-1] == BeginReply(ReplyId(4), words("退款"), may_clarify=False)


def test_voice_over_the_agent_pauses_then_words_cut() -> None:
    """Pause at 0.3 s of voice; the words decide; a cut cancels, silences and answers the new words in a new turn."""
    state, actions = play(*ANSWERING, Heard(Voiced(5.0, 5.2)))
    assert state.floor is Floor.SPEAKING
    state, actions = play(Heard(Voiced(5.0, 5.4)), state=state)
    assert (state.floor, actions) == (Floor.PAUSED, [PausePlayback()])
    state, actions = play(
        Heard(Silent(5.6, 6.5)), Recognised(JobId(3), words("不是我问的是发票")), state=state
    )
    assert actions[1:5] == [
        CancelReply(ReplyId(2)),
        Silence(),
        BargedIn("不是我问的是发票"),
        BeginReply(ReplyId(4), words("不是我问的是发票"), may_clarify=True),
    ]
    assert (state.turn, state.floor) == (2, Floor.THINKING)


@pytest.mark.parametrize(
    ("heard", "why"),
    [
        ("嗯", "backchannel"),
        ("哦好的", "backchannel"),
        ("对对对", "backchannel"),
        ("", "nothing"),
        ("知道了", "backchannel"),
    ],
)
def test_a_backchannel_resumes_the_same_reply(heard: str, why: Literal["backchannel", "nothing"]) -> None:
    """Murmurs and nothing at all let the agent go on where it stopped."""
    state, actions = play(
        *ANSWERING, Heard(Voiced(5.0, 5.4)), Heard(Silent(5.4, 6.3)), Recognised(JobId(3), words(heard))
    )
    assert actions[-1] == ResumePlayback(why)
    assert (state.floor, state.reply) == (Floor.SPEAKING, ReplyId(2))


def test_a_failed_recognition_over_the_agent_fails_towards_the_caller() -> None:
    """When we cannot tell what was said over us, we stop talking."""
    state, actions = play(
        *ANSWERING, Heard(Voiced(5.0, 5.4)), Heard(Silent(5.4, 6.3)), RecognitionFailed(JobId(3))
    )
    assert Silence() in actions and actions[-1] == AskAgain(ReplyId(4))


def test_a_caller_who_keeps_talking_over_the_agent_cuts_it_without_words() -> None:
    """At 1.5 s of voice nobody waits for the recogniser; the whole interruption is then recognised."""
    state, actions = play(*ANSWERING, Heard(Voiced(5.0, 5.4)), Heard(Voiced(5.0, 6.5)))
    assert actions[-3:] == [CancelReply(ReplyId(2)), Silence(), BargedIn("")]
    _, actions = play(Heard(Silent(7.0, 7.9)), state=state)
    assert actions == [Recognise(JobId(3), 5.0, 7.0)]


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        ("refused", HandoffReason.GATE),
        ("blocked", HandoffReason.VERDICT),
        ("asked", HandoffReason.ASKED),
        ("failed", HandoffReason.FAULT),
    ],
)
def test_a_reply_that_may_not_speak_hands_over(outcome: ReplyOutcome, reason: HandoffReason) -> None:
    """Every way not to answer ends with a person, and the end of the phrase ends the call."""
    state, actions = play(*ASKED, Recognised(JobId(1), words("黄金价格")), ReplyEnded(ReplyId(2), outcome))
    assert actions[-1] == HandOff(reason)
    state, actions = play(HandoffEnded(), state=state)
    assert (state.floor, actions) == (Floor.ENDED, [EndCall("handed_off")])


def test_the_hand_off_phrase_is_shielded_and_words_go_to_the_packet() -> None:
    """Talking over the phrase pauses nothing; what was said is added for the person who takes over."""
    state, _ = play(*ASKED, Recognised(JobId(1), words("黄金")), ReplyEnded(ReplyId(2), "refused"))
    state, actions = play(
        Heard(Voiced(5.0, 7.0)), Heard(Silent(7.0, 7.9)), Recognised(JobId(3), words("快一点")), state=state
    )
    assert actions == [Recognise(JobId(3), 5.0, 7.0), AddToPacket(words("快一点"))]
    assert state.floor is Floor.HANDING_OFF


def test_stale_results_are_counted_and_change_nothing_else() -> None:
    """A late result of something given up is neither acted on nor an error."""
    state, _ = play(*ANSWERING)
    late: list[Event] = [
        Recognised(JobId(1), words("旧")),
        ReplySounding(ReplyId(9)),
        ReplyEnded(ReplyId(9), "failed"),
    ]
    after, actions = play(*late, state=state)
    assert actions == [] and after.stale == state.stale + 3
    assert (after.floor, after.reply, after.turn) == (state.floor, state.reply, state.turn)


def test_an_illegal_event_raises_and_leaves_the_state() -> None:
    """What cannot happen is an error, and the old state is still good."""
    state, _ = play(*ANSWERING)
    with pytest.raises(IllegalEventError):
        step(state, ReplySounding(ReplyId(2)), RULES)
    with pytest.raises(IllegalEventError):
        step(state, HandoffEnded(), RULES)
    assert state.floor is Floor.SPEAKING


def test_a_reply_that_never_sounds_is_a_fault() -> None:
    """The wait for a reply has a deadline in stream time, kept by the frames themselves."""
    _, actions = play(*ASKED, Recognised(JobId(1), words("退款")), Heard(Silent(2.0, 22.1)))
    assert actions[-2:] == [CancelReply(ReplyId(2)), HandOff(HandoffReason.FAULT)]


def test_a_key_calls_for_a_person() -> None:
    """The key that does so hands over whatever is going on, as asked for; once."""
    state, actions = play(*ANSWERING, PersonCalled())
    assert actions[-1] == HandOff(HandoffReason.ASKED)
    assert step(state, PersonCalled(), RULES) == (state, ())


def test_a_call_has_a_length_limit() -> None:
    """At the maximum length a person takes over, whatever is going on."""
    _, actions = play(*ANSWERING, Heard(Silent(2.0, 600.0)))
    assert actions[-1] == HandOff(HandoffReason.MAX_LENGTH)


def test_a_monologue_is_cut_and_answered() -> None:
    """Voice without an end is recognised at the longest utterance instead of never."""
    _, actions = play(Heard(Voiced(1.0, 2.0)), Heard(Voiced(1.0, 31.0)))
    assert actions == [Recognise(JobId(1), 1.0, 31.0)]


def test_what_goes_on_after_the_longest_utterance_is_another_one() -> None:
    """A voice without a pause takes nothing back that was cut at its longest: it would be heard anew at every frame."""
    cut = Heard(Voiced(1.0, 31.0))
    state, actions = play(cut, *(Heard(Voiced(1.0, 31.0 + n / 50)) for n in range(1, 20)))
    assert [action for action in actions if isinstance(action, Recognise)] == [Recognise(JobId(1), 1.0, 31.0)]
    assert (state.floor, state.hearing) == (Floor.THINKING, JobId(1))
    nothing = Recognised(JobId(1), words("", "boilerplate"))
    state, actions = play(nothing, Heard(Voiced(1.0, 60.0)), Heard(Voiced(1.0, 61.0)), state=state)
    assert actions == [Recognise(JobId(2), 31.0, 61.0)]


WAITING = (*ASKED, Recognised(JobId(1), words("退款多久到账")))


def hush(until_s: float) -> Heard:
    return Heard(Silent(2.0, until_s))


def test_dead_air_is_bridged_twice_and_then_handed_over() -> None:
    """Hold phrases 1.5 s and 6 s after the turn's end was known, each once; the limit counts from the last word."""
    state, actions = play(*WAITING, hush(4.3))
    assert state.holds == 0 and not [action for action in actions if isinstance(action, SayHold)]
    state, actions = play(hush(4.41), hush(5.0), hush(8.8), hush(8.91), hush(15.0), state=state)
    assert actions == [SayHold(again=False), SayHold(again=True)]
    _, actions = play(hush(22.1), state=state)
    assert actions == [CancelReply(ReplyId(2)), HandOff(HandoffReason.FAULT)]


def test_a_hold_phrase_is_due_while_the_words_are_still_being_recognised() -> None:
    """The caller waits from the end of their turn, whichever stage is slow."""
    _, actions = play(*ASKED, hush(4.41))
    assert actions[-1] == SayHold(again=False)


def test_a_passed_sentence_ends_the_wait() -> None:
    """From then on only synthesis is left: a phrase would delay the answer. The sentence of another reply does not."""
    _, actions = play(*WAITING, SentencePassed(ReplyId(2)), hush(4.5), hush(9.5))
    assert not [action for action in actions if isinstance(action, SayHold)]
    state, actions = play(*WAITING, SentencePassed(ReplyId(9)), hush(4.5))
    assert actions[-1] == SayHold(again=False) and state.stale == 1


LED = replace(RULES, lead_in_s=0.3)


def test_a_lead_in_bridges_the_making_of_the_sound_once() -> None:
    """Only where a sentence has passed, so long after the turn's end was known, into silence, and once a reply."""
    passed = (*WAITING, SentencePassed(ReplyId(2)))
    _, actions = play(*WAITING, hush(4.0), rules=LED)
    assert SayLeadIn(ReplyId(2)) not in actions
    state, actions = play(*passed, hush(3.1), rules=LED)
    assert SayLeadIn(ReplyId(2)) not in actions
    state, actions = play(hush(3.21), hush(3.3), hush(9.0), state=state, rules=LED)
    assert actions == [SayLeadIn(ReplyId(2))]
    _, actions = play(*passed, Heard(Voiced(3.0, 3.1)), Heard(Voiced(3.0, 3.19)), rules=LED)
    assert SayLeadIn(ReplyId(2)) not in actions
    _, actions = play(*passed, hush(9.0), rules=RULES)
    assert SayLeadIn(ReplyId(2)) not in actions


def test_a_lead_in_does_not_follow_a_hold_phrase() -> None:
    """Two phrases of our own in a row are one too many."""
    _, actions = play(*WAITING, hush(4.41), SentencePassed(ReplyId(2)), hush(5.0), rules=LED)
    assert actions[-1] == SayHold(again=False)


def test_no_hold_phrase_over_a_voice() -> None:
    """A phrase begins in silence only."""
    _, actions = play(*WAITING, Heard(Voiced(4.4, 4.5)))
    assert not [action for action in actions if isinstance(action, SayHold)]


def test_each_turn_waits_anew() -> None:
    """The next question has its own two phrases, counted from its own end."""
    spoken = SentencePassed(ReplyId(2)), ReplySounding(ReplyId(2)), ReplyEnded(ReplyId(2), "answered")
    state, _ = play(*WAITING, hush(4.5), *spoken)
    _, actions = play(
        Heard(Voiced(9.0, 9.5)), Heard(Silent(9.5, 10.4)), Heard(Silent(9.5, 12.0)), state=state
    )
    assert actions == [Recognise(JobId(3), 9.0, 9.5), SayHold(again=False)]


@pytest.mark.parametrize(
    ("heard", "floor"), [("嗯", Floor.THINKING), ("", Floor.THINKING), ("我问的是发票", Floor.THINKING)]
)
def test_a_voice_over_the_hold_phrase_pauses_and_its_words_decide(heard: str, floor: Floor) -> None:
    """Only the new words are recognised; a murmur gives the reply its wait back, words give the reply up."""
    state, actions = play(*WAITING, hush(4.5), Heard(Voiced(5.0, 5.2)), Heard(Voiced(5.0, 5.4)))
    assert (state.floor, actions[-1]) == (Floor.PAUSED, PausePlayback())
    state, actions = play(Heard(Silent(5.6, 6.5)), Recognised(JobId(3), words(heard)), state=state)
    assert actions[0] == Recognise(JobId(3), 5.0, 5.6) and state.floor is floor
    if overlap(heard) == "words":
        assert actions[1:4] == [CancelReply(ReplyId(2)), Silence(), BargedIn(heard)]
        assert (state.reply, state.turn, state.holds) == (ReplyId(4), 2, 0)
    else:
        why: Literal["backchannel", "nothing"] = "backchannel" if heard else "nothing"
        assert actions[1:] == [ResumePlayback(why)] and (state.reply, state.turn) == (ReplyId(2), 1)


def test_a_voice_while_the_words_are_recognised_silences_the_hold_phrase() -> None:
    """Nothing is being made yet: the question goes on, in silence."""
    state, actions = play(*ASKED, hush(4.5), Heard(Voiced(5.0, 5.3)))
    assert actions[-1] == Silence() and (state.floor, state.holds) == (Floor.IDLE, 0)


@pytest.mark.parametrize(
    ("taken", "kept", "reason"), [(Taken.SPOOLED, True, "callback"), (Taken.FAILED, False, "handoff_failed")]
)
def test_a_packet_nobody_took_is_told_to_the_caller(taken: Taken, kept: bool, reason: str) -> None:
    """First the phrase, shielded like the hand-off's own; then the end, named by what the caller was told."""
    state, _ = play(*WAITING, ReplyEnded(ReplyId(2), "refused"))
    state, actions = play(HandoffEnded(taken), Heard(Voiced(9.0, 9.9)), state=state)
    assert actions == [TellUntaken(kept)] and state.floor is Floor.HANDING_OFF
    state, actions = play(HandoffEnded(Taken.DELIVERED), state=state)
    assert (state.floor, actions) == (Floor.ENDED, [EndCall(reason)])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "meaning"),
    [("嗯嗯，", "backchannel"), ("停", "stop"), ("等一下", "stop"), ("停机了", "words"), (" 。", "nothing")],
)
def test_overlap(text: str, meaning: str) -> None:
    """Asking to stop is never taken for a murmur."""
    assert overlap(text) == meaning


moments = st.floats(0, 500, allow_nan=False)
activities = st.builds(
    lambda a, b, voiced: Heard((Voiced if voiced else Silent)(min(a, b), max(a, b))),
    moments,
    moments,
    st.booleans(),
)
ids = st.integers(1, 12)
events = st.one_of(
    activities,
    activities,
    st.builds(
        lambda i, t, s: Recognised(JobId(i), words(t), s),
        ids,
        st.sampled_from(["", "嗯", "停", "退款多久到账", "ERR2048怎么办", "对"]),
        st.sampled_from(["", "退款多久到账"]),
    ),
    st.builds(lambda i: RecognitionFailed(JobId(i)), ids),
    st.builds(lambda i: ReplySounding(ReplyId(i)), ids),
    st.builds(lambda i: SentencePassed(ReplyId(i)), ids),
    st.builds(
        lambda i, o: ReplyEnded(ReplyId(i), o),
        ids,
        st.sampled_from(
            ["answered", "clarify", "refused", "blocked", "failed", "said", "goodbye", "repeated"]
        ),
    ),
    st.sampled_from(
        [CallBegan(), HandoffEnded(), HandoffEnded(Taken.SPOOLED), HangUp(), PersonCalled(), Fault()]
    ),
)


DUTIFUL = replace(
    RULES, duties=Duties(greeting="您好", prompt_after_s=8.0, read_back_below=0.95, repeat="sentence")
)


@given(st.lists(events, max_size=60), st.sampled_from([RULES, DUTIFUL]))
def test_laws_of_the_floor(script: list[Event], rules: Rules) -> None:
    """Over any events: an illegal one changes nothing; one reply at a time; after the end nothing is done; a hand-off
    and an end happen at most once; ids only grow; a wait has at most two hold phrases, none after a passed sentence.
    The voice is lowered only under a caller's, a pause has a moment it began at, and prompts are counted."""
    state = State()
    handed_over = ended = 0
    for event in script:
        try:
            after, actions = step(state, event, rules)
        except IllegalEventError:
            continue
        if state.floor is Floor.ENDED:
            assert after == state and not actions
        started = [action for action in actions if isinstance(action, BeginReply | AskAgain | ReadBack | Say)]
        assert len(started) <= 1
        if started and state.reply is not None:
            assert CancelReply(state.reply) in actions
        handed_over += sum(isinstance(action, HandOff) for action in actions)
        ended += sum(isinstance(action, EndCall) for action in actions)
        if any(isinstance(action, SayHold) for action in actions):
            assert state.floor is Floor.THINKING and not state.passed and after.holds <= 2
        if after.over.ducked:
            assert after.floor in (Floor.SPEAKING, Floor.THINKING) and after.caller is Caller.VOICED
        assert (after.over.paused_from_s is not None) >= (after.floor is Floor.PAUSED)
        assert after.kept.prompts <= rules.duties.prompts
        assert after.last_id >= state.last_id and after.turn >= state.turn
        assert (after.reply is not None) <= (after.floor in (Floor.THINKING, Floor.SPEAKING, Floor.PAUSED))
        state = after
    assert handed_over <= 1 and ended <= 1
