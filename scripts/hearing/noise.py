"""Sounds in which nobody speaks, made by formula from a seed: the same name is the same sound on every machine.

Only numpy. Levels are dB below full scale (RMS of the sounding part); an SNR is that of the event over the hiss of
the line below it. About half of them have been through a telephone: 8 kHz, µ-law.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audio.pcm import decode, encode, resample
from audio.types import CALL_RATE_HZ, Samples

Sound = NDArray[np.float64]

KINDS = ("silence", "room", "hiss", "keyboard", "music", "breath", "tones", "bumps")

CLIP_S = 6.0
LINE_HZ = 8_000


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """One sound at CALL_RATE_HZ. `name` is its kind and its variant."""

    name: str
    kind: str
    samples: Samples


@dataclass(frozen=True, slots=True)
class Maker:
    """A generator of random numbers and a length: what every formula needs."""

    rng: np.random.Generator
    length: int

    @property
    def t(self) -> Sound:
        return np.arange(self.length) / CALL_RATE_HZ

    def white(self) -> Sound:
        return self.rng.standard_normal(self.length)

    def shaped(self, low_hz: float, high_hz: float, slope: float = 0.0) -> Sound:
        """Noise between two frequencies; its amplitude falls with the frequency to the power `slope`."""
        hz = np.fft.rfftfreq(self.length, 1 / CALL_RATE_HZ)
        keep = (hz >= low_hz) & (hz <= high_hz)
        spectrum = np.fft.rfft(self.white()) * keep / np.maximum(hz, 20.0) ** slope
        return np.asarray(np.fft.irfft(spectrum, self.length))

    def times(self, per_second: float) -> NDArray[np.int64]:
        """Moments of events, about that many a second and never regular."""
        gaps = self.rng.uniform(0.4, 1.6, int(per_second * self.length / CALL_RATE_HZ * 2) + 2) / per_second
        at = np.cumsum(gaps) * CALL_RATE_HZ
        return at[at < self.length].astype(np.int64)

    def burst(self, seconds: float, low_hz: float, high_hz: float) -> Sound:
        """A stroke: it begins at once and dies away."""
        short = Maker(self.rng, max(64, int(seconds * CALL_RATE_HZ)))
        return short.shaped(low_hz, high_hz) * np.exp(-5 * np.linspace(0, 1, short.length))

    def strewn(self, per_second: float, make: Callable[[], Sound]) -> Sound:
        """The same kind of event again and again, each with a strength of its own."""
        sound = np.zeros(self.length)
        for at in self.times(per_second):
            event = make() * self.rng.uniform(0.3, 1.0)
            fits = min(len(event), self.length - at)
            sound[at : at + fits] += event[:fits]
        return sound


def level(sound: Sound, dbfs: float) -> Sound:
    """Scaled so that its sounding part (what lies above a hundredth of the peak) has that RMS."""
    peak = float(np.max(np.abs(sound), initial=0.0))
    if not peak:
        return sound
    loud = sound[np.abs(sound) > peak / 100]
    return sound * 10 ** (dbfs / 20) / np.sqrt(np.mean(loud**2))


def keyboard(maker: Maker, per_second: float) -> Sound:
    """Keys: a click when pressed, a duller one when let go."""
    pressed = maker.strewn(per_second, lambda: maker.burst(0.012, 1500, 7000))
    return pressed + np.roll(maker.strewn(per_second, lambda: maker.burst(0.02, 300, 3000)), 1300) * 0.5


def breath(maker: Maker, seconds: float) -> Sound:
    """Air over a microphone, in and out, each `seconds` long."""
    swell = np.clip(np.sin(2 * np.pi * maker.t / (2 * seconds)), 0, None) ** 1.5
    back = np.clip(-np.sin(2 * np.pi * maker.t / (2 * seconds)), 0, None) ** 2
    return maker.shaped(200, 5000, 0.7) * swell + maker.shaped(100, 2500, 1.0) * back * 3


def bumps(maker: Maker, what: str) -> Sound:
    """A cough, a knock on wood, paper, a cup put down."""
    shapes = {
        "cough": lambda: maker.burst(0.25, 150, 4000) + maker.burst(0.25, 300, 1500),
        "knock": lambda: maker.burst(0.08, 80, 900) * 2,
        "paper": lambda: np.concatenate([maker.burst(0.05, 1000, 7500) for _ in range(4)]),
        "cup": lambda: _ringing(maker, (1900.0, 3170.0, 4480.0), 0.3),
    }
    return maker.strewn(0.7, shapes[what])


def music(maker: Maker, style: str) -> Sound:
    """Melody of a plucked string, slow chords, drums, or all of them: what a caller on hold, or a shop, plays."""
    if style == "melody":
        return _melody(maker, 3.0)
    if style == "chords":
        return _chords(maker)
    if style == "drums":
        return _drums(maker)
    return level(_melody(maker, 2.0), -20) + level(_chords(maker), -26) + level(_drums(maker), -20)


def tones(maker: Maker, what: str) -> Sound:
    """Mains buzz and the signals of the network: busy, ringing, keys."""
    t = maker.t
    if what == "buzz":
        return np.asarray(sum(np.sin(2 * np.pi * 50 * k * t + k) / k for k in range(1, 13)))
    if what == "busy":
        return np.sin(2 * np.pi * 450 * t) * (t % 0.7 < 0.35)
    if what == "ringing":
        return np.sin(2 * np.pi * 450 * t) * ((t + 2.5) % 5.0 < 1.0)
    low, high = np.array([697, 770, 852, 941]), np.array([1209, 1336, 1477])
    key = (t / 0.25).astype(int)
    pair = np.sin(2 * np.pi * low[key % 4] * t) + np.sin(2 * np.pi * high[key % 3] * t)
    return np.asarray(pair * (t % 0.25 < 0.1))


def _ringing(maker: Maker, partials: tuple[float, ...], seconds: float) -> Sound:
    t = np.arange(int(seconds * CALL_RATE_HZ)) / CALL_RATE_HZ
    tuned = maker.rng.uniform(0.97, 1.03)
    waves = [np.sin(2 * np.pi * hz * tuned * t) / (n + 1) for n, hz in enumerate(partials)]
    return np.asarray(sum(waves) * np.exp(-4 * t / seconds))


def _pitch(steps: int) -> float:
    """A major scale without its half tones, upwards from A2."""
    return 110.0 * 2 ** ((steps // 5) + (0, 2, 4, 7, 9)[steps % 5] / 12)


def _melody(maker: Maker, per_second: float) -> Sound:
    def pluck() -> Sound:
        hz = _pitch(int(maker.rng.integers(5, 15)))
        return _ringing(maker, tuple(hz * k for k in range(1, 7)), float(maker.rng.uniform(0.3, 0.9)))

    return maker.strewn(per_second, pluck)


def _chords(maker: Maker) -> Sound:
    sound, t = np.zeros(maker.length), np.arange(int(2.2 * CALL_RATE_HZ)) / CALL_RATE_HZ
    swell, vibrato = np.sin(np.pi * t / 2.2), 0.02 * np.sin(2 * np.pi * 5 * t)
    for begin in range(0, maker.length, 2 * CALL_RATE_HZ):
        root = int(maker.rng.integers(0, 6))
        waves = [
            np.sin(2 * np.pi * _pitch(root + voice) * k * t + vibrato) / k
            for voice in (0, 2, 4, 5)
            for k in range(1, 6)
        ]
        chord = sum(waves) * swell
        sound[begin : begin + len(t)] += chord[: maker.length - begin]
    return sound


def _drums(maker: Maker) -> Sound:
    beat, sound = CALL_RATE_HZ // 2, np.zeros(maker.length)
    for n, at in enumerate(range(0, maker.length - beat, beat)):
        kick = _ringing(maker, (62.0, 91.0), 0.25) * 3
        snare = maker.burst(0.15, 400, 7000)
        hat = maker.burst(0.04, 5000, 7800) * 0.5
        for event, shift in ((snare if n % 2 else kick, 0), (hat, 0), (hat, beat // 2)):
            sound[at + shift : at + shift + len(event)] += event[: maker.length - at - shift]
    return sound


def over_the_telephone(samples: Samples) -> Samples:
    """Through 8 kHz and µ-law and back."""
    narrow = decode(encode(resample(samples, CALL_RATE_HZ, LINE_HZ), "mulaw"), "mulaw")
    return resample(narrow, LINE_HZ, CALL_RATE_HZ)


def _silences(maker: Maker) -> Iterator[tuple[str, Sound]]:
    yield "digital", np.zeros(maker.length)
    yield "one-step", np.sign(maker.white()) / 32768
    yield "offset", np.full(maker.length, 0.02)
    # A line that transmits nothing in pauses: hiss that comes and goes.
    yield "gated-hiss", level(maker.white(), -50) * (maker.t % 1.0 < 0.5)


def _steady(maker: Maker) -> Iterator[tuple[str, Sound]]:
    for dbfs in (-60, -45, -35, -25, -15):
        drift = 1 + 0.3 * np.sin(2 * np.pi * 0.15 * maker.t)
        yield f"room-pink{dbfs}", level(maker.shaped(60, 7000, 0.5) * drift, dbfs)
        yield f"room-brown{dbfs}", level(maker.shaped(60, 4000, 1.0) * drift, dbfs)
        yield f"hiss-band{dbfs}", level(maker.shaped(300, 3400), dbfs)
        yield f"hiss-steps{dbfs}", level(maker.white() * np.where(maker.t % 3 < 1.5, 1.0, 0.3), dbfs)


def _events(maker: Maker) -> Iterator[tuple[str, Sound, float, float]]:
    """Name, sound, its level, its SNR over the line."""
    for dbfs, snr in ((-45, 10), (-35, 20), (-25, 30), (-15, 40)):
        for per_second in (3, 9):
            yield f"keyboard{per_second}", keyboard(maker, per_second), dbfs, snr
        for seconds in (0.7, 1.6):
            yield f"breath{seconds}", breath(maker, seconds), dbfs, snr
        for style in ("melody", "chords", "drums", "band"):
            yield f"music-{style}", music(maker, style), dbfs, snr
        for what in ("busy", "ringing", "keys", "buzz"):
            yield f"tones-{what}", tones(maker, what), dbfs, snr
        for what in ("cough", "knock", "paper", "cup"):
            yield f"bumps-{what}", bumps(maker, what), dbfs, snr


def _all(seconds: float, seed: int) -> Iterator[tuple[str, Sound]]:
    maker = Maker(np.random.default_rng([seed, zlib.crc32(b"noise")]), int(seconds * CALL_RATE_HZ))
    yield from (("silence-" + name, sound) for name, sound in _silences(maker))
    yield from _steady(maker)
    for name, sound, dbfs, snr in _events(maker):
        yield f"{name}{dbfs}-snr{snr}", level(sound, dbfs) + level(maker.white(), dbfs - snr)


def clips(seconds: float = CLIP_S, seed: int = 0) -> list[Clip]:
    """The whole suite, 88 clips; another seed gives others of the same kinds."""
    made = []
    for number, (name, sound) in enumerate(_all(seconds, seed)):
        samples = np.clip(sound, -1, 1).astype(np.float32)
        kind = next(kind for kind in KINDS if name.startswith(kind))
        # In blocks of five: the variants of one kind lie four or sixteen apart.
        phone = number // 5 % 2 == 1
        made.append(
            Clip(f"{name}-phone" if phone else name, kind, over_the_telephone(samples) if phone else samples)
        )
    return made
