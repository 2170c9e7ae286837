"""A microphone and a loudspeaker kept open for the length of a call, whatever becomes of the devices under them.

A thread of its own looks after the two streams: opening, closing and listing devices may block, and neither the call
nor a callback may wait for that. A device that is lost is looked for again, with longer and longer pauses; meanwhile
the microphone goes on in silence and the loudspeaker keeps what it was given.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Self

from audio.devices import Device, Format, Side, SoundSystem, Stream, choose, formats
from audio.errors import DeviceError
from audio.microphone import Microphone
from audio.speaker import Speaker

LOOK_S = 0.1
"""Between two looks at the streams."""

SILENT_S = 1.0
"""A running stream that gives no block for so long is lost, whatever the system says of it."""

SETTLING_S = 3.0
"""After it was opened: a sound server may need over a second for the first block."""

MUTE_S = 10.0
"""Digital silence after sound, worth a word: a muted microphone, or a server that moved the stream elsewhere. Nothing
is done about it, because microphones that hold back noise give just that between two sentences."""

RETRY_S, MAX_RETRY_S = 0.25, 5.0
"""The first pause before a lost device is looked for; each one is twice the one before, up to the longest."""

DEAD_S = 30.0
"""A side missing for so long has ended the call."""

Opened = Literal["open", "back"]

SIDES: tuple[Side, ...] = ("input", "output")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Number, name or part of a name of each device; None is the system's choice."""

    input: str | None = None
    output: str | None = None

    def on(self, side: Side) -> str | None:
        return self.input if side == "input" else self.output


@dataclass(frozen=True, slots=True)
class DeviceNews:
    """What became of one side. `detail` is why it was lost, or how it was opened."""

    side: Side
    state: Opened | Literal["lost", "mute"]
    name: str
    detail: str


@dataclass(slots=True)
class _Place:
    """One side: its stream while there is one, since when it runs or is missing, what it is called.

    `opened_as` is what is still to be told of an opened stream, `mute` that its silence was told.
    """

    stream: Stream | None = None
    since_s: float = 0.0
    name: str = ""
    detail: str = ""
    opened_as: Opened | None = None
    mute: bool = False


