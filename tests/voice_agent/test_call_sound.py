"""The sound of a remote call both ways, and the messages kept for it: what is taken, sent, heard, and sent again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.errors import FormatError
from audio.opus import OPUS_RATE_HZ, OpusDecoder
from audio.pcm import decode, encode
from audio.types import FRAME_SAMPLES, Samples
from voice_agent.service import outbox
from voice_agent.service.call_events import SHOWN, shown
from voice_agent.service.incoming import AHEAD_S, Incoming
from voice_agent.service.outbox import Outbox
from voice_agent.service.outgoing import FULL_S, PAUSE_S, TRUSTED_S, Outgoing
from voice_agent.service.problem import Problem

LOUD = np.full(FRAME_SAMPLES, 0.5, dtype=np.float32)
STILL = np.zeros(FRAME_SAMPLES, dtype=np.float32)


@dataclass
class Clock:
    now_s: float = 100.0

    def __call__(self) -> float:
        return self.now_s


def opus(sound: Samples) -> Iterator[bytes]:
    """Packets of 20 ms, as a browser makes them."""
    from av import AudioFrame, CodecContext

    coder: Any = CodecContext.create("libopus", "w")
    coder.sample_rate, coder.layout, coder.format = OPUS_RATE_HZ, "mono", "s16"
    for at in range(0, len(sound), 960):
        frame = AudioFrame.from_ndarray(
            np.frombuffer(encode(sound[at : at + 960], "s16"), dtype=np.int16)[None],
            format="s16",
            layout="mono",
        )
        frame.sample_rate, frame.pts = OPUS_RATE_HZ, at
        yield from (bytes(packet) for packet in coder.encode(frame))


def test_opus_packets_are_heard() -> None:
    """Each packet gives its own 20 ms, and the tone in them is the tone that went in."""
    tone = (0.5 * np.sin(np.arange(OPUS_RATE_HZ) * 2 * np.pi * 440 / OPUS_RATE_HZ)).astype(np.float32)
    decoder = OpusDecoder()
    blocks = [decoder.push(packet) for packet in opus(tone)]
    whole = np.concatenate(blocks)
    assert {len(block) for block in blocks} == {960} and len(whole) == len(tone)
    spectrum = np.abs(np.fft.rfft(whole[9600:]))
    assert np.argmax(spectrum) * OPUS_RATE_HZ / (2 * (len(spectrum) - 1)) == pytest.approx(440, abs=2)


@given(st.binary(max_size=400))
def test_no_bytes_break_the_decoder(data: bytes) -> None:
    """Sound within its bounds, or FormatError."""
    try:
        samples = OpusDecoder().push(data)
    except FormatError:
        return
    assert len(samples) <= 0.12 * OPUS_RATE_HZ and np.isfinite(samples).all()


def test_a_caller_at_eight_kilohertz_makes_the_same_frames() -> None:
    """Any rate and any block length become 20 ms at 16 kHz, no sample lost."""
    clock = Clock()
    incoming = Incoming("pcm16", 8000, clock)
    for length in (1, 77, 800, 3000, 4122):
        incoming.push(encode(np.full(length, 0.25, dtype=np.float32), "s16"))
    frames = incoming.frames.take()
    assert 45 <= len(frames) <= 50, "the resampler looks ahead"
    assert np.concatenate([frame.samples for frame in frames])[800:-800].mean() == pytest.approx(
        0.25, abs=0.01
    )


def test_sound_faster_than_time_is_dropped_then_refused() -> None:
    """A network's hiccup is taken whole; a flood is dropped, counted for the journal, and in the end refused."""
    clock = Clock()
    incoming = Incoming("pcm16", 16000, clock)
    second = bytes(32_000)
    for _ in range(int(AHEAD_S)):
        incoming.push(second)
    assert incoming.faults() == {"input_dropped": 0}
    incoming.push(second)
    assert incoming.faults() == {"input_dropped": 16_000}
    clock.now_s += 1.0
    incoming.push(second)
    assert incoming.faults() == {"input_dropped": 16_000}
    with pytest.raises(Problem) as told:
        for _ in range(20):
            incoming.push(second)
    assert told.value.kind == "too-fast"


def test_silence_is_not_sent_but_pauses_are() -> None:
    """Nothing before speech; a pause inside it whole; nothing once it is over."""
    outgoing = Outgoing(Clock())
    pause = int(PAUSE_S / 0.02)
    script = [STILL] * 5 + [LOUD] * 3 + [STILL] * (pause - 1) + [LOUD] + [STILL] * (pause + 20)
    sent = [outgoing.feed(block) for block in script]
    assert [part is not None for part in sent] == [False] * 5 + [True] * (3 + pause - 1 + 1 + pause) + [
        False
    ] * 20
    assert outgoing.sent == FRAME_SAMPLES * sum(part is not None for part in sent)
    assert np.allclose(decode(sent[5] or b"", "s16"), LOUD, atol=1e-4)


