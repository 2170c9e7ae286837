"""A device's blocks become frames without a gap in time, and its thread only moves bytes."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from audio.devices import Format
from audio.microphone import MAX_BLOCKS, Microphone
from audio.types import CALL_RATE_HZ, FRAME_SAMPLES, AudioFrame, Samples
from tests.audio.sound_fakes import MIC, FakeClock, FakeStream


def tone(seconds: float, rate_hz: int) -> Samples:
    return (0.5 * np.sin(2 * np.pi * 440 * np.arange(round(seconds * rate_hz)) / rate_hz)).astype(np.float32)


def opened(clock: FakeClock, rate_hz: int = 16_000, channels: int = 1) -> tuple[Microphone, FakeStream]:
    microphone = Microphone(clock)
    microphone.attach(Format(rate_hz, channels))
    return microphone, FakeStream("input", MIC, Format(rate_hz, channels), microphone.callback)


def blocks(sound: Samples, size: int) -> list[Samples]:
    return [sound[at : at + size] for at in range(0, len(sound), size)]


def is_continuous(frames: list[AudioFrame]) -> bool:
    return [frame.start for frame in frames] == [n * FRAME_SAMPLES for n in range(len(frames))]


@pytest.mark.parametrize(
    ("rate_hz", "channels"), [(8000, 1), (16_000, 2), (44_100, 1), (48_000, 2), (96_000, 1)]
)
def test_any_device_gives_frames_of_the_call(rate_hz: int, channels: int) -> None:
    """The device's own rate and channels arrive as 20 ms at 16 kHz, the same sound at the same time."""
    clock = FakeClock()
    microphone, stream = opened(clock, rate_hz, channels)
    frames: list[AudioFrame] = []
    for block in blocks(tone(1.0, rate_hz), round(rate_hz * 0.02)):
        stream.hear(block)
        frames += microphone.take()
    assert is_continuous(frames) and 45 <= len(frames) <= 50  # the filter keeps the last
    heard = np.concatenate([frame.samples for frame in frames])[1600:-1600]
    assert np.abs(heard - tone(1.0, CALL_RATE_HZ)[1600 : 1600 + len(heard)]).max() < 0.02


def test_a_late_reader_loses_counted_sound_and_no_time() -> None:
    """The queue is bounded: what does not fit is counted, and silence of that length stands where it was."""
    microphone, stream = opened(FakeClock())
    for _ in range(MAX_BLOCKS + 10):
        stream.hear(np.full(FRAME_SAMPLES, 0.5, dtype=np.float32))
    frames = microphone.take()
    stream.hear(np.full(FRAME_SAMPLES, 0.25, dtype=np.float32))
    frames += microphone.take()
    lost = MAX_BLOCKS + 10 - (len([f for f in frames if not f.lost]) - 1)
    assert microphone.dropped == lost * FRAME_SAMPLES and lost in (10, 11)
    assert is_continuous(frames) and len(frames) == MAX_BLOCKS + 11
    assert [frame.lost for frame in frames[-lost - 1 :]] == [True] * lost + [False]


def test_what_the_system_lost_is_counted() -> None:
    """python-sounddevice#17: an overflow is a number in the journal, not a hang and not an exception."""
    microphone, stream = opened(FakeClock())
    stream.hear(np.zeros(FRAME_SAMPLES, dtype=np.float32), lost=True)
    stream.hear(np.zeros(FRAME_SAMPLES, dtype=np.float32))
    assert (microphone.overflows, microphone.dropped) == (1, 0)


def test_stream_time_never_stops() -> None:
    """From 200 ms without a block on, silence at the nominal rate; then the device goes on where time has come to."""
    clock = FakeClock()
    microphone, stream = opened(clock)
    stream.hear(tone(0.02, 16_000))
    frames = microphone.take()
    clock.now_s += 0.19
    assert microphone.take() == []
    for _ in range(100):
        clock.now_s += 0.01
        frames += microphone.take()
    assert len(frames) == 1 + round(1.19 / 0.02) and all(frame.lost for frame in frames[1:])
    stream.hear(tone(0.04, 16_000))
    frames += microphone.take()
    assert is_continuous(frames) and not frames[-1].lost


def test_another_rate_goes_on_in_the_same_time() -> None:
    """A device that comes back at another rate, or another device, never sets the clock back."""
    clock = FakeClock()
    microphone, stream = opened(clock, 48_000)
    for block in blocks(tone(0.5, 48_000), 960):
        stream.hear(block)
    microphone.attach(Format(8000, 2))
    second = FakeStream("input", MIC, Format(8000, 2), microphone.callback)
    for block in blocks(tone(0.5, 8000), 160):
        second.hear(block)
    frames = microphone.take()
    assert is_continuous(frames) and 45 <= len(frames) <= 51  # the filter keeps the last


def test_digital_silence_is_told_from_sound() -> None:
    """`sound_s` is when something was heard, so that a microphone that gives nothing but zeros can be noticed."""
    clock = FakeClock()
    microphone, stream = opened(clock)
    stream.hear(np.zeros(320, dtype=np.float32))
    microphone.take()
    assert microphone.sound_s is None
    stream.hear(tone(0.02, 16_000))
    microphone.take()
    clock.now_s += 5
    stream.hear(np.zeros(320, dtype=np.float32))
    microphone.take()
    assert microphone.sound_s == 100.0


def test_the_callback_only_moves_bytes() -> None:
    """On the device's thread nothing of ours runs but the callback and the clock: no framing, no resampling."""
    microphone, stream = opened(FakeClock(), 44_100)
    called: set[str] = set()

    def note(frame: object, event: str, _: object) -> None:
        if event == "call":
            called.add(frame.f_code.co_qualname)  # type: ignore[attr-defined]

    threading.setprofile(note)
    thread = threading.Thread(target=stream.callback, args=(bytes(1764), 882, None, False))
    thread.start()
    thread.join()
    threading.setprofile(None)  # type: ignore[arg-type]
    ours = {name for name in called if not name.startswith(("Thread", "Event", "Condition", "_"))}
    assert ours == {"Microphone.callback", "FakeClock.__call__"}
