"""What the agent says, from the first synthesised block to the record of what was heard of it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from audio.playback import Finished, Playback, Started
from audio.types import CALL_RATE_HZ, Samples
from voice_agent.call.clock import Job
from voice_agent.call.sounded import CHARACTERS_A_SECOND, Sounded
from voice_agent.floor.events import ReplyId
from voice_agent.record.journal import Recorder

MAX_QUEUED_S = 120.0
"""Bound of the queue. Two short sentences never reach it; a generator that does not stop is a fault."""


MAX_UNBEGUN = 2
"""Checked sentences of a reply that wait to be played: enough that none is waited for, few for a halt to drop."""


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence to be spoken: whose reply it is, its place in it, and what it rests on ("phrase" for our own).

    `text` is what is synthesised; `written` is the sentence as it stands in the documents, for later turns to lean on.
    `said` tells a sentence of the answer, made now or said once more, from our own phrases, and of those the one that
    only bridges a wait, and the one that leads in a reply.
    """

    reply: ReplyId | None
    turn: int
    index: int
    text: str
    source: str
    written: str
    said: Literal["answer", "again", "phrase", "hold", "lead_in"] = "answer"


@dataclass(frozen=True, slots=True)
class Sounding:
    """A line began to be audible at `at_s`."""

    line: Line
    at_s: float


class QueueFullError(Exception):
    """More speech was queued than a call may hold; nothing of it was dropped."""