def test_what_is_not_played_is_not_heard() -> None:
    """A page that plays nothing makes speech wait; one that plays on is believed, and a silent one for a moment."""
    clock = Clock()
    outgoing = Outgoing(clock)
    outgoing.played(0)
    for _ in range(int(TRUSTED_S / 0.02) + int(FULL_S / 0.02) + 1):
        clock.now_s += 0.02
        outgoing.feed(LOUD)
    assert outgoing.delay_s is None
    outgoing.played(outgoing.sent - 1600)
    assert outgoing.delay_s == pytest.approx(0.1)
    outgoing.played(10**12)
    assert outgoing.delay_s == 0 and outgoing.position == outgoing.sent
    outgoing.played(0)
    assert outgoing.position == outgoing.sent, "what was played cannot be taken back"


def test_a_page_that_tells_nothing_is_taken_to_play_at_once() -> None:
    """In real time from when it was sent, so nothing adds up."""
    clock = Clock()
    outgoing = Outgoing(clock)
    for _ in range(500):
        assert outgoing.delay_s is not None and outgoing.delay_s <= 0.021
        outgoing.feed(LOUD)
        clock.now_s += 0.02


def test_a_flush_drops_what_waits() -> None:
    """Sound goes on behind it, without a wait; with nothing waiting there is nothing to drop."""
    clock = Clock()
    outgoing = Outgoing(clock)
    assert outgoing.flush() is None
    for _ in range(10):
        outgoing.feed(LOUD)
    assert outgoing.flush() == outgoing.sent == 10 * FRAME_SAMPLES
    assert (outgoing.delay_s, outgoing.flush()) == (0.0, None)


@given(st.lists(st.tuples(st.sampled_from(["put", "send", "break"]), st.integers(0, 5)), max_size=80))
def test_nothing_is_lost_and_nothing_comes_twice(moves: list[tuple[str, int]]) -> None:
    """However often a connection breaks and wherever: what the page has is what was put, in order."""

    async def run() -> None:
        box, put, have = Outbox(), 0, []
        for move, lost in moves:
            if move == "put":
                put += 1
                box.put(str(put))
            elif move == "send" and box.waiting:
                have.append(await box.next(lambda: False))
            elif move == "break":
                have = have[: max(0, len(have) - lost)]
                box.rewind(len(have))
        while box.waiting:
            have.append(await box.next(lambda: False))
        assert have == [str(n + 1) for n in range(put)]

    asyncio.run(run())


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader who takes nothing fills it, and that is known; one who takes all can go back only so far."""
    monkeypatch.setattr(outbox, "MOST_WAITING", 5)
    monkeypatch.setattr(outbox, "MOST_KEPT", 10)

    async def run() -> None:
        slow = Outbox()
        for _ in range(6):
            slow.put("x")
        assert slow.overflowed and slow.waiting == 5
        quick = Outbox()
        for n in range(30):
            quick.put(str(n))
            assert await quick.next(lambda: False) == str(n)
        assert quick.rewind(21) == 9
        for received in (5, 31):
            with pytest.raises(Problem):
                quick.rewind(received)

    asyncio.run(run())


def test_whoever_waits_is_told_that_it_is_enough() -> None:
    """Also with nothing to send."""

    async def run() -> None:
        box, gone = Outbox(), [False]
        waiting = asyncio.ensure_future(box.next(lambda: gone[0]))
        await asyncio.sleep(0)
        gone[0] = True
        box.wake()
        assert await waiting is None

    asyncio.run(run())


def test_a_page_sees_what_it_may() -> None:
    """Of a sentence the passage with the stretch that carries it; of a fault no word of the inside; no more."""
    passage = {
        "citation_id": "S1",
        "id": "p1",
        "source": "手册",
        "title": "退款",
        "text": "退款\n" + "请先在订单页提交申请并等待审核。" * 4 + "退款在审核通过后三天内到账。",
        "valid_from": None,
    }
    sentence = {
        "index": 0,
        "text": "退款三天内到账。[S1]",
        "passed": True,
        "reason": None,
        "cited": ["p1"],
        "ms": 1.0,
    }
    told = shown("sentence", {**sentence, "evidence": [passage], "others": [passage], "relevance": {}})
    assert told is not None and "退款在审核通过后三天内到账。" in told["evidence"][0]["span"]
    assert told["evidence"][0]["span"] in passage["text"] and "others" not in told and "relevance" not in told
    assert shown("error", {"where": "reply", "message": "/srv/secret"}) == {"where": "reply"}
    assert shown("recall", {"channels": {}}) is None and "message" not in str(SHOWN)
