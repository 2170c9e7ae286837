"""Carrying out what the floor decides: each action is done at once or becomes a task, whose result is an event."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import assert_never

from audio.types import Transcript
from voice_agent.call.clock import Job
from voice_agent.call.courtesies import Courtesies, asked_anew
from voice_agent.call.foresight import Foresight
from voice_agent.call.handover import Handover
from voice_agent.call.hearing import Hearing
from voice_agent.call.levels import LevelAction, level
from voice_agent.call.line import Line, Records
from voice_agent.call.listen import Listener
from voice_agent.call.own_words import OwnWord, OwnWords
from voice_agent.call.parts import Parts
from voice_agent.call.replying import Looking, Replying, Request, Voice
from voice_agent.call.speculating import Speculation
from voice_agent.call.speech import Speech
from voice_agent.call.tally import Tally
from voice_agent.call.tasks import Tasks
from voice_agent.call.turns import Turns
from voice_agent.floor import actions as do
from voice_agent.floor import events as ev
from voice_agent.floor.duties import Duties
from voice_agent.floor.state import State
from voice_agent.phrases import HOLD, HOLD_AGAIN, LEAD_IN
from voice_agent.record.journal import Recorder
from voice_agent.reply.answer import Asked

HANDING_OVER, DELIVERING = -1, -2
"""Numbers of the tasks that belong to the call and not to a reply."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call as its work sees it.

    `now_s` tells the time in seconds on the call's clock, `state` where the call stands; `post` takes a result.
    """

    listener: Listener
    speech: Speech
    turns: Turns
    tasks: Tasks
    recorder: Recorder
    now_s: Callable[[], float]
    state: Callable[[], State]
    post: Callable[[ev.Event], None]

    @property
    def turn(self) -> int:
        return self.state().turn

    @property
    def turn_in_hand(self) -> int:
        """Of words not answered yet: the turn that is open, or the one that they will begin."""
        state = self.state()
        return state.turn if state.turn_open else state.turn + 1

    def write(self, kind: str, **data: object) -> None:
        """To the journal, now and in this turn."""
        self.recorder.write(kind, self.now_s(), self.turn, **data)


class Acting:
    """One a call."""

    def __init__(self, parts: Parts, duties: Duties, line: Line, records: Records, call: Call) -> None:
        self._parts = parts
        self._duties = duties
        self._line = line
        self._records = records
        self._call = call
        self._speech, self._turns, self._tasks = call.speech, call.turns, call.tasks
        self._hearing = Hearing(parts, call.listener, call.recorder, call.now_s)
        self._foresight = Foresight(parts, call.recorder, call.now_s)
        self._handover = Handover(records.call, parts, call.speech, call.recorder, records.sink)
        self._words = OwnWords(parts, call.speech, duties)
        self._tally = Tally()

    async def carry_out(self, actions: Iterable[do.Action]) -> None:
        """All of them, in their order; what was begun ahead and the floor no longer waits for ends here."""
        for action in actions:
            await self._act(action)
        ahead = self._call.state().ahead
        for number in self._tasks.unwanted({ahead.guess, ahead.early, ahead.speculation}):
            await self._tasks.cancel(number)
            if number == self._foresight.number:
                await self._foresight.give_up()

    async def end(self) -> None:
        """Waits for the packet to be delivered; whatever else is under way is given up."""
        await self._handover.delivered()
        await self._tasks.cancel_all()

    def silence(self) -> None:
        """Nothing more of what was to be said sounds."""
        self._line.flush()
        self._speech.silence(self._call.now_s() + (self._line.delay_s() or 0.0))

    async def _act(self, action: do.Action) -> None:
        match action:
            case do.Recognise() | do.RecogniseEarly() | do.TakeEarly() | do.Guess():
                self._hear(action)
            case do.Speculate() | do.BeginReply() | do.AskAgain() | do.ReadBack() | do.Say():
                self._start(action)
            case do.HandOff() | do.TellUntaken():
                self._give_over(action)
            case do.CancelReply():
                await self._tasks.cancel(action.reply)
            case do.BargedIn() | do.LineEchoes() | do.AddToPacket() | do.EndCall():
                self._note(action)
            case _:
                self._sound(action)

    def _hear(self, action: do.Recognise | do.RecogniseEarly | do.TakeEarly | do.Guess) -> None:
        match action:
            case do.Recognise():
                self._turn_ended(action)
                self._tasks.spawn(action.job, "hear", self._recognise, action)
            case do.RecogniseEarly():
                self._tasks.spawn_ahead(action.job, "hear_early", self._recognise, action)
            case do.TakeEarly():
                self._turn_ended(action)
                self._tasks.keep(action.job)
                self._tasks.counters["early_used"] += 1
                if action.transcript is not None:
                    self._turns.heard(action.transcript, action, self._call.turn_in_hand, self._call.now_s())
            case do.Guess():
                self._tasks.spawn_ahead(action.job, "guess", self._guess, action)
            case _:
                assert_never(action)

    def _turn_ended(self, action: do.Recognise | do.TakeEarly) -> None:
        self._call.write("speech_ended", ended_s=round(action.until_s, 3))
        self._turns.question_ended(action.until_s)

    def _start(self, action: do.Speculate | do.BeginReply | OwnWord) -> None:
        match action:
            case do.Speculate():
                asked = self._asked(action.transcript)
                ahead = self._foresight.begin(action.job, asked, self._call.turn_in_hand)
                self._tasks.spawn_ahead(action.job, "speculate", self._speculate, ahead)
            case do.BeginReply():
                self._tally = self._turns.begin(action.reply, self._call.turn, action.transcript.text)
                self._tasks.spawn(action.reply, "reply", self._reply, self._request(action))
            case do.AskAgain():
                self._turns.begin(action.reply, self._call.turn, "")
                self._tasks.spawn(action.reply, "ask_again", self._own_words, action)
            case do.ReadBack():
                self._turns.begin(action.reply, self._call.turn, action.transcript.text)
                self._tasks.spawn(action.reply, "read_back", self._own_words, action)
            case do.Say():
                self._tasks.spawn(action.reply, "say", self._own_words, action)
            case _:
                assert_never(action)

    def _asked(self, transcript: Transcript) -> Asked:
        return Asked(transcript.text, self._records.as_of, self._turns.history, transcript.confidence)

    def _request(self, action: do.BeginReply) -> Request:
        """The request, with the speculation that was about it; that one's task now lives and dies with the reply's."""
        ahead = self._foresight.adopt(action.ahead, self._asked(action.transcript), self._call.turn)
        if ahead is not None:
            self._tasks.lean(action.reply, ahead.number)
        return Request(
            action.reply,
            self._call.turn,
            action.transcript,
            self._records.as_of,
            self._turns.history,
            action.may_clarify,
            self._turns.last,
            self._duties,
            ahead,
        )

    def _give_over(self, action: do.HandOff | do.TellUntaken) -> None:
        """The packet goes out while the phrase is spoken."""
        match action:
            case do.HandOff():
                self._call.write("halt", reason=action.reason)
                self._speech.halt()
                self._handover.pack(action.reason, self._call.turn, self._turns.history)
                self._tasks.spawn(DELIVERING, "deliver", self._handover.deliver, self._call.now_s)
                self._tasks.spawn(HANDING_OVER, "handoff", self._hand_over, None)
            case do.TellUntaken():
                self._tasks.spawn(HANDING_OVER, "untaken", self._hand_over, action.kept)
            case _:
                assert_never(action)

    def _sound(self, action: do.SayHold | do.SayLeadIn | LevelAction | do.Silence) -> None:
        match action:
            case do.SayHold():
                phrase = HOLD_AGAIN if action.again else HOLD
                self._speech.hold(self._parts.phrases[phrase], phrase, self._call.turn_in_hand)
            case do.SayLeadIn():
                sound = self._parts.phrases[LEAD_IN]
                led = self._speech.lead_in(sound, LEAD_IN, action.reply, self._call.turn)
                self._tasks.counters["lead_ins"] += led
            case do.Silence():
                self.silence()
            case _:
                kind, facts = level(action, self._speech)
                if kind:
                    self._call.write(kind, **facts)

    def _note(self, action: do.BargedIn | do.LineEchoes | do.AddToPacket | do.EndCall) -> None:
        match action:
            case do.LineEchoes():
                self._call.write(
                    "fallback", what="audio.echo", to="half_duplex", why="the agent heard itself"
                )
            case do.BargedIn():
                self._call.write("barge_in", heard=action.heard)
                self._turns.ended("interrupted", self._call.now_s())
            case do.AddToPacket():
                self._handover.add(action.transcript.text)
            case do.EndCall():
                self._turns.close(self._call.now_s())
                counters = {
                    **self._tasks.counters,
                    **self._foresight.counters,
                    **self._line.faults(),
                    "sentences": self._turns.counts.as_json(),
                }
                self._call.write(
                    "call_ended",
                    reason=action.reason,
                    length_s=round(self._call.now_s(), 3),
                    turns=self._call.turn,
                    stale_events=self._call.state().stale,
                    counters=counters,
                )
            case _:
                assert_never(action)

    async def _recognise(self, action: do.Recognise | do.RecogniseEarly, job: Job) -> None:
        turn = self._call.turn_in_hand
        transcript = await self._hearing.final(action, turn, job)
        if transcript is None:
            self._call.post(ev.RecognitionFailed(action.job))
            return
        if action.job == self._call.state().ahead.early:
            self._hearing.note(transcript, action.until_s, turn, transcript.text)
        else:
            self._turns.heard(transcript, action, turn, self._call.now_s())
        self._call.post(ev.Recognised(action.job, transcript, self._spoken_over(action)))

    def _spoken_over(self, span: do.Recognise | do.RecogniseEarly) -> str:
        """What of the agent's own words may have been recognised."""
        echoes = self._parts.echo.mode == "overlap_text"
        return self._speech.said_between(span.from_s, span.until_s) if echoes else ""

    async def _guess(self, action: do.Guess, job: Job) -> None:
        transcript = await self._hearing.guess(action, self._call.turn_in_hand, job)
        self._call.post(ev.Guessed(action.job, transcript, action.until_s))

    async def _speculate(self, ahead: Speculation, job: Job) -> None:
        self._call.post(await self._foresight.run(ahead, self._call.turn_in_hand, job))

    async def _reply(self, request: Request, job: Job) -> None:
        self._handover.looking = Looking(request.turn, request.transcript.text)
        outcome: ev.ReplyOutcome
        try:
            request = await self._parts.workers.hearing.run(asked_anew, request)
            kept = await Courtesies(request, self._parts, self._speech).answer(job)
            outcome = kept or await self._answer(request, job)
        except Exception as e:  # noqa: BLE001 - the reply's boundary: any fault becomes a recorded outcome
            self._call.write("error", where="reply", message=f"{type(e).__name__}: {e}")
            outcome = "failed"
        self._call.post(ev.ReplyEnded(request.reply, outcome))

    async def _answer(self, request: Request, job: Job) -> ev.ReplyOutcome:
        voice = Voice(self._speech, self._tally, lambda: self._call.post(ev.SentencePassed(request.reply)))
        replying = Replying(request, self._parts, voice, self._call.recorder, self._call.now_s)
        self._handover.looking = replying.looking
        return await replying.run(job)

    async def _own_words(self, action: OwnWord, job: Job) -> None:
        outcome: ev.ReplyOutcome
        try:
            outcome = await self._words.say(action, self._call.turn, job)
        except Exception as e:  # noqa: BLE001 - the reply's boundary: any fault becomes a recorded outcome
            self._call.write("error", where="own_words", message=f"{type(e).__name__}: {e}")
            outcome = "failed"
        self._call.post(ev.ReplyEnded(action.reply, outcome))

    async def _hand_over(self, kept: bool | None, job: Job) -> None:
        self._call.post(ev.HandoffEnded(await self._handover.run(kept, job, self._call.now_s)))
