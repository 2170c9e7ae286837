"""Sound devices as the system lists them: which there are, which one is meant, and a stream of raw blocks on it.

PortAudio is reached through sounddevice, which is imported only here and only when a call needs it. Messages are read
by whoever starts a call, so they are in Chinese.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from audio.errors import DeviceError

Side = Literal["input", "output"]

BLOCK_S = 0.02
"""Length of a block: a frame of the call, so that one callback is one beat."""

LATENCY_S = 0.06
"""Asked of the device. Half of it stutters where a sound server lies between; speech is cut within 0.35 s anyway."""

_NAMES = {"input": "麦克风", "output": "扬声器"}

RawCallback = Callable[[Any, int, Any, Any], None]
"""(buffer of int16 samples, frames, times, flags): the buffer is read or filled; true flags mean sound was lost."""


@dataclass(frozen=True, slots=True)
class Device:
    """One sound device. `inputs` and `outputs` are channels, `rate_hz` is its own rate; `default` names the sides it is
    the system's choice for."""

    number: int
    name: str
    inputs: int
    outputs: int
    rate_hz: int
    default: tuple[Side, ...] = ()

    def channels(self, side: Side) -> int:
        """How many it has on a side."""
        return self.inputs if side == "input" else self.outputs


@dataclass(frozen=True, slots=True)
class Format:
    """How a stream is opened: int16 samples, `channels` side by side."""

    rate_hz: int
    channels: int


class Stream(Protocol):
    """A stream that runs."""

    @property
    def active(self) -> bool:
        """Whether the system still serves it."""
        ...

    @property
    def latency_s(self) -> float:
        """Between the device and the callback."""
        ...

    def close(self) -> None:
        """Ends it; no callback comes afterwards. Never raises."""
        ...


class SoundSystem(Protocol):
    """What a call needs of the machine. Both calls block and raise DeviceError."""

    def scan(self) -> list[Device]:
        """The devices there are now. Only while no stream is open: the list is made anew."""
        ...

    def open(self, device: Device, side: Side, fmt: Format, callback: RawCallback) -> Stream:
        """A running stream. `callback` is called on a thread of the system's."""
        ...


def formats(device: Device, side: Side) -> Iterator[Format]:
    """How to try to open a device, best first: its own rate, one channel; then what else devices commonly take."""
    for rate_hz in dict.fromkeys((device.rate_hz, 48_000, 44_100, 16_000)):
        for channels in dict.fromkeys((1, min(2, device.channels(side)))):
            yield Format(rate_hz, channels)


def choose(devices: Sequence[Device], wanted: str | None, side: Side) -> Device:
    """The device that `wanted` names by number, name or part of a name; None is the system's own choice.

    Raises DeviceError when there is none, or more than one.
    """
    able = [device for device in devices if device.channels(side)]
    if not able:
        raise DeviceError(f"没有找到{_NAMES[side]}：请接上后用 voice-agent talk --list-devices 查看")
    if wanted is None:
        return next((device for device in able if side in device.default), able[0])
    found = [device for device in able if wanted in (str(device.number), device.name)]
    found = found or [device for device in able if wanted.casefold() in device.name.casefold()]
    if len(found) == 1:
        return found[0]
    shown = "、".join(f"{device.number} {device.name}" for device in (found or able))
    what = "有多个设备符合，请写全名或编号" if found else "没有这个设备，现有"
    raise DeviceError(f"--{side} {wanted}：{what}：{shown}")


class PortAudio:
    """The machine's sound, through sounddevice."""

    def scan(self) -> list[Device]:
        sd = _sounddevice()
        try:
            with hushed():
                sd._terminate()  # the only way to see what was plugged in since
                sd._initialize()
                rows, default = list(sd.query_devices()), tuple(sd.default.device)
        except sd.PortAudioError as e:
            raise DeviceError(
                f"读不到声音设备（{e}）：请检查系统的声音服务，再用 voice-agent doctor 查看"
            ) from e
        return [_device(row, default) for row in rows]

    def open(self, device: Device, side: Side, fmt: Format, callback: RawCallback) -> Stream:
        sd = _sounddevice()
        kind = sd.RawInputStream if side == "input" else sd.RawOutputStream
        block = round(fmt.rate_hz * BLOCK_S)
        try:
            with hushed():
                stream = kind(samplerate=fmt.rate_hz, channels=fmt.channels, dtype="int16", blocksize=block,
                              latency=LATENCY_S, device=device.number, callback=callback)  # fmt: skip
                stream.start()
        except (sd.PortAudioError, ValueError) as e:
            raise DeviceError(
                f"{_NAMES[side]} {device.number} {device.name} 打不开（{e}）：请关掉占用它的程序，或另选一个"
            ) from e
        return _Opened(stream, sd.PortAudioError)


class _Opened:
    def __init__(self, stream: Any, fault: type[Exception]) -> None:
        self._stream = stream
        self._fault = fault

    @property
    def active(self) -> bool:
        try:
            return bool(self._stream.active)
        except self._fault:
            return False

    @property
    def latency_s(self) -> float:
        return float(self._stream.latency)

    def close(self) -> None:
        self._stream.close(ignore_errors=True)


def _device(row: Any, default: tuple[int, int]) -> Device:
    number = int(row["index"])
    sides: tuple[Side, ...] = ("input", "output")
    chosen = tuple(side for side, first in zip(sides, default, strict=True) if first == number)
    channels = int(row["max_input_channels"]), int(row["max_output_channels"])
    return Device(number, str(row["name"]), *channels, round(row["default_samplerate"]), chosen)


def _sounddevice() -> Any:
    try:
        import sounddevice
    except ImportError as e:
        raise DeviceError(f"缺少 sounddevice（{e}）：请运行 pip install -e .") from e
    except OSError as e:
        raise DeviceError("系统缺少 PortAudio：请运行 sudo apt-get install -y libportaudio2") from e
    return sounddevice


@contextmanager
def hushed() -> Iterator[None]:
    """Nothing reaches standard error: there the sound libraries write, past us, beside the one line of ours."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(nowhere)
        os.close(kept)
