"""A telephone as a sound device: 8 kHz and back without a click, cleared, hung up, silent; and what each kind sends."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest

from audio.halfband import Doubler
from audio.pcm import Encoding, decode, encode
from audio.types import CALL_RATE_HZ, FRAME_SAMPLES, Samples
from voice_agent.telephone.audiosocket import AudioSocketReader, Kind, frame
from voice_agent.telephone.line import MUTE_S, PACKET_S, TelephoneLine, silence
from voice_agent.telephone.news import RATE_HZ, Sound
from voice_agent.telephone.voices import AudioSocketVoice, Item, MediaStreamVoice

ENCODINGS: list[Encoding] = ["mulaw", "alaw", "s16"]
ERROR = {"mulaw": 0.02, "alaw": 0.02, "s16": 0.003}


@dataclass
class Clock:
    now_s: float = 0.0

    def __call__(self) -> float:
        return self.now_s


@dataclass
class Far:
    delay_s: float = 0.0


def tone(rate_hz: int, seconds: float, hz: float = 440) -> Samples:
    return (0.4 * np.sin(2 * np.pi * hz * np.arange(int(seconds * rate_hz)) / rate_hz)).astype(np.float32)


def line(encoding: Encoding = "mulaw", far: Far | None = None) -> tuple[TelephoneLine, Clock]:
    clock = Clock()
    return TelephoneLine(encoding, far or Far(), clock), clock


def heard(telephone: TelephoneLine) -> Samples:
    return np.concatenate([f.samples for f in telephone.frames.take()] or [np.zeros(0, dtype=np.float32)])


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("piece", [160, 37, 800])
def test_the_caller_is_heard_without_a_click(encoding: Encoding, piece: int) -> None:
    """Pieces of any size in each code give the whole sound at twice the rate, to the error of the code."""
    telephone, clock = line(encoding)
    sent = tone(RATE_HZ, 1.0)
    data = encode(sent, encoding)
    width = len(data) // len(sent)
    got: list[Samples] = []
    for at in range(0, len(data), piece * width):
        clock.now_s += piece / RATE_HZ
        telephone.hear(data[at : at + piece * width])
        got.append(heard(telephone))
    whole = np.concatenate(got)
    wanted = Doubler().push(sent)[: len(whole)]
    assert len(whole) == 16_000
    assert np.abs(whole - wanted).max() < ERROR[encoding]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_agent_is_heard_without_a_click(encoding: Encoding) -> None:
    """What is played beat by beat leaves in packets of 20 ms, whose joints do not show."""
    telephone, clock = line(encoding)
    sound = tone(CALL_RATE_HZ, 1.0)
    packets = []
    for at in range(0, len(sound), FRAME_SAMPLES):
        telephone.play(np.zeros(FRAME_SAMPLES, dtype=np.float32), sound[at : at + FRAME_SAMPLES])
        packets.append(telephone.packet())
        clock.now_s += PACKET_S
    assert {len(packet) for packet in packets} == {len(silence(encoding))}
    out = decode(b"".join(packets), encoding)
    begin = int(np.flatnonzero(np.abs(out) > 0.05)[0])
    steps = np.abs(np.diff(out[begin:-200]))
    assert steps.max() < 2 * np.pi * 440 / RATE_HZ * 0.4 + 2 * ERROR[encoding]
    assert telephone.speaker.underruns == 0


def test_what_was_cut_does_not_sound() -> None:
    """After a flush the next packet is silence, and so are all the others: nothing is left in the filter either."""
    telephone, _ = line()
    sound = tone(CALL_RATE_HZ, 0.2)
    for at in range(0, len(sound), FRAME_SAMPLES):
        telephone.play(sound[:0], sound[at : at + FRAME_SAMPLES])
    assert telephone.packet() is not None
    telephone.flush()
    assert telephone.cleared
    assert telephone.delay_s == 0.0
    for _ in range(20):
        telephone.play(sound[:0], np.zeros(FRAME_SAMPLES, dtype=np.float32))
        assert telephone.packet() == silence("mulaw")


def test_a_telephone_that_stops_sending_is_silence_and_then_gone() -> None:
    """Time goes on in silence, marked as lost; after MUTE_S the line is dead, and says once why."""
    telephone, clock = line()
    for _ in range(50):
        clock.now_s += PACKET_S
        telephone.hear(b"\xff" * 160)
        telephone.frames.take()
    clock.now_s += 1.0
    stood_in = telephone.frames.take()
    assert len(stood_in) == 50
    assert all(each.lost for each in stood_in)
    assert not telephone.dead
    clock.now_s += MUTE_S
    assert telephone.dead
    assert [(news.state, news.detail) for news in telephone.news()] == [("lost", "no sound for 15 s")]
    assert telephone.news() == []


def test_a_flood_is_bounded_and_ends_the_line() -> None:
    """Ten minutes of sound in one second: two seconds of it are kept, the rest is counted, and the line is dead."""
    telephone, clock = line()
    for _ in range(600):
        clock.now_s += 1 / 600
        telephone.hear(b"\x00" * RATE_HZ)
    assert len(heard(telephone)) <= 3.1 * CALL_RATE_HZ
    assert telephone.dead
    assert telephone.faults()["input_refused_ms"] > 500_000
    assert "faster" in telephone.news()[0].detail


def test_the_delay_is_ours_and_theirs() -> None:
    """What waits here, and what the far side holds back; a packet taken is heard that much earlier."""
    telephone, _ = line(far=Far(0.3))
    telephone.play(np.zeros(0, dtype=np.float32), tone(CALL_RATE_HZ, 0.1))
    before_s = telephone.delay_s
    telephone.packet()
    after_s = telephone.delay_s
    assert before_s is not None
    assert after_s is not None
    assert before_s - after_s == pytest.approx(PACKET_S)
    assert after_s > 0.3


WORD, QUIET = b"\x01" * 160, silence("mulaw")


def events(items: list[Item]) -> list[str]:
    return [json.loads(item)["event"] for item in items]


def test_a_media_stream_gets_speech_marks_and_clears() -> None:
    """A mark behind the first packet and the last; a clear comes before what is said next."""
    voice = MediaStreamVoice("MZ1", QUIET)
    assert voice.beat(QUIET, 0.0, cleared=False) == []
    first = voice.beat(WORD, 0.0, cleared=False)
    assert events(first) == ["media"] * 4 + ["mark"]
    assert voice.waiting
    voice.reached(json.loads(first[-1])["mark"]["name"], 0.25)
    assert voice.delay_s == pytest.approx(0.25)
    assert not voice.waiting
    assert events(voice.beat(WORD, 0.3, cleared=True))[0] == "clear"
    assert json.loads(voice.ending("handed_off")[0])["stop"] == {"reason": "handed_off"}


def test_an_audiosocket_gets_every_packet_and_its_end() -> None:
    """Silence too. A hang-up lets the dialplan go on to a person, the error frame hangs up."""
    voice = AudioSocketVoice()
    packet = silence("s16")
    (sent,) = voice.beat(packet, 0.0, cleared=True)
    assert isinstance(sent, bytes)
    reader = AudioSocketReader()
    reader.push(frame(Kind.UUID, bytes(15) + b"\x01"))
    assert reader.push(sent) == [Sound(packet)]
    assert voice.ending("handed_off") == [bytes(3)]
    assert voice.ending("goodbye") == [b"\xff\x00\x01\x00"]
