"""Which device is meant, how it is opened, and one line when there is none."""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any

import pytest

from audio.devices import Device, Format, PortAudio, choose, formats, hushed
from audio.errors import DeviceError
from tests.audio.sound_fakes import MIC, SPK, USB

ALL = [MIC, SPK, USB]


@pytest.mark.parametrize(
    ("wanted", "side", "found"),
    [
        (None, "input", MIC),
        (None, "output", SPK),
        ("2", "input", USB),
        ("USB 耳机", "output", USB),
        ("usb", "input", USB),
        ("built-in", "output", SPK),
    ],
)
def test_a_device_is_named_by_number_name_or_part(wanted: str | None, side: Any, found: Device) -> None:
    """Case does not matter, only devices of that side count, and nothing named means the system's choice."""
    assert choose(ALL, wanted, side) is found


def test_without_a_default_the_first_that_can() -> None:
    """A system may have no choice of its own."""
    assert choose([SPK, USB], None, "input") is USB


@pytest.mark.parametrize(
    ("devices", "wanted", "says"),
    [
        ([], None, "没有找到麦克风"),
        ([SPK], None, "没有找到麦克风"),
        (ALL, "蓝牙", "0 Built-in Microphone、2 USB 耳机"),
        (ALL, "1", "没有这个设备"),
        ([MIC, Device(5, "Other Microphone", 2, 0, 8000)], "microphone", "多个"),
    ],
    ids=["none", "only the other side", "unknown", "number of the other side", "two"],
)
def test_no_device_is_one_line_that_says_what_there_is(devices: list[Device], wanted: str, says: str) -> None:
    """python-sounddevice#173: nothing found, or nothing clear, is an operator's line and no traceback."""
    with pytest.raises(DeviceError, match=says) as fault:
        choose(devices, wanted, "input")
    assert "\n" not in str(fault.value)


def test_a_device_is_first_tried_as_it_is() -> None:
    """python-sounddevice#124: its own rate and one channel first; then what others commonly take, each once."""
    tried = list(formats(USB, "output"))
    assert tried[0] == Format(16_000, 1) and len(set(tried)) == len(tried)
    assert {fmt.rate_hz for fmt in tried} == {16_000, 44_100, 48_000} and {f.channels for f in tried} == {
        1,
        2,
    }


class FakeSounddevice(ModuleType):
    """The few names of sounddevice that are used, scripted."""

    class PortAudioError(Exception):
        pass

    def __init__(self) -> None:
        super().__init__("sounddevice")
        self.restarts = 0
        self.fault: Exception | None = None
        self.default = type("default", (), {"device": [0, 1]})
        self.RawInputStream = self.RawOutputStream = self._stream

    def _terminate(self) -> None:
        self.restarts += 1

    def _initialize(self) -> None:
        os.write(2, b"a library complains\n")

    def query_devices(self) -> list[dict[str, Any]]:
        if self.fault is not None:
            raise self.fault
        row = {"index": 0, "name": "m", "default_samplerate": 44_100.0}
        return [row | {"max_input_channels": 1, "max_output_channels": 0}]

    def _stream(self, **how: Any) -> Any:
        if self.fault is not None:
            raise self.fault
        self.how = how
        return type("stream", (), {"active": True, "latency": 0.05, "start": lambda self: None})()


@pytest.fixture
def sounddevice(monkeypatch: pytest.MonkeyPatch) -> FakeSounddevice:
    fake = FakeSounddevice()
    monkeypatch.setitem(sys.modules, "sounddevice", fake)
    return fake


def test_the_list_is_made_anew(sounddevice: FakeSounddevice, capfd: pytest.CaptureFixture[str]) -> None:
    """PortAudio reads the devices only when it is started; what it says of itself is not shown."""
    (device,) = PortAudio().scan()
    assert (device.name, device.rate_hz, device.default, sounddevice.restarts) == ("m", 44_100, ("input",), 1)
    assert capfd.readouterr().err == ""


def test_blocks_of_twenty_milliseconds_at_the_rate_asked(sounddevice: FakeSounddevice) -> None:
    """int16 in blocks of one frame of the call; the latency is the stream's own."""
    stream = PortAudio().open(MIC, "input", Format(44_100, 1), lambda *_: None)
    how = sounddevice.how
    assert (how["blocksize"], how["samplerate"], how["dtype"], how["device"]) == (882, 44_100, "int16", 0)
    assert (stream.active, stream.latency_s) == (True, 0.05)


@pytest.mark.parametrize(
    "fault", [FakeSounddevice.PortAudioError("Invalid sample rate"), ValueError("no such device")]
)
def test_what_portaudio_refuses_is_a_device_error(sounddevice: FakeSounddevice, fault: Exception) -> None:
    """A bad rate, a busy or a missing device: one line with the device's name, from the library's own error."""
    sounddevice.fault = fault
    with pytest.raises(DeviceError, match=MIC.name) as raised:
        PortAudio().open(MIC, "input", Format(44_100, 1), lambda *_: None)
    assert raised.value.__cause__ is fault


def test_a_list_that_cannot_be_read(sounddevice: FakeSounddevice) -> None:
    """The sound server may be down."""
    sounddevice.fault = FakeSounddevice.PortAudioError("host error")
    with pytest.raises(DeviceError, match="voice-agent doctor"):
        PortAudio().scan()


@pytest.mark.parametrize("lacking", [OSError("PortAudio library not found"), ImportError("no module")])
def test_a_missing_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch, lacking: Exception) -> None:
    """sounddevice raises OSError at import where the system's library is missing: only a call needs it."""

    class Refuses:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "sounddevice":
                raise lacking

    monkeypatch.delitem(sys.modules, "sounddevice", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Refuses(), *sys.meta_path])
    with pytest.raises(DeviceError, match="install"):
        PortAudio().scan()


def test_standard_error_comes_back(capfd: pytest.CaptureFixture[str]) -> None:
    """Only what is written meanwhile is lost, also after a fault."""
    with pytest.raises(RuntimeError), hushed():
        os.write(2, b"lost")
        raise RuntimeError
    os.write(2, b"seen")
    assert capfd.readouterr().err == "seen"