class Speech:
    """The agent's mouth. Its owner calls `take` once a frame; everything else may come from the reply's task."""

    def __init__(self, playback: Playback, recorder: Recorder) -> None:
        self._playback = playback
        self._recorder = recorder
        self._lines: dict[int, Line] = {}
        self._began: dict[int, float] = {}
        self._waiting: dict[ReplyId | None, asyncio.Event] = {}
        self._full: dict[ReplyId | None, asyncio.Event] = {}
        self._heard: dict[ReplyId | None, list[Line]] = {}
        self._cut: dict[ReplyId | None, Line] = {}
        self._sounded = Sounded()
        self._at_s = self._ducked_s = 0.0
        self._broken: set[int] = set()
        self._last_item = 0

    @property
    def idle(self) -> bool:
        return self._playback.idle

    def begin(self, line: Line) -> int:
        """A new item at the end of the queue; returns its number."""
        self._last_item += 1
        self._lines[self._last_item] = line
        return self._last_item

    def add(self, item: int, samples: Samples) -> None:
        """Raises QueueFullError."""
        if item not in self._lines:
            return  # dropped meanwhile: its reply was cut or halted
        if self._playback.queued_s > MAX_QUEUED_S:
            raise QueueFullError(
                f"over {MAX_QUEUED_S:.0f} s of speech are waiting; the generator does not stop"
            )
        self._playback.add(item, samples)

    def complete(self, item: int) -> None:
        self._playback.complete(item)

    def break_off(self, item: int) -> None:
        """No more of it will come: it ends with what is queued, and is recorded as not said to its end."""
        self._broken.add(item)
        self._playback.complete(item)

    def played_out(self, reply: ReplyId | None) -> asyncio.Event:
        """Set once nothing of the reply is left to be heard. Ask for it after its last item is complete."""
        event = self._waiting.setdefault(reply, asyncio.Event())
        self._wake()
        return event

    def room(self, reply: ReplyId) -> asyncio.Event:
        """Set once fewer than MAX_UNBEGUN lines of the reply wait to be played. One asker a reply."""
        event = self._full.setdefault(reply, asyncio.Event())
        self._wake()
        return event

    async def say(self, sound: Samples, phrase: str, reply: ReplyId | None, turn: int, job: Job) -> None:
        """One of our own phrases, its sound at hand; returns when it was heard to its end."""
        item = self.begin(Line(reply, turn, 0, phrase, "phrase", phrase, "phrase"))
        self.add(item, sound)
        self.complete(item)
        await job.wait(self.played_out(reply))

    def hold(self, sound: Samples, phrase: str, turn: int) -> None:
        """Our phrase that bridges a wait. Nobody's reply: what is queued after it waits for its end."""
        item = self.begin(Line(None, turn, 0, phrase, "phrase", phrase, "hold"))
        self.add(item, sound)
        self.complete(item)

    def lead_in(self, sound: Samples, phrase: str, reply: ReplyId, turn: int) -> bool:
        """Our phrase before the reply's first sentence, unless some sound is there already; False then."""
        if not self.idle:
            return False
        item = self.begin(Line(reply, turn, 0, phrase, "phrase", phrase, "lead_in"))
        self.add(item, sound)
        self.complete(item)
        return True

    def heard(self, reply: ReplyId | None) -> tuple[Line, ...]:
        """The reply's lines that were played to their end, in order."""
        return tuple(self._heard.get(reply, ()))

    def cut(self, reply: ReplyId | None) -> Line | None:
        """The reply's line that was broken off while it was heard, if one was."""
        return self._cut.get(reply)

    def forget(self, reply: ReplyId | None) -> None:
        """Nobody will ask what was heard of this reply any more."""
        self._heard.pop(reply, None)
        self._cut.pop(reply, None)

    def said_between(self, from_s: float, until_s: float) -> str:
        """What the agent was saying in this span of the call, as an echo could hold it."""
        return self._sounded.between(from_s, until_s)

    def take(self, count: int, at_s: float) -> tuple[Samples, list[Sounding]]:
        """The next `count` samples of the agent's side from `at_s`, and the lines that became audible in them."""
        samples, facts = self._playback.take(count)
        self._at_s = at_s + count / CALL_RATE_HZ
        sounding = []
        for fact in facts:
            then_s = at_s + fact.offset / CALL_RATE_HZ
            match fact:
                case Started():
                    self._began[fact.item] = then_s
                    sounding.append(Sounding(self._lines[fact.item], then_s))
                    self._wake()
                case Finished():
                    self._end(fact.item, then_s, complete=True)
        self._follow()
        return samples, sounding

    def duck(self) -> None:
        self._ducked_s = self._at_s
        self._playback.duck()

    def unduck(self) -> None:
        self._playback.unduck()

    def pause(self) -> float | None:
        """Returns the moment of the duck before it, from which on it will be said again; None if there was none."""
        again_from_s = round(self._ducked_s, 3) if self._playback.gain < 1.0 else None
        self._playback.pause()
        return again_from_s

    def resume(self) -> None:
        self._playback.resume()

    def halt(self) -> None:
        """The line now playing goes on to its end, those not yet begun are dropped."""
        self._playback.unduck()
        self._playback.resume()
        for item in self._playback.drop_unstarted():
            self._lines.pop(item)
        self._forget_unqueued()

    def silence(self, at_s: float) -> None:
        """Everything stops now; what was cut is recorded with the part that was heard."""
        heard: Mapping[int, float] = self._playback.silence()
        for item in heard:
            if item in self._began:
                self._end(item, at_s, complete=False)
        self._lines.clear()
        self._wake()

    def _forget_unqueued(self) -> None:
        self._lines = {item: line for item, line in self._lines.items() if item in self._began}
        self._wake()

    def _end(self, item: int, at_s: float, *, complete: bool) -> None:
        line = self._lines.pop(item)
        began_s = self._began.pop(item)
        complete = complete and item not in self._broken
        if line.reply is None:
            pass  # a phrase of the call itself is nobody's answer
        elif complete:
            self._heard.setdefault(line.reply, []).append(line)
        else:
            self._cut[line.reply] = line
        spoken = {"index": line.index, "text": line.text, "source": line.source, "complete": complete}
        self._recorder.write(
            "spoken", at_s, line.turn, start_s=round(began_s, 3), end_s=round(at_s, 3), **spoken
        )
        self._wake()

    def _follow(self) -> None:
        if (now := self._playback.sounding()) is None:
            return
        item, heard_s, whole_s = now
        line = self._lines[item]
        length_s = max(heard_s, whole_s or len(line.text) / CHARACTERS_A_SECOND)
        self._sounded.sounding(item, (line.text, line.written), self._at_s, heard_s / length_s)

    def _wake(self) -> None:
        live = {line.reply for line in self._lines.values()}
        for reply in [reply for reply in self._waiting if reply not in live]:
            self._waiting.pop(reply).set()
        unbegun = Counter(line.reply for item, line in self._lines.items() if item not in self._began)
        for reply in [reply for reply in self._full if unbegun[reply] < MAX_UNBEGUN]:
            self._full.pop(reply).set()