class SoundLine:
    """Open within `with`; entering raises DeviceError when a side cannot be opened."""

    def __init__(
        self, system: SoundSystem, wanted: Wanted, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._system = system
        self._wanted = wanted
        self._clock = clock
        self.microphone = Microphone(clock)
        self.speaker = Speaker(clock)
        self._places: dict[Side, _Place] = {side: _Place() for side in SIDES}
        self._news: deque[DeviceNews] = deque()
        self._pause_s = RETRY_S
        self._retry_at_s = 0.0
        self._ending = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name="sound-line", daemon=True)

    def __enter__(self) -> Self:
        self.open()
        self._keeper.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.set()
        self._keeper.join(timeout=MAX_RETRY_S)
        if not self._keeper.is_alive():  # else it hangs in the system and owns the streams
            self._close(SIDES)

    @property
    def dead(self) -> bool:
        """A side has been missing for longer than a caller would wait."""
        now_s = self._clock()
        return any(p.stream is None and now_s - p.since_s > DEAD_S for p in self._places.values())

    @property
    def counters(self) -> Mapping[str, int]:
        """What went wrong with the sound, for the journal."""
        heard, said = self.microphone, self.speaker
        return {
            "input_dropped": heard.dropped,
            "input_overflows": heard.overflows,
            "output_underruns": said.underruns,
            "output_underflows": said.underflows,
        }

    def news(self) -> list[DeviceNews]:
        """What became of the devices since the last call."""
        return [self._news.popleft() for _ in range(len(self._news))]

    def open(self) -> None:
        """Both sides, or DeviceError. For the start of a call."""
        devices = self._system.scan()
        try:
            for side in SIDES:
                self._open(side, devices, "open")
        except DeviceError:
            self._close(SIDES)
            raise

    def look(self) -> None:
        """One look at both sides; what is lost is closed, what is missing looked for when its time has come."""
        now_s = self._clock()
        for side in SIDES:
            if why := self._fault(side, now_s):
                self._lose(side, why, now_s)
            self._tell_first_block(side)
        self._tell_mute(now_s)
        if any(place.stream is None for place in self._places.values()) and now_s >= self._retry_at_s:
            self._retry()

    def _keep(self) -> None:
        while not self._ending.wait(LOOK_S):
            self.look()

    def _fault(self, side: Side, now_s: float) -> str:
        place = self._places[side]
        if place.stream is None:
            return ""
        if not place.stream.active:
            return "stream ended"
        settled_s = place.since_s + SETTLING_S - SILENT_S
        return "no blocks" if now_s - max(self._block_s(side), settled_s) > SILENT_S else ""

    def _block_s(self, side: Side) -> float:
        return self.microphone.block_s if side == "input" else self.speaker.block_s

    def _lose(self, side: Side, why: str, now_s: float) -> None:
        place = self._places[side]
        self._close((side,))
        place.opened_as = None
        self._retry_at_s, self._pause_s = now_s + RETRY_S, RETRY_S
        self._news.append(DeviceNews(side, "lost", place.name, why))

    def _retry(self) -> None:
        """Lists the devices anew, for which the side that still runs is closed for a moment too."""
        missing = [side for side in SIDES if self._places[side].stream is None]
        self._close(SIDES)
        try:
            devices = self._system.scan()
        except DeviceError:
            devices = []
        for side in SIDES:
            try:
                self._open(side, devices, "back" if side in missing else None)
            except DeviceError as e:
                if side not in missing:
                    self._lose(side, str(e), self._clock())
        self._pause_s = min(2 * self._pause_s, MAX_RETRY_S)
        self._retry_at_s = self._clock() + self._pause_s

    def _tell_first_block(self, side: Side) -> None:
        """A device counts as opened when sound moves: what is said to a microphone before that is not heard."""
        place = self._places[side]
        if place.stream is not None and place.opened_as and self._block_s(side) > place.since_s:
            state, place.opened_as = place.opened_as, None
            self._news.append(DeviceNews(side, state, place.name, place.detail))

    def _tell_mute(self, now_s: float) -> None:
        place, sound_s = self._places["input"], self.microphone.sound_s
        mute = place.stream is not None and sound_s is not None and now_s - sound_s > MUTE_S
        if mute and not place.mute:
            self._news.append(DeviceNews("input", "mute", place.name, f"{MUTE_S:.0f} s of digital silence"))
        place.mute = mute

    def _open(self, side: Side, devices: Sequence[Device], state: Opened | None) -> None:
        device = choose(devices, self._wanted.on(side), side)
        place = self._places[side]
        stream, fmt = self._first_that_opens(device, side)
        if side == "output":
            self.speaker.latency_s = stream.latency_s
        place.name, place.detail = device.name, f"{fmt.rate_hz} Hz, {stream.latency_s * 1000:.0f} ms"
        place.since_s, place.opened_as = self._clock(), state or place.opened_as
        place.stream = stream

    def _first_that_opens(self, device: Device, side: Side) -> tuple[Stream, Format]:
        part: Microphone | Speaker = self.microphone if side == "input" else self.speaker
        fault: DeviceError | None = None
        for fmt in formats(device, side):
            part.attach(fmt)
            try:
                return self._system.open(device, side, fmt, part.callback), fmt
            except DeviceError as e:
                fault = fault or e
        raise fault or DeviceError(f"{device.name}: no format to try")

    def _close(self, sides: Sequence[Side]) -> None:
        for side in sides:
            place = self._places[side]
            stream, place.stream = place.stream, None
            if stream is not None:
                place.since_s = self._clock()
                stream.close()
