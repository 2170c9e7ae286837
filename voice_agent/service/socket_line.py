"""The line to a caller behind a WebSocket: it outlives its connections, as a telephone line outlives a bad moment.

While no connection is there, the caller's side is silent and speech waits; after `resume_s` of that the line is dead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from audio.microphone import Microphone
from audio.sound_line import DeviceNews
from audio.types import Samples
from voice_agent.service.call_shapes import Flush, Start
from voice_agent.service.incoming import Incoming
from voice_agent.service.outgoing import Outgoing

IDLE_S = 15.0
"""Without a message of sound for so long, nobody is there: pages send silence too."""

DEAF_S = 2.0
"""Without sound from the caller for so long, speech waits: the connection may be broken and not know it."""

Put = Callable[[bytes | Flush], None]
"""Takes what is to be sent."""


class SocketLine:
    """One a call, on its event loop. `beat` is called once a frame; `clock` gives seconds."""

    def __init__(self, start: Start, resume_s: float, put: Put, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._resume_s = resume_s
        self._put = put
        self._incoming = Incoming(start.codec, start.rate, clock)
        self._outgoing = Outgoing(clock)
        self._connections = 0
        self._left_s = clock()
        self._hung_up = self._lost = False
        self._news: list[DeviceNews] = []
        self.beat: Callable[[], None] = lambda: None

    @property
    def frames(self) -> Microphone:
        """The caller's sound."""
        return self._incoming.frames

    @property
    def devices(self) -> SocketLine:
        """The connections stand where devices stand elsewhere."""
        return self

    @property
    def dead(self) -> bool:
        """Somebody hung up, or nobody came back in time."""
        left = not self._connections and self._clock() - self._left_s > self._resume_s
        return self._hung_up or left

    @property
    def idle(self) -> bool:
        """A connection is there, and no sound has come over it for too long."""
        since_s = max(self._incoming.sound_s, self._left_s)
        return bool(self._connections) and self._clock() - since_s > IDLE_S

    def news(self) -> list[DeviceNews]:
        """The coming and going of connections since the last call."""
        news, self._news = self._news, []
        return news

    @property
    def delay_s(self) -> float | None:
        """Until what is played now is heard; None while nobody may hear it."""
        deaf = self._clock() - self._incoming.sound_s > DEAF_S
        return None if deaf or not self._connections else self._outgoing.delay_s

    def play(self, caller: Samples, agent: Samples) -> None:
        """Sends the agent's side; the caller knows their own."""
        self.beat()
        if (sound := self._outgoing.feed(agent)) is not None:
            self._put(sound)

    def flush(self) -> None:
        """Tells the page to drop what it has not played."""
        if (position := self._outgoing.flush()) is not None:
            self._put(Flush(samples=position))

    def faults(self) -> Mapping[str, int]:
        """Counted for the journal."""
        return self._incoming.faults()

    def sound(self, data: bytes) -> None:
        """A message of the caller's sound. Raises Problem."""
        self._incoming.push(data)

    def played(self, samples: int) -> None:
        """The page has played so far."""
        self._outgoing.played(samples)

    def attach(self) -> None:
        """A connection is there; another one may be going at the same time."""
        self._connections += 1
        if self._lost:
            self._lost = False
            self._news.append(DeviceNews("input", "back", "connection", ""))

    def detach(self, why: str) -> None:
        """A connection is gone."""
        self._connections -= 1
        self._left_s = self._clock()
        if not self._connections and not self._hung_up:
            self._lost = True
            self._news.append(DeviceNews("input", "lost", "connection", why))

    def hang_up(self) -> None:
        """The line ends at the next frame."""
        self._hung_up = True
