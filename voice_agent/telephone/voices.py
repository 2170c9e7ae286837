"""What is sent for each 20 ms of the agent's side, as each kind of telephone line wants it. Pure."""

from __future__ import annotations

from typing import Protocol

from voice_agent.telephone import audiosocket, media_stream
from voice_agent.telephone.audiosocket import Kind
from voice_agent.telephone.flow import Spurts
from voice_agent.telephone.marks import Marks

TO_A_PERSON = frozenset({"handed_off", "max_length", "fault", "busy"})
"""Endings after which a person takes the caller over; after the others the caller is done with."""

DONE = b"\x00"
"""Our code in AudioSocket's error frame: no fault, but nothing is to follow for this caller."""

Item = str | bytes


class Voice(Protocol):
    """The agent's side of one kind of line."""

    @property
    def delay_s(self) -> float:
        """How long the far side holds our sound back."""
        ...

    @property
    def waiting(self) -> bool:
        """The far side has not played all of it yet."""
        ...

    def beat(self, packet: bytes, now_s: float, *, cleared: bool) -> list[Item]:
        """What to send for the next 20 ms. `cleared`: first, what was sent and not heard is to be dropped."""
        ...

    def reached(self, mark: str, now_s: float) -> None:
        """A mark has come back."""
        ...

    def ending(self, reason: str) -> list[Item]:
        """What to send last."""
        ...


class AudioSocketVoice:
    """Every packet, silence too: Asterisk passes them on one by one and holds nothing back.

    A hang-up lets the dialplan go on, to a person. An error frame makes Asterisk hang up the caller.
    """

    delay_s = 0.0
    waiting = False

    def beat(self, packet: bytes, now_s: float, *, cleared: bool) -> list[Item]:
        """Nothing can be taken back, and nothing needs to be."""
        return [audiosocket.frame(Kind.SOUND, packet)]

    def reached(self, mark: str, now_s: float) -> None:
        """There are no marks."""

    def ending(self, reason: str) -> list[Item]:
        goes_on = reason in TO_A_PERSON
        return [audiosocket.frame(Kind.HANG_UP) if goes_on else audiosocket.frame(Kind.ERROR, DONE)]


class MediaStreamVoice:
    """Speech without the silence between, a mark at its begin and its end; what is cut is cleared."""

    def __init__(self, stream: str, silence: bytes) -> None:
        self._stream = stream
        self._spurts = Spurts(silence)
        self._marks = Marks()

    @property
    def delay_s(self) -> float:
        return self._marks.delay_s

    @property
    def waiting(self) -> bool:
        return self._marks.waiting

    def beat(self, packet: bytes, now_s: float, *, cleared: bool) -> list[Item]:
        items: list[Item] = []
        if cleared:
            self._spurts.clear()
            self._marks.clear()
            items.append(media_stream.clear(self._stream))
        out = self._spurts.send(packet)
        items += [media_stream.media(self._stream, sound) for sound in out.packets]
        if (out.began or out.ended) and (name := self._marks.place(now_s)):
            items.append(media_stream.mark(self._stream, name))
        return items

    def reached(self, mark: str, now_s: float) -> None:
        self._marks.reached(mark, now_s)

    def ending(self, reason: str) -> list[Item]:
        return [media_stream.stop(self._stream, reason)]
