"""One phone call: frames in, frames out, and the loop between them.

The frame is the beat. On every frame: results that have come in are handled, the frame is classified, `step` decides,
its actions are carried out (acting.py), and the agent's side of the same stretch of time is played.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from dataclasses import replace

import numpy as np

from audio.playback import Playback
from audio.types import CALL_RATE_HZ, AudioFrame
from voice_agent.call.acting import Acting, Call
from voice_agent.call.line import Line, Records
from voice_agent.call.listen import Listener
from voice_agent.call.parts import Parts
from voice_agent.call.speech import Speech
from voice_agent.call.tasks import Tasks
from voice_agent.call.turns import Turns
from voice_agent.floor import events as ev
from voice_agent.floor import state as fl
from voice_agent.floor.duties import Duties
from voice_agent.floor.echo import deaf
from voice_agent.floor.step import step

MAX_WAITING_EVENTS = 256
"""Events between two frames. A handful is normal; more is a task that has run wild."""


class Session:
    """Runs one call to its end. One object a call. `duties` are what it keeps beside answering."""

    def __init__(self, parts: Parts, line: Line, records: Records, duties: Duties | None = None) -> None:
        duties = duties or parts.rules.duties
        self._parts = parts
        self._rules = replace(parts.rules, duties=duties)
        self._line = line
        self._speech = Speech(Playback(CALL_RATE_HZ), records.recorder)
        self._turns = Turns(records.recorder, self._speech)
        keep_s = parts.rules.max_utterance_s + parts.preroll_s + 5
        self._listener = Listener(parts.detector(), parts.segment_rules, keep_s)
        self._tasks = Tasks(records.call, line.clock)
        self._inbox: deque[ev.Event] = deque()
        self._now_s = 0.0
        self._sounded_s = -math.inf
        self.state = fl.State()
        self._call = Call(
            self._listener,
            self._speech,
            self._turns,
            self._tasks,
            records.recorder,
            lambda: self._now_s,
            lambda: self.state,
            self._post,
        )
        self._acting = Acting(parts, duties, line, records, self._call)

    async def run(self) -> None:
        """Returns when the call has ended. Raises AudioError when the line itself fails."""
        async with asyncio.TaskGroup() as self._tasks.group:
            await self._handle(ev.CallBegan())
            while self.state.floor is not fl.Floor.ENDED:
                frame = await self._line.caller.read()
                if frame is None:
                    if self.state.floor is fl.Floor.HANDING_OFF and not self._speech.idle:
                        self._call.write("handoff_unspoken")
                    await self._handle(ev.HangUp())
                    break
                await self._beat(frame)
            await self._acting.end()

    def hand_over(self) -> None:
        """A person shall take the caller over: the sentence being said ends, then the call does as after a fault."""
        self._post(ev.Fault())

    def dialled(self, keys: str, *, person: bool) -> None:
        """The caller pressed these keys of the telephone; `person`: they call for one."""
        self._call.write("keys", text=keys)
        if person:
            self._post(ev.PersonCalled())

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
        self._acting.silence()
        self._call.write("error", where="unchecked", message=why)
        await self._handle(ev.Fault())

    async def _handle(self, event: ev.Event) -> None:
        before = self.state
        try:
            self.state, actions = step(before, event, self._rules)
        except fl.IllegalEventError as e:
            self._call.write("error", where="floor", message=str(e))
            self.state, actions = step(before, ev.Fault(), self._rules)
        if self.state.caller is fl.Caller.VOICED and before.caller is not fl.Caller.VOICED:
            self._call.write("speech_started")
        if isinstance(event, ev.ReplyEnded) and event.reply == before.reply:
            self._turns.ended(event.outcome, self._now_s)
            self._line.caller.agent_finished(self._now_s)
        await self._acting.carry_out(actions)

    def _post(self, event: ev.Event) -> None:
        if len(self._inbox) >= MAX_WAITING_EVENTS:
            raise RuntimeError(f"{MAX_WAITING_EVENTS} events wait for one frame; a task has run wild")
        self._inbox.append(event)
