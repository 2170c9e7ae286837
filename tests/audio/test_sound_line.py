"""Devices that are refused, lost, changed, muted and found again, in time that the test moves."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from audio.devices import Device, Format
from audio.errors import DeviceError
from audio.sound_line import DEAD_S, MAX_RETRY_S, MUTE_S, SETTLING_S, DeviceNews, SoundLine, Wanted
from tests.audio.sound_fakes import MIC, SPK, USB, FakeClock, FakeSystem

FRAME = np.full(320, 0.25, dtype=np.float32)


def line(system: FakeSystem, wanted: Wanted | None = None) -> tuple[SoundLine, FakeClock]:
    clock = FakeClock()
    sound = SoundLine(system, wanted or Wanted(), clock)
    sound.open()
    return sound, clock


def pass_time(
    sound: SoundLine, clock: FakeClock, seconds: float, *, alive: tuple[str, ...] = ("input", "output")
) -> None:
    """Looks every 0.1 s; the sides that are alive keep giving blocks."""
    for _ in range(round(seconds / 0.1)):
        clock.now_s += 0.1
        if "input" in alive:
            sound.microphone.block_s = clock.now_s
        if "output" in alive:
            sound.speaker.block_s = clock.now_s
        sound.look()


def states(sound: SoundLine) -> list[tuple[str, str, str]]:
    return [(news.side, news.state, news.name) for news in sound.news()]


def test_both_sides_are_open_or_none() -> None:
    """A call begins with a microphone and a loudspeaker, or with one line; nothing stays open then."""
    system = FakeSystem()
    sound, clock = line(system)
    pass_time(sound, clock, 1.0)
    assert sound.news()[0] == DeviceNews("input", "open", MIC.name, "44100 Hz, 40 ms")
    half = FakeSystem(refuses=lambda device, side, fmt: side == "output")
    with pytest.raises(DeviceError, match=SPK.name):
        line(half)
    assert [stream.closed for stream in half.opened] == [True]


def test_a_refused_rate_is_not_the_end() -> None:
    """python-sounddevice#124: the device's own rate is refused, the next one is taken and the sound still fits."""
    system = FakeSystem(refuses=lambda device, side, fmt: side == "input" and fmt != Format(48_000, 1))
    sound, clock = line(system)
    pass_time(sound, clock, 1.0)
    for _ in range(5):
        system.last("input").hear(np.full(960, 0.25, dtype=np.float32))
    assert sound.news()[0].detail.startswith("48000 Hz") and len(sound.microphone.take()) >= 4


@pytest.mark.parametrize("how", ["ended", "silent"])
def test_a_lost_microphone_is_said_and_found_again(how: str) -> None:
    """python-sounddevice#325: the stream ends, or runs on without a block: both are a loss; the call's side stays."""
    system = FakeSystem()
    sound, clock = line(system)
    pass_time(sound, clock, SETTLING_S)
    sound.news()
    system.devices = [SPK]
    system.last("input").active = how == "silent"
    pass_time(sound, clock, 2.0, alive=("output",))
    assert states(sound) == [("input", "lost", MIC.name)]
    assert not system.last("output").closed
    system.devices = [SPK, MIC]
    pass_time(sound, clock, MAX_RETRY_S)
    assert states(sound) == [("input", "back", MIC.name)]
    system.last("input").hear(FRAME)
    sound.microphone.take()
    pass_time(sound, clock, 1.0)
    assert states(sound) == [] and not sound.dead


def test_a_lost_loudspeaker_keeps_what_it_was_given() -> None:
    """The sentence goes on where the device stopped."""
    system = FakeSystem()
    sound, clock = line(system)
    for _ in range(10):
        sound.speaker.feed(FRAME)
    heard = [system.last("output").play(960)]
    system.last("output").active = False
    pass_time(sound, clock, 1.0)
    assert ("output", "back", SPK.name) in states(sound)
    heard += [system.last("output").play(960) for _ in range(20)]
    assert (np.concatenate(heard) > 0.2).sum() == pytest.approx(10 * 960, rel=0.02)


