"""The floor under any story that the rest of the agent could tell it, and under stories that it could not."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import get_args

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from audio.types import Activity, Silent, Transcript, Voiced
from tests.fakes import LIVELY
from voice_agent.floor.actions import (
    AskAgain,
    BeginReply,
    CancelReply,
    EndCall,
    Guess,
    HandOff,
    ReadBack,
    Recognise,
    RecogniseEarly,
    Say,
    SayHold,
    SayLeadIn,
    Silence,
    Speculate,
)
from voice_agent.floor.events import (
    CallBegan,
    Event,
    Fault,
    Foreseen,
    Guessed,
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
from voice_agent.floor.state import Floor, IllegalEventError, State
from voice_agent.floor.step import step

RULES = replace(LIVELY, max_call_s=90.0, reply_limit_s=8.0, lead_in_s=0.3)
TEXTS = ("", "嗯", "退款多久到账", "我想问一下就是", "停", "会员积分有效期")
REFUSALS = ("refused", "blocked", "asked", "failed")


def words(text: str) -> Transcript:
    return Transcript(text, text, 0.9, 1.0, 0.1, None if text else "low_confidence")


class Agent(RuleBasedStateMachine):
    """Plays every other part honestly: jobs end once, a reply sounds only after a sentence of it has passed, then ends.

    What it keeps for itself is what is really going on; the invariants hold the floor to it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.state = State()
        self.now_s = 0.0
        self.run: Activity = Silent(0.0, 0.0)
        self.hearing: set[JobId] = set()
        self.guessing: set[JobId] = set()
        self.foreseeing: set[JobId] = set()
        self.replying: ReplyId | None = None
        self.passed = self.sounding = False
        self.given: set[int] = set()
        self.handed_over = self.ended = 0
        self.tell(CallBegan())

    def tell(self, event: Event) -> None:
        before = self.state
        self.state, actions = step(before, event, RULES)
        assert before.floor is not Floor.ENDED or (self.state == before and not actions)
        for action in actions:
            self.act(action)

    def act(self, action: object) -> None:
        jobs = {Recognise: self.hearing, RecogniseEarly: self.hearing, Guess: self.guessing}
        if isinstance(action, Recognise | RecogniseEarly | Guess | Speculate):
            self.new(action.job)
            jobs.get(type(action), self.foreseeing).add(action.job)
        else:
            self.act_aloud(action)

    def act_aloud(self, action: object) -> None:
        match action:
            case BeginReply() | AskAgain() | ReadBack() | Say():
                assert self.replying is None, "two replies at once"
                self.new(action.reply)
                self.replying, self.passed, self.sounding = action.reply, False, False
            case CancelReply():
                assert action.reply == self.replying, "a reply that is not there was cancelled"
                self.forget_reply()
            case Silence():
                self.sounding = False
            case HandOff():
                self.handed_over += 1
                assert self.replying is None
            case EndCall():
                self.ended += 1
            case SayHold():
                assert not self.passed, "a phrase would delay a sentence that may be spoken"
            case SayLeadIn():
                assert self.passed and not self.sounding, "a lead-in needs something that it leads in"

    def new(self, number: int) -> None:
        assert number not in self.given, "a number was given twice"
        self.given.add(number)

    def forget_reply(self) -> None:
        self.replying, self.passed, self.sounding = None, False, False

    @rule(length_s=st.sampled_from([0.1, 0.3, 0.7, 1.6]), voiced=st.booleans())
    def hear(self, length_s: float, voiced: bool) -> None:
        """Frame by frame, as the ear would say it."""
        kind = Voiced if voiced else Silent
        since = self.run.since_s if isinstance(self.run, kind) else self.now_s
        until = self.now_s + length_s
        while self.now_s < until:
            self.now_s = round(self.now_s + 0.1, 3)
            self.run = kind(since, self.now_s)
            self.tell(Heard(self.run))

    @precondition(lambda self: self.hearing)
    @rule(text=st.sampled_from(TEXTS), fails=st.booleans())
    def recognise(self, text: str, fails: bool) -> None:
        job = min(self.hearing)
        self.hearing.discard(job)
        self.tell(RecognitionFailed(job) if fails and not text else Recognised(job, words(text)))

    @precondition(lambda self: self.guessing)
    @rule(text=st.sampled_from(TEXTS))
    def guess(self, text: str) -> None:
        job = self.guessing.pop()
        self.tell(Guessed(job, words(text) if text else None, self.now_s))

    @precondition(lambda self: self.foreseeing)
    @rule(sure=st.booleans())
    def foresee(self, sure: bool) -> None:
        self.tell(Foreseen(self.foreseeing.pop(), sure))

    @precondition(lambda self: self.replying is not None and not self.sounding)
    @rule()
    def speak(self) -> None:
        """A sentence passes its check, and is heard where nothing holds it back."""
        assert self.replying is not None
        self.passed = True
        self.tell(SentencePassed(self.replying))
        if self.state.floor is Floor.THINKING:
            self.sounding = True
            self.tell(ReplySounding(self.replying))

    @precondition(
        lambda self: self.replying is not None and self.sounding and self.state.floor is not Floor.PAUSED
    )
    @rule(outcome=st.sampled_from(["answered", "clarify", "courtesy", "blocked", "failed"]))
    def finish(self, outcome: ReplyOutcome) -> None:
        assert self.replying is not None
        reply = self.replying
        if outcome not in REFUSALS:
            self.forget_reply()
        self.tell(ReplyEnded(reply, outcome))

    @precondition(lambda self: self.replying is not None and not self.sounding)
    @rule(outcome=st.sampled_from(REFUSALS))
    def refuse(self, outcome: ReplyOutcome) -> None:
        assert self.replying is not None
        self.tell(ReplyEnded(self.replying, outcome))
        assert self.state.floor is Floor.HANDING_OFF, "a reply that may not speak leads to a person"

    @precondition(lambda self: self.state.floor is Floor.HANDING_OFF)
    @rule(taken=st.sampled_from(Taken))
    def hand_over(self, taken: Taken) -> None:
        """However the delivery goes, two phrases at most lead to the end of the call."""
        self.tell(HandoffEnded(taken))
        if self.state.floor is Floor.HANDING_OFF:
            self.tell(HandoffEnded(taken))
        assert self.state.floor is Floor.ENDED and self.ended == 1

    @rule(number=st.integers(200, 999), outcome=st.sampled_from(get_args(ReplyOutcome)))
    def come_late(self, number: int, outcome: ReplyOutcome) -> None:
        """Results of what nobody waits for change nothing but their count."""
        stale: tuple[Event, ...] = (
            Recognised(JobId(number), words("旧")),
            RecognitionFailed(JobId(number)),
            Guessed(JobId(number), words("旧"), self.now_s),
            Foreseen(JobId(number), True),
            SentencePassed(ReplyId(number)),
            ReplySounding(ReplyId(number)),
            ReplyEnded(ReplyId(number), outcome),
        )
        if number in self.given:
            return
        for event in stale:
            before = self.state
            after, actions = step(before, event, RULES)
            counted = replace(before, stale=before.stale + (before.floor is not Floor.ENDED))
            assert actions == () and replace(after, ahead=before.ahead, kept=before.kept) == replace(
                counted, kept=before.kept
            )

    @rule()
    def do_what_cannot_be(self) -> None:
        """An illegal event raises and leaves the state; where it happens to be legal it is not told."""
        before = self.state
        for event in (CallBegan(), HandoffEnded()):
            with suppress(IllegalEventError):
                step(before, event, RULES)
            assert self.state is before

    @precondition(lambda self: self.now_s > 20)
    @rule(event=st.sampled_from([HangUp(), PersonCalled(), Fault()]))
    def break_down(self, event: Event) -> None:
        self.tell(event)
        assert self.state.floor in (Floor.ENDED, Floor.HANDING_OFF)
        self.forget_reply()

    @invariant()
    def one_reply_and_it_is_the_one_going_on(self) -> None:
        if self.state.floor in (Floor.HANDING_OFF, Floor.ENDED):
            self.forget_reply()
        assert self.state.reply == self.replying

    @invariant()
    def nothing_sounds_without_a_passed_sentence(self) -> None:
        if self.state.floor is Floor.SPEAKING:
            assert self.passed and self.sounding

    @invariant()
    def deadlines_are_kept(self) -> None:
        waiting = self.state.waiting_since_s
        if self.state.floor in (Floor.THINKING, Floor.SPEAKING, Floor.PAUSED, Floor.IDLE):
            assert self.now_s < RULES.max_call_s
        if self.state.floor is Floor.THINKING and waiting is not None:
            assert self.now_s - waiting < RULES.reply_limit_s

    @invariant()
    def what_is_ahead_belongs_to_words_being_waited_for(self) -> None:
        ahead = self.state.ahead
        if self.state.floor is not Floor.IDLE or self.state.utterance_from_s is None:
            assert ahead == type(ahead)()

    @invariant()
    def a_person_and_an_end_come_once(self) -> None:
        assert self.handed_over <= 1 and self.ended <= 1
        assert (self.state.floor is Floor.ENDED) == (self.ended == 1)


Agent.TestCase.settings = settings(max_examples=25, stateful_step_count=40, deadline=None)
TestTheFloor = Agent.TestCase
