"""What is handed to the loudspeaker is played, all of it, in order, and counted."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from audio.devices import Format
from audio.speaker import FULL_S, MAX_RESERVE_S, RESERVE_S, Speaker
from audio.types import FRAME_SAMPLES, Samples
from tests.audio.sound_fakes import SPK, FakeClock, FakeStream

SILENCE = np.zeros(FRAME_SAMPLES, dtype=np.float32)


def level(value: float) -> Samples:
    return np.full(FRAME_SAMPLES, value, dtype=np.float32)


def opened(rate_hz: int = 16_000, channels: int = 1, latency_s: float = 0.04) -> tuple[Speaker, FakeStream]:
    speaker = Speaker(FakeClock())
    speaker.attach(Format(rate_hz, channels))
    speaker.latency_s = latency_s
    return speaker, FakeStream("output", SPK, Format(rate_hz, channels), speaker.callback)


def without_silence(sound: Samples) -> list[float]:
    return [float(value) for value in sound if abs(value) > 0.01]


def test_everything_is_played_in_order() -> None:
    """Sound handed over is heard sample for sample, whatever blocks the device asks for."""
    speaker, stream = opened()
    heard = []
    for n in range(20):
        speaker.feed(level((n + 1) / 40))
        heard.append(stream.play(317))
    heard += [stream.play(317) for _ in range(5)]
    expected = [(n + 1) / 40 for n in range(20) for _ in range(FRAME_SAMPLES)]
    assert without_silence(np.concatenate(heard)) == pytest.approx(expected, abs=0.001)


@pytest.mark.parametrize(("rate_hz", "channels"), [(8000, 1), (44_100, 2), (48_000, 1)])
def test_any_device_is_played_at_its_own_rate(rate_hz: int, channels: int) -> None:
    """One second of speech lasts one second, on every channel."""
    speaker, stream = opened(rate_hz, channels)
    size, heard = round(rate_hz * 0.02), []
    for n in range(80):
        speaker.feed(level(0.5) if n < 50 else SILENCE)
        heard.append(stream.play(size))
    assert len(without_silence(np.concatenate(heard))) == pytest.approx(rate_hz, rel=0.01)


def test_what_is_heard_comes_later_by_a_known_time() -> None:
    """`delay_s` is the samples that wait plus the device's own latency; a sample fed now is heard then."""
    speaker, stream = opened(latency_s=0.05)
    for _ in range(10):
        speaker.feed(SILENCE)
        stream.play(FRAME_SAMPLES)
    assert speaker.delay_s is not None
    waiting = round((speaker.delay_s - 0.05) * 16_000)
    speaker.feed(level(0.5))
    heard = np.concatenate([stream.play(FRAME_SAMPLES) for _ in range(6)])
    assert int(np.argmax(heard > 0.1)) == waiting


def test_silence_alone_is_left_out_when_too_much_waits() -> None:
    """Two clocks drift apart: the reserve is brought back to its length by silence, never by speech."""
    speaker, stream = opened()
    for n in range(10):
        speaker.feed(level((n + 1) / 20))
    for _ in range(40):
        speaker.feed(SILENCE)
    heard = np.concatenate([stream.play(FRAME_SAMPLES) for _ in range(60)])
    assert len(without_silence(heard)) == 10 * FRAME_SAMPLES
    speaker, stream = opened()
    for _ in range(100):
        speaker.feed(SILENCE)
    assert speaker.delay_s == pytest.approx(RESERVE_S + 0.04 + 0.02, abs=0.021)


def test_a_gap_inside_speech_is_counted_and_the_reserve_grows() -> None:
    """An underrun is one gap, counted once; silence before and after speech is none. A short reserve becomes longer."""
    speaker, stream = opened()
    for _ in range(5):
        stream.play(FRAME_SAMPLES)
        speaker.feed(SILENCE)
    for _ in range(3):
        speaker.feed(level(0.5))
    for _ in range(12):
        stream.play(FRAME_SAMPLES)
    assert speaker.underruns == 0
    speaker.feed(level(0.5))
    assert speaker.underruns == 1 and speaker.delay_s == pytest.approx(RESERVE_S + 0.04 + 0.04, abs=0.001)
    for _ in range(20):
        for _ in range(20):
            stream.play(FRAME_SAMPLES)
        speaker.feed(level(0.5))
    assert speaker.delay_s == pytest.approx(MAX_RESERVE_S + 0.04 + 0.02, abs=0.001)


def test_underflows_of_the_system_are_counted() -> None:
    """python-sounddevice#17: what the system itself missed is a number, and the sound goes on."""
    speaker, stream = opened()
    stream.play(FRAME_SAMPLES, lost=True)
    stream.play(FRAME_SAMPLES)
    assert speaker.underflows == 1


def test_a_stalled_device_is_full_and_loses_nothing() -> None:
    """hermes-live-voice#54: nothing more is asked for when the device stands still, and what waits is played later."""
    speaker, stream = opened()
    fed = 0
    while speaker.delay_s is not None:
        speaker.feed(level(0.5))
        fed += 1
    assert FULL_S / 0.02 - 3 <= fed <= FULL_S / 0.02 + 1
    for _ in range(500):
        speaker.feed(SILENCE)
    heard = np.concatenate([stream.play(FRAME_SAMPLES) for _ in range(60)])
    assert len(without_silence(heard)) == fed * FRAME_SAMPLES and speaker.delay_s is not None


def test_what_waits_outlives_the_device() -> None:
    """The rest of a sentence is played by the device that comes next, at its rate."""
    speaker, stream = opened(16_000)
    for _ in range(10):
        speaker.feed(level(0.5))
    first = stream.play(FRAME_SAMPLES * 4 + 100)
    speaker.attach(Format(48_000, 2))
    second = FakeStream("output", SPK, Format(48_000, 2), speaker.callback)
    rest = np.concatenate([second.play(960) for _ in range(15)])
    seconds = len(without_silence(first)) / 16_000 + len(without_silence(rest)) / 48_000
    assert seconds == pytest.approx(0.2, abs=0.002)


def test_the_callback_only_moves_bytes() -> None:
    """On the device's thread nothing of ours runs but the callback and the clock."""
    speaker, stream = opened(44_100, 2)
    for _ in range(5):
        speaker.feed(level(0.5))
    called: set[str] = set()

    def note(frame: object, event: str, _: object) -> None:
        if event == "call":
            called.add(frame.f_code.co_qualname)  # type: ignore[attr-defined]

    threading.setprofile(note)
    thread = threading.Thread(target=stream.callback, args=(bytearray(882 * 4), 882, None, False))
    thread.start()
    thread.join()
    threading.setprofile(None)  # type: ignore[arg-type]
    ours = {name for name in called if not name.startswith(("Thread", "Event", "Condition", "_"))}
    assert ours == {"Speaker.callback", "FakeClock.__call__"}
