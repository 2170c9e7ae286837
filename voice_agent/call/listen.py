"""The agent's ear: frames in, voice or silence out, and the sound of a span on request."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from audio.segments import FrameFlag, SegmentRules, SegmentState, step
from audio.types import CALL_RATE_HZ, FRAME_MS, Activity, AudioFrame, Samples


class VoiceActivity(Protocol):
    """Is there a voice in this frame? Stateful: one object a call."""

    def is_voiced(self, frame: AudioFrame) -> bool: ...


@dataclass(frozen=True, slots=True)
class Utterance:
    """The sound of a span of the call, float32 at CALL_RATE_HZ, and how long in it a voice was heard."""

    samples: Samples
    voiced_s: float


class Listener:
    """Keeps the last `keep_s` seconds, so that a turn can be cut out with what came just before it."""

    def __init__(self, detector: VoiceActivity, rules: SegmentRules, keep_s: float) -> None:
        self._detector = detector
        self._rules = rules
        self._segments = SegmentState()
        self._kept: deque[tuple[AudioFrame, bool]] = deque(maxlen=int(keep_s * 1000 / FRAME_MS))

    def hear(self, frame: AudioFrame, *, deaf: bool = False) -> Activity:
        """Takes the next frame; `deaf`, as silence, though the detector goes on learning the line.

        Raises audio.errors.ModelError.
        """
        flag = self._detector.is_voiced(frame) and not deaf
        if deaf:
            frame = AudioFrame(frame.start, np.zeros_like(frame.samples))
        timed = FrameFlag(frame.start_s, frame.end_s, flag)
        self._segments, activity = step(self._segments, timed, self._rules)
        self._kept.append((frame, flag))
        return activity

    def cut(self, from_s: float, until_s: float) -> Utterance:
        """The sound from `from_s` to `until_s`, whole frames, as far back as is kept."""
        span = [
            (frame, flag) for frame, flag in self._kept if frame.end_s > from_s and frame.start_s < until_s
        ]
        samples = [frame.samples for frame, _ in span] or [np.zeros(0, dtype=np.float32)]
        voiced = sum(len(frame.samples) for frame, flag in span if flag)
        return Utterance(np.concatenate(samples), voiced / CALL_RATE_HZ)
