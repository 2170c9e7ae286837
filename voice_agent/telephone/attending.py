"""One call on a telephone line, from the first news to the last word, whichever way the line comes.

Three things go on side by side: what the line tells is taken in, every 20 ms of the agent's side go out, and the call
is held. When the call has ended, its last words are heard first; then the telephone side is told why.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, assert_never

import anyio

from audio.errors import AudioError
from voice_agent.errors import AgentError
from voice_agent.live_call import LiveCall
from voice_agent.record.measures import Data
from voice_agent.service.hosting import Host, Terms
from voice_agent.service.problem import Problem
from voice_agent.telephone.keypad import Keypad
from voice_agent.telephone.line import PACKET_S, TelephoneLine
from voice_agent.telephone.news import Began, Broken, Ended, News, Pressed, Reached, Sound
from voice_agent.telephone.voices import Item, Voice

FIRST_S = 5.0
"""From the connection to the news that begin the call. Who sends nothing holds no place for longer."""

SEND_S = 3.0
"""In which the far side must take what is sent. Slower, and it is not playing it."""

LAST_WORDS_S = 3.0
"""At most so long after the end of a call its last words may still be on their way to the caller's ear."""

LATE_S = 0.2
"""A beat later than this is not caught up with: the sound is late, not hurried."""


class LineLostError(Exception):
    """The connection is gone. Raised by the connections, once for every library's own error."""


class Connection(Protocol):
    """One line, whichever way it comes."""

    async def receive(self) -> Sequence[News]:
        """What comes next, as soon as something does. Raises LineLostError."""
        ...

    async def send(self, item: Item) -> None:
        """Raises LineLostError."""
        ...


@dataclass(frozen=True, slots=True)
class Attendance:
    """Who attends to a line. `client` is whom it belongs to; `door` begins the call's name; `person_key` is one of
    KEYS, or empty."""

    host: Host
    door: str
    client: str
    record: bool
    person_key: str


@dataclass(frozen=True, slots=True)
class Opening:
    """A call that has begun, and the news that came along with that."""

    began: Began
    rest: Sequence[News]


async def opening(connection: Connection) -> Opening | Broken:
    """Waits for the news that begin a call. Whoever does not begin one in time is Broken."""
    news: Sequence[News] = ()
    try:
        with anyio.fail_after(FIRST_S):
            while not news:
                news = await connection.receive()
    except TimeoutError:
        return Broken(f"no call began within {FIRST_S:.0f} s")
    except LineLostError:
        return Broken("the connection was lost before a call began")
    match news[0]:
        case Began():
            return Opening(news[0], news[1:])
        case Broken():
            return news[0]
        case _:
            return Broken("the line was hung up before a call began")


async def attend(connection: Connection, opened: Opening, voice: Voice, attendance: Attendance) -> str:
    """Holds the call in a place of the host's; returns why it ended: the session's reason, or `fault`.

    What is to be sent last is left to the caller. Raises Problem when there is no place.
    """
    with attendance.host.place():
        line = TelephoneLine(opened.began.encoding, voice, time.monotonic)
        attending = Attending(connection, line, voice, Keypad(attendance.person_key))
        terms = Terms(attendance.door, attendance.client, attendance.record)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(attending.take_in, opened.rest, name="telephone:take_in")
            tasks.start_soon(attending.speak, name="telephone:speak")
            try:
                await attendance.host.hold(line, terms, attending)
            except (AgentError, AudioError, Problem) as e:
                attending.reason = "fault"
                line.end(str(e))
            await attending.last_words()
            tasks.cancel_scope.cancel()
        return attending.reason


@dataclass(slots=True)
class Attending:
    """What is known of the call while it goes on; it also sees the call's events."""

    connection: Connection
    line: TelephoneLine
    voice: Voice
    keypad: Keypad
    reason: str = "hung_up"
    call: LiveCall | None = field(default=None)

    def begin(self, call: LiveCall) -> None:
        """The call is about to run."""
        self.call = call

    def saw(self, kind: str, t: float, turn: int, data: Data) -> None:
        """An event of the call."""
        if kind == "call_ended":
            self.reason = str(data["reason"])

    async def take_in(self, rest: Sequence[News]) -> None:
        """What the line tells, until it ends, `rest` before everything else."""
        try:
            for news in rest:
                self._told(news)
            while not self.line.ended:
                for news in await self.connection.receive():
                    self._told(news)
        except LineLostError as e:
            self.line.end(str(e))

    async def speak(self) -> None:
        """The agent's side, 20 ms after 20 ms, until the line ends."""
        due_s = time.monotonic()
        try:
            while not self.line.ended:
                now_s = time.monotonic()
                self._dial(now_s)
                cleared, self.line.cleared = self.line.cleared, False
                for item in self.voice.beat(self.line.packet(), now_s, cleared=cleared):
                    await send(self.connection, item)
                due_s += PACKET_S
                due_s = max(due_s, time.monotonic() - LATE_S)
                await anyio.sleep(max(0.0, due_s - time.monotonic()))
        except LineLostError as e:
            self.line.end(str(e))

    async def last_words(self) -> None:
        """Waits until everything said was heard."""
        with anyio.move_on_after(LAST_WORDS_S):
            while not self.line.ended and (self.line.speaking or self.voice.waiting):  # noqa: ASYNC110 - no event
                await anyio.sleep(PACKET_S)

    def _told(self, news: News) -> None:
        match news:
            case Sound():
                self.line.hear(news.data)
            case Pressed():
                self._dial(time.monotonic(), news.key)
            case Reached():
                self.voice.reached(news.mark, time.monotonic())
            case Ended():
                self.line.hang_up()
            case Broken():
                self.line.end(news.why)
            case Began():
                self.line.end("a call began within a call")
            case _:
                assert_never(news)

    def _dial(self, now_s: float, key: str = "") -> None:
        dialled = self.keypad.press(key, now_s) if key else self.keypad.pause(now_s)
        if dialled is not None and self.call is not None:
            self.call.session.dialled(dialled.keys, person=dialled.person)


async def send(connection: Connection, item: Item) -> None:
    """Raises LineLostError, also when the far side does not take it in time."""
    try:
        with anyio.fail_after(SEND_S):
            await connection.send(item)
    except TimeoutError as e:
        raise LineLostError(f"the telephone side took nothing for {SEND_S:.0f} s") from e
