"""Recordings that stand in for the caller, spoken at their cue: at the start, or so long after the agent spoke."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from audio.types import CALL_RATE_HZ, FRAME_SAMPLES, AudioFrame, Samples

Cue = Literal["start", "agent_started", "agent_finished"]


@dataclass(frozen=True, slots=True)
class Clip:
    """Sound at CALL_RATE_HZ, spoken `delay_s` after its cue."""

    samples: Samples
    cue: Cue = "start"
    delay_s: float = 0.0


class RecordedCaller:
    """Speaks its clips in order; a clip waits for the one before it to begin, then for its own cue.

    Between and after clips the line carries digital silence. Clips that come due while another is spoken follow it.
    """

    def __init__(self, clips: Sequence[Clip], stays_s: float = 0.0) -> None:
        """`stays_s`: the line is held at least so long, whatever is said."""
        self._stays = round(stays_s * CALL_RATE_HZ)
        self._waiting = deque(clips)
        self._due: deque[tuple[int, Samples]] = deque()
        self._speaking: Samples = np.zeros(0, dtype=np.float32)
        self._position = 0
        self._cued("start", 0.0)

    async def read(self) -> AudioFrame | None:
        """The next 20 ms."""
        if not len(self._speaking) and self._due and self._due[0][0] <= self._position:
            self._speaking = self._due.popleft()[1]
        block, self._speaking = self._speaking[:FRAME_SAMPLES], self._speaking[FRAME_SAMPLES:]
        samples = np.zeros(FRAME_SAMPLES, dtype=np.float32)
        samples[: len(block)] = block
        frame = AudioFrame(self._position, samples)
        self._position += FRAME_SAMPLES
        return frame

    @property
    def exhausted(self) -> bool:
        """Nothing is being said or about to be; a clip whose cue never comes does not count."""
        return not len(self._speaking) and not self._due and self._position >= self._stays

    def agent_started(self, at_s: float) -> None:
        self._cued("agent_started", at_s)

    def agent_finished(self, at_s: float) -> None:
        self._cued("agent_finished", at_s)

    def _cued(self, cue: Cue, at_s: float) -> None:
        while self._waiting and self._waiting[0].cue == cue:
            clip = self._waiting.popleft()
            self._due.append((round((at_s + clip.delay_s) * CALL_RATE_HZ), clip.samples))
            if cue != "start":
                return