def test_another_device_takes_over_where_none_was_named() -> None:
    """The microphone is gone and the system has another choice now: that one is opened, and named."""
    system = FakeSystem()
    sound, clock = line(system)
    pass_time(sound, clock, 1.0)
    sound.news()
    system.devices = [SPK, USB]
    system.last("input").active = False
    pass_time(sound, clock, 1.0)
    assert states(sound) == [("input", "lost", MIC.name), ("input", "back", USB.name)]


def test_a_named_device_is_waited_for() -> None:
    """Who chose a headset does not want the room's loudspeaker instead."""
    system = FakeSystem([MIC, SPK, USB])
    sound, clock = line(system, Wanted("usb", "usb"))
    pass_time(sound, clock, 1.0)
    sound.news()
    system.devices = [MIC, SPK]
    for stream in system.opened:
        stream.active = False
    pass_time(sound, clock, 10.0)
    assert states(sound) == [("input", "lost", USB.name), ("output", "lost", USB.name)]
    system.devices = [MIC, SPK, USB]
    pass_time(sound, clock, MAX_RETRY_S)
    assert states(sound) == [("input", "back", USB.name), ("output", "back", USB.name)]


def test_looking_again_grows_slower() -> None:
    """A device that stays away is looked for a dozen times a minute at most."""
    system = FakeSystem()
    sound, clock = line(system)
    system.devices = []
    system.last("input").active = False
    pass_time(sound, clock, 20.0)
    first = system.scans
    pass_time(sound, clock, 20.0)
    assert first <= 9 and system.scans - first <= 5


def test_devices_gone_for_good_end_the_line() -> None:
    """Half a minute without a side is no call any more; a shorter time is."""
    system = FakeSystem()
    sound, clock = line(system)
    system.devices = []
    system.last("input").active = False
    pass_time(sound, clock, DEAD_S - 1)
    assert not sound.dead
    pass_time(sound, clock, 3)
    assert sound.dead


def test_a_side_that_is_closed_for_a_moment_is_not_dead() -> None:
    """Listing the devices anew closes the side that still runs: it has been missing for that moment only."""

    class Watched(FakeSystem):
        def scan(self) -> list[Device]:
            seen.append(self.scans > 0 and sound.dead)
            return super().scan()

    seen: list[bool] = []
    system = Watched()
    sound, clock = line(system)
    pass_time(sound, clock, 3 * DEAD_S)
    system.last("input").active = False
    pass_time(sound, clock, 1.0)
    assert seen == [False, False]


def test_a_new_stream_may_take_its_time() -> None:
    """A sound server needs a second for its first block: that is no loss, and no opened device yet either."""
    sound, clock = line(FakeSystem())
    pass_time(sound, clock, SETTLING_S - 0.2, alive=())
    assert states(sound) == []
    pass_time(sound, clock, 0.1)
    assert [state for _, state, _ in states(sound)] == ["open", "open"]


def test_digital_silence_is_told_once() -> None:
    """PulseAudio moves a stream silently, and the new place may be mute: said, but a quiet caller loses no device."""
    system = FakeSystem()
    sound, clock = line(system)
    pass_time(sound, clock, 1.0)
    sound.news()
    system.last("input").hear(np.full(882, 0.25, dtype=np.float32))
    sound.microphone.take()
    pass_time(sound, clock, 3 * MUTE_S)
    assert states(sound) == [("input", "mute", MIC.name)]
    assert len(system.opened) == 2 and not system.last("input").closed


def test_a_device_that_hangs_holds_up_nothing_but_its_keeper() -> None:
    """Opening may block in the system: frames go on and the line counts as dead in time."""
    hangs, entered = threading.Event(), threading.Event()

    def refuses(device: Device, side: str, fmt: Format) -> bool:
        if system.scans > 1:
            entered.set()
            hangs.wait(10)
        return False

    system = FakeSystem(refuses=refuses)
    clock = FakeClock()
    with SoundLine(system, Wanted(), clock) as sound:
        system.last("input").active = False
        for _ in range(100):
            clock.now_s += 0.5
            if entered.wait(0.1):
                break
        assert entered.is_set()
        clock.now_s += 1.0
        assert len(sound.microphone.take()) >= 50
        clock.now_s += DEAD_S
        assert sound.dead
        hangs.set()
    assert all(stream.closed for stream in system.opened)
