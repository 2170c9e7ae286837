"""Scripted sound devices: blocks come when the test says so, on the thread the test says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from audio.devices import Device, Format, RawCallback, Side
from audio.errors import DeviceError
from audio.types import Samples

MIC = Device(0, "Built-in Microphone", 1, 0, 44_100, ("input",))
SPK = Device(1, "Built-in Speaker", 0, 2, 48_000, ("output",))
USB = Device(2, "USB 耳机", 1, 2, 16_000)


@dataclass
class FakeClock:
    """Seconds that pass when the test says so."""

    now_s: float = 100.0

    def __call__(self) -> float:
        return self.now_s


@dataclass
class FakeStream:
    side: Side
    device: Device
    fmt: Format
    callback: RawCallback
    active: bool = True
    latency_s: float = 0.04
    closed: bool = False

    def close(self) -> None:
        assert not self.closed, "a stream is closed once"
        self.closed = True
        self.active = False

    def hear(self, samples: Samples, lost: bool = False) -> None:
        """The device hands over a block of one channel at its own rate."""
        assert not self.closed
        frames = np.repeat(np.round(samples * 32767).astype("<i2"), self.fmt.channels)
        self.callback(frames.tobytes(), len(samples), None, lost)

    def play(self, frames: int, lost: bool = False) -> Samples:
        """The device asks for a block; its first channel."""
        assert not self.closed
        out = bytearray(b"\x55" * (frames * self.fmt.channels * 2))
        self.callback(out, frames, None, lost)
        return (np.frombuffer(bytes(out), "<i2")[:: self.fmt.channels] / 32767).astype(np.float32)


@dataclass
class FakeSystem:
    """Devices that are there now; `refuses` says of which side and format a device cannot be opened."""

    devices: list[Device] = field(default_factory=lambda: [MIC, SPK])
    refuses: Callable[[Device, Side, Format], bool] = lambda device, side, fmt: False
    opened: list[FakeStream] = field(default_factory=list)
    scans: int = 0

    def scan(self) -> list[Device]:
        assert all(stream.closed for stream in self.opened), "devices are listed anew with a stream open"
        self.scans += 1
        return list(self.devices)

    def open(self, device: Device, side: Side, fmt: Format, callback: RawCallback) -> FakeStream:
        if self.refuses(device, side, fmt) or device not in self.devices:
            raise DeviceError(f"{device.name} refuses")
        self.opened.append(FakeStream(side, device, fmt, callback))
        return self.opened[-1]

    def last(self, side: Side) -> FakeStream:
        return [stream for stream in self.opened if stream.side == side][-1]
