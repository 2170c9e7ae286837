"""One phone call: frames in, frames out, and the loop that carries out what the floor decides.

The frame is the beat. On every frame: results that have come in are handled, the frame is classified, `step` decides,
its actions are carried out, and the agent's side of the same stretch of time is played. The only explicit cancellation
of the project is here: silence, cancel, wait for the task, never for its thread.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, assert_never

import numpy as np

from audio.playback import Playback
from audio.types import CALL_RATE_HZ, AudioFrame, Samples, Transcript
from voice_agent.call.clock import Clock, Job
from voice_agent.call.courtesies import Courtesies, asked_anew
from voice_agent.call.foresight import Foresight
from voice_agent.call.handover import Handover
from voice_agent.call.hearing import Hearing
from voice_agent.call.levels import LevelAction, level
from voice_agent.call.listen import Listener
from voice_agent.call.own_words import OwnWord, OwnWords
from voice_agent.call.parts import Caller, Parts
from voice_agent.call.replying import Looking, Replying, Request, Voice
from voice_agent.call.speculating import Speculation
from voice_agent.call.speech import Speech
from voice_agent.call.tally import Tally
from voice_agent.call.turns import Turns
from voice_agent.floor import actions as do
from voice_agent.floor import events as ev
from voice_agent.floor import state as fl
from voice_agent.floor.duties import Duties
from voice_agent.floor.echo import deaf
from voice_agent.floor.step import step
from voice_agent.phrases import HOLD, HOLD_AGAIN
from voice_agent.record.journal import Recorder
from voice_agent.reply.answer import Asked
from voice_agent.reply.handoff import HandoffSink

MAX_WAITING_EVENTS = 256
"""Events between two frames. A handful is normal; more is a task that has run wild."""

HANDING_OVER, DELIVERING = -1, -2
"""Numbers of the tasks that belong to the call and not to a reply."""


@dataclass(frozen=True, slots=True)
class Line:
    """One telephone line. `out` takes the caller's and the agent's samples of the same stretch of time.

    `delay_s` is how long after that the agent's are heard; None while they cannot be: speech then waits. `faults`
    counts what went wrong with the sound, for the journal's end.
    """

    caller: Caller
    clock: Clock
    out: Callable[[Samples, Samples], None]
    delay_s: Callable[[], float | None] = lambda: 0.0
    faults: Callable[[], Mapping[str, int]] = dict


@dataclass(frozen=True, slots=True)
class Records:
    """Where a call is written down and handed over."""

    call: str
    as_of: date
    recorder: Recorder
    sink: HandoffSink


class Session:
    """Runs one call to its end. One object a call. `duties` are what it keeps beside answering."""

    def __init__(self, parts: Parts, line: Line, records: Records, duties: Duties | None = None) -> None:
        self._parts = parts
        self._duties = duties or parts.rules.duties
        self._rules = replace(parts.rules, duties=self._duties)
        self._line = line
        self._records = records
        self._recorder = records.recorder
        self._speech = Speech(Playback(CALL_RATE_HZ), self._recorder)
        self._turns = Turns(self._recorder, self._speech)
        keep_s = parts.rules.max_utterance_s + parts.preroll_s + 5
        self._listener = Listener(parts.detector(), parts.segment_rules, keep_s)
        self._hearing = Hearing(parts, self._listener, self._recorder, lambda: self._now_s)
        self._foresight = Foresight(parts, self._recorder, lambda: self._now_s)
        self._handover = Handover(records.call, parts, self._speech, self._recorder, records.sink)
        self._words = OwnWords(parts, self._speech, self._duties)
        self._inbox: deque[ev.Event] = deque()
        self._tasks: dict[int, tuple[asyncio.Task[None], Job]] = {}
        self._tentative: set[int] = set()
        self._leans_on: dict[int, int] = {}
        self._group: asyncio.TaskGroup | None = None
        self._counters: Counter[str] = Counter()
        self._tally = Tally()
        self._now_s = 0.0
        self._sounded_s = -math.inf
        self.state = fl.State()

    async def run(self) -> None:
        """Returns when the call has ended. Raises AudioError when the line itself fails."""
        async with asyncio.TaskGroup() as self._group:
            await self._handle(ev.CallBegan())
            while self.state.floor is not fl.Floor.ENDED:
                frame = await self._line.caller.read()
                if frame is None:
                    if self.state.floor is fl.Floor.HANDING_OFF and not self._speech.idle:
                        self._write("handoff_unspoken")
                    await self._handle(ev.HangUp())
                    break
                await self._beat(frame)
            await self._handover.delivered()
            for number in list(self._tasks):
                await self._cancel(number)

    async def _beat(self, frame: AudioFrame) -> None:
        self._now_s = frame.start_s
        await self._line.clock.reach(frame.start_s)
        while self._inbox:
            await self._handle(self._inbox.popleft())
        self._now_s = frame.end_s
        echoing = deaf(self._parts.echo, self.state.over.echoes, frame.end_s - self._sounded_s)
        await self._handle(ev.Heard(self._listener.hear(frame, deaf=echoing)))
        await self._play(frame)
        if self._line.caller.exhausted and self._nothing_under_way():
            await self._handle(ev.HangUp())

    def _nothing_under_way(self) -> bool:
        state = self.state
        quiet = state.caller is fl.Caller.QUIET and state.utterance_from_s is None and state.hearing is None
        return quiet and state.floor is fl.Floor.IDLE and self._speech.idle and not self._inbox

    @property
    def _turn_in_hand(self) -> int:
        """Of words not answered yet: the turn that is open, or the one that they will begin."""
        return self.state.turn if self.state.turn_open else self.state.turn + 1

    async def _play(self, frame: AudioFrame) -> None:
        if (delay_s := self._line.delay_s()) is None:
            self._line.out(frame.samples, np.zeros_like(frame.samples))
            return
        samples, sounding = self._speech.take(len(frame.samples), frame.start_s + delay_s)
        self._line.out(frame.samples, samples)
        self._sounded_s = frame.end_s + delay_s if samples.any() else self._sounded_s
        for sound in sounding:
            if unchecked := self._turns.sounding(sound):
                await self._refuse(unchecked)
                return
            self._line.caller.agent_started(sound.at_s)
            if sound.line.reply is not None and self.state.floor is fl.Floor.THINKING:
                await self._handle(ev.ReplySounding(sound.line.reply))

    async def _refuse(self, why: str) -> None:
        """More was to be spoken than was checked: silence at once, and a person takes over."""
        self._speech.silence(self._now_s + (self._line.delay_s() or 0.0))
        self._write("error", where="unchecked", message=why)
        await self._handle(ev.Fault())

    async def _handle(self, event: ev.Event) -> None:
        before = self.state
        try:
            self.state, actions = step(before, event, self._rules)
        except fl.IllegalEventError as e:
            self._write("error", where="floor", message=str(e))
            self.state, actions = step(before, ev.Fault(), self._rules)
        if self.state.caller is fl.Caller.VOICED and before.caller is not fl.Caller.VOICED:
            self._write("speech_started")
        if isinstance(event, ev.ReplyEnded) and event.reply == before.reply:
            self._turns.ended(event.outcome, self._now_s)
            self._line.caller.agent_finished(self._now_s)
        for action in actions:
            await self._carry_out(action)
        await self._give_up_unwanted()

    async def _give_up_unwanted(self) -> None:
        """What was begun ahead and the floor no longer waits for ends here."""
        ahead = self.state.ahead
        for number in self._tentative - {ahead.guess, ahead.early, ahead.speculation}:
            self._tentative.discard(number)
            await self._cancel(number)
            if number == self._foresight.number:
                await self._foresight.give_up()

    async def _carry_out(self, action: do.Action) -> None:
        match action:
            case do.Recognise() | do.RecogniseEarly() | do.TakeEarly() | do.Guess():
                self._hear(action)
            case do.Speculate() | do.BeginReply() | do.AskAgain() | do.ReadBack() | do.Say():
                self._start(action)
            case do.HandOff() | do.TellUntaken():
                self._give_over(action)
            case do.CancelReply():
                await self._cancel(action.reply)
            case do.BargedIn() | do.LineEchoes() | do.AddToPacket() | do.EndCall():
                self._note(action)
            case _:
                self._sound(action)

    def _hear(self, action: do.Recognise | do.RecogniseEarly | do.TakeEarly | do.Guess) -> None:
        match action:
            case do.Recognise():
                self._turn_ended(action)
                self._spawn(action.job, "hear", self._recognise, action)
            case do.RecogniseEarly():
                self._spawn_ahead(action.job, "hear_early", self._recognise, action)
            case do.TakeEarly():
                self._turn_ended(action)
                self._tentative.discard(action.job)
                self._counters["early_used"] += 1
                if action.transcript is not None:
                    self._turns.heard(action.transcript, action, self._turn_in_hand, self._now_s)
            case do.Guess():
                self._spawn_ahead(action.job, "guess", self._guess, action)
            case _:
                assert_never(action)

    def _turn_ended(self, action: do.Recognise | do.TakeEarly) -> None:
        self._write("speech_ended", ended_s=round(action.until_s, 3))
        self._turns.question_ended(action.until_s)

    def _start(self, action: do.Speculate | do.BeginReply | OwnWord) -> None:
        match action:
            case do.Speculate():
                asked = self._asked(action.transcript)
                ahead = self._foresight.begin(action.job, asked, self._turn_in_hand)
                self._spawn_ahead(action.job, "speculate", self._speculate, ahead)
            case do.BeginReply():
                self._tally = self._turns.begin(action.reply, self.state.turn, action.transcript.text)
                self._spawn(action.reply, "reply", self._reply, self._request(action))
            case do.AskAgain():
                self._turns.begin(action.reply, self.state.turn, "")
                self._spawn(action.reply, "ask_again", self._own_words, action)
            case do.ReadBack():
                self._turns.begin(action.reply, self.state.turn, action.transcript.text)
                self._spawn(action.reply, "read_back", self._own_words, action)
            case do.Say():
                self._spawn(action.reply, "say", self._own_words, action)
            case _:
                assert_never(action)

    def _asked(self, transcript: Transcript) -> Asked:
        return Asked(transcript.text, self._records.as_of, self._turns.history, transcript.confidence)

    def _request(self, action: do.BeginReply) -> Request:
        """The request, with the speculation that was about it; that one's task now lives and dies with the reply's."""
        ahead = self._foresight.adopt(action.ahead, self._asked(action.transcript), self.state.turn)
        if ahead is not None:
            self._tentative.discard(ahead.number)
            self._leans_on[action.reply] = ahead.number
        return Request(
            action.reply,
            self.state.turn,
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
                self._write("halt", reason=action.reason)
                self._speech.halt()
                self._handover.pack(action.reason, self.state.turn, self._turns.history)
                self._spawn(DELIVERING, "deliver", self._handover.deliver, lambda: self._now_s)
                self._spawn(HANDING_OVER, "handoff", self._hand_over, None)
            case do.TellUntaken():
                self._spawn(HANDING_OVER, "untaken", self._hand_over, action.kept)
            case _:
                assert_never(action)

    def _sound(self, action: do.SayHold | LevelAction | do.Silence) -> None:
        match action:
            case do.SayHold():
                phrase = HOLD_AGAIN if action.again else HOLD
                self._speech.hold(self._parts.phrases[phrase], phrase, self._turn_in_hand)
            case do.Silence():
                self._speech.silence(self._now_s + (self._line.delay_s() or 0.0))
            case _:
                kind, facts = level(action, self._speech)
                if kind:
                    self._write(kind, **facts)

    def _note(self, action: do.BargedIn | do.LineEchoes | do.AddToPacket | do.EndCall) -> None:
        match action:
            case do.LineEchoes():
                self._write("fallback", what="audio.echo", to="half_duplex", why="the agent heard itself")
            case do.BargedIn():
                self._write("barge_in", heard=action.heard)
                self._turns.ended("interrupted", self._now_s)
            case do.AddToPacket():
                self._handover.add(action.transcript.text)
            case do.EndCall():
                self._turns.close(self._now_s)
                counters = {
                    **self._counters,
                    **self._foresight.counters,
                    **self._line.faults(),
                    "sentences": self._turns.counts.as_json(),
                }
                self._write("call_ended", reason=action.reason, length_s=round(self._now_s, 3),
                            turns=self.state.turn, stale_events=self.state.stale, counters=counters)  # fmt: skip
            case _:
                assert_never(action)

    def _spawn_ahead(
        self, number: int, name: str, work: Callable[[Any, Job], Coroutine[Any, Any, None]], on: object
    ) -> None:
        """A task that is given up as soon as the floor no longer names its number."""
        self._tentative.add(number)
        self._spawn(number, name, work, on)

    def _spawn(
        self, number: int, name: str, work: Callable[[Any, Job], Coroutine[Any, Any, None]], on: object
    ) -> None:
        """The only birthplace of tasks: named, inside the call's group, with its job on the clock."""
        if self._group is None:
            raise RuntimeError("the call is not running")
        job = self._line.clock.job()
        self._counters[name] += 1
        task = self._group.create_task(
            self._work(work, on, job), name=f"{self._records.call}:{name}:{number}"
        )
        self._tasks[number] = task, job

    async def _work(
        self, work: Callable[[Any, Job], Coroutine[Any, Any, None]], on: object, job: Job
    ) -> None:
        try:
            await work(on, job)
        finally:
            job.close()

    async def _cancel(self, number: int) -> None:
        """Cancels a task and waits for it, not for the thread it may have asked something of."""
        if (ahead := self._leans_on.pop(number, None)) is not None:
            await self._cancel(ahead)
        task, job = self._tasks.pop(number, (None, None))
        if task is None or job is None:
            return
        task.cancel()
        await asyncio.wait({task})
        job.close()

    async def _recognise(self, action: do.Recognise | do.RecogniseEarly, job: Job) -> None:
        turn = self._turn_in_hand
        transcript = await self._hearing.final(action, turn, job)
        if transcript is None:
            self._post(ev.RecognitionFailed(action.job))
            return
        if action.job == self.state.ahead.early:
            self._hearing.note(transcript, action.until_s, turn, transcript.text)
        else:
            self._turns.heard(transcript, action, turn, self._now_s)
        self._post(ev.Recognised(action.job, transcript, self._spoken_over(action)))

    def _spoken_over(self, span: do.Recognise | do.RecogniseEarly) -> str:
        """What of the agent's own words may have been recognised."""
        echoes = self._parts.echo.mode == "overlap_text"
        return self._speech.said_between(span.from_s, span.until_s) if echoes else ""

    async def _guess(self, action: do.Guess, job: Job) -> None:
        transcript = await self._hearing.guess(action, self._turn_in_hand, job)
        self._post(ev.Guessed(action.job, transcript, action.until_s))

    async def _speculate(self, ahead: Speculation, job: Job) -> None:
        self._post(await self._foresight.run(ahead, self._turn_in_hand, job))

    async def _reply(self, request: Request, job: Job) -> None:
        self._handover.looking = Looking(request.turn, request.transcript.text)
        outcome: ev.ReplyOutcome
        try:
            request = await self._parts.workers.hearing.run(asked_anew, request)
            kept = await Courtesies(request, self._parts, self._speech).answer(job)
            outcome = kept or await self._answer(request, job)
        except Exception as e:  # noqa: BLE001 - the reply's boundary: any fault becomes a recorded outcome
            self._write("error", where="reply", message=f"{type(e).__name__}: {e}")
            outcome = "failed"
        self._post(ev.ReplyEnded(request.reply, outcome))

    async def _answer(self, request: Request, job: Job) -> ev.ReplyOutcome:
        voice = Voice(self._speech, self._tally, lambda: self._post(ev.SentencePassed(request.reply)))
        replying = Replying(request, self._parts, voice, self._recorder, lambda: self._now_s)
        self._handover.looking = replying.looking
        return await replying.run(job)

    async def _own_words(self, action: OwnWord, job: Job) -> None:
        outcome: ev.ReplyOutcome
        try:
            outcome = await self._words.say(action, self.state.turn, job)
        except Exception as e:  # noqa: BLE001 - the reply's boundary: any fault becomes a recorded outcome
            self._write("error", where="own_words", message=f"{type(e).__name__}: {e}")
            outcome = "failed"
        self._post(ev.ReplyEnded(action.reply, outcome))

    async def _hand_over(self, kept: bool | None, job: Job) -> None:
        self._post(ev.HandoffEnded(await self._handover.run(kept, job, lambda: self._now_s)))

    def _post(self, event: ev.Event) -> None:
        if len(self._inbox) >= MAX_WAITING_EVENTS:
            raise RuntimeError(f"{MAX_WAITING_EVENTS} events wait for one frame; a task has run wild")
        self._inbox.append(event)

    def _write(self, kind: str, **data: object) -> None:
        self._recorder.write(kind, self._now_s, self.state.turn, **data)
