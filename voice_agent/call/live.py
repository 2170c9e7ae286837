"""A caller at a microphone: the devices' frames as a call reads them, and what becomes of the devices, journalled."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Protocol

from audio.sound_line import DeviceNews
from audio.types import AudioFrame
from voice_agent.record.journal import Recorder

POLL_S = 0.005
"""Wall seconds between two looks for a frame. The devices' threads never touch the event loop, so it has to look; the
mean delay is half of this."""


class FrameSource(Protocol):
    """What `read` needs of a microphone."""

    def take(self) -> Sequence[AudioFrame]:
        """The frames that are complete by now."""
        ...


class Devices(Protocol):
    """What `read` needs of the devices."""

    @property
    def dead(self) -> bool:
        """They have been gone for too long."""
        ...

    def news(self) -> Sequence[DeviceNews]:
        """What became of them since the last call."""
        ...


class LiveCaller:
    """Frames as they come, until somebody hangs up (`hung_up`) or the devices are gone for good."""

    def __init__(self, microphone: FrameSource, devices: Devices, recorder: Recorder) -> None:
        self._microphone = microphone
        self._devices = devices
        self._recorder = recorder
        self._frames: deque[AudioFrame] = deque()
        self._at_s = 0.0
        self.hung_up = False

    async def read(self) -> AudioFrame | None:
        """The next frame, as soon as there is one."""
        while not self.hung_up and not self._devices.dead:
            self._tell_news()
            if self._frames:
                frame = self._frames.popleft()
                self._at_s = frame.end_s
                return frame
            self._frames.extend(self._microphone.take())
            if not self._frames:
                await asyncio.sleep(POLL_S)
        self._tell_news()
        return None

    @property
    def exhausted(self) -> bool:
        """A live caller may always say more."""
        return False

    def agent_started(self, at_s: float) -> None:
        """A person hears that for himself."""

    def agent_finished(self, at_s: float) -> None:
        """A person hears that for himself."""

    def hang_up(self) -> None:
        """The line ends at the next frame. Safe in a signal handler."""
        self.hung_up = True

    def _tell_news(self) -> None:
        for news in self._devices.news():
            facts = {"side": news.side, "state": news.state, "name": news.name, "detail": news.detail}
            self._recorder.write("device", self._at_s, 0, **facts)
