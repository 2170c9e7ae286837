"""AudioSocket: what the bytes tell, however they are cut, and what a peer can do wrong."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voice_agent.telephone.audiosocket import MAX_SOUND_BYTES, AudioSocketReader, Kind, frame
from voice_agent.telephone.news import Began, Broken, Ended, News, Pressed, Sound

ID = uuid.UUID("6f2a1c6e-0d52-4c3b-9d0a-5a1f00c0ffee")
NAMED = frame(Kind.UUID, ID.bytes)
BEGAN = Began(str(ID), str(ID), "s16")


def read(*chunks: bytes) -> list[News]:
    reader = AudioSocketReader()
    return [news for chunk in chunks for news in reader.push(chunk)] + reader.finish()


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in zip(edges, edges[1:], strict=False)]


def test_a_call_is_named_heard_and_hung_up() -> None:
    """The bytes of a short call as the protocol's page shows them: UUID, sound, a key, a hang-up of three zeros."""
    sound = bytes(range(256)) + bytes(64)
    data = b"\x01\x00\x10" + ID.bytes + b"\x10\x01\x40" + sound + b"\x03\x00\x01" + b"5" + b"\x00\x00\x00"
    assert read(data) == [BEGAN, Sound(sound), Pressed("5"), Ended()]


FRAMES = st.lists(
    st.one_of(
        st.binary(max_size=40).map(lambda data: frame(Kind.SOUND, data + data)),
        st.sampled_from("0123456789*#ABCDabcd").map(lambda key: frame(Kind.KEY, key.encode())),
    ),
    max_size=12,
)


@settings(max_examples=100, deadline=None)
@given(frames=FRAMES, places=st.lists(st.integers(0, 2000), max_size=20), hung_up=st.booleans())
def test_how_the_bytes_are_cut_never_shows(frames: list[bytes], places: list[int], hung_up: bool) -> None:
    """Any chunking of a proper call gives the same news, byte by byte or all at once."""
    data = NAMED + b"".join(frames) + (frame(Kind.HANG_UP) if hung_up else b"")
    whole = read(data)
    assert whole[0] == BEGAN
    assert len(whole) == len(frames) + 2
    assert whole[-1] == Ended()
    assert read(*cut(data, places)) == whole == read(*(data[i : i + 1] for i in range(len(data))))


@settings(max_examples=150, deadline=None)
@given(data=st.binary(max_size=200), places=st.lists(st.integers(0, 200), max_size=8), named=st.booleans())
def test_garbage_is_one_clear_word_however_it_is_cut(data: bytes, places: list[int], named: bool) -> None:
    """Nothing raises; the last of the news says how it ended, and nothing comes after it."""
    data = (NAMED if named else b"") + data
    whole = read(data)
    assert isinstance(whole[-1], Ended | Broken)
    assert not any(isinstance(news, Ended | Broken) for news in whole[:-1])
    assert read(*cut(data, places)) == whole
    assert all("\n" not in news.why for news in whole if isinstance(news, Broken))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"GET / HTTP/1.1\r\n", "kind 0x47"),
        (b"\x01\x00\x0f" + bytes(15), "16 to 16"),
        (frame(Kind.UUID, bytes(16)), "all zeros"),
        (NAMED + NAMED, "second UUID"),
        (frame(Kind.SOUND, bytes(320)), "before the UUID"),
        (frame(Kind.KEY, b"1"), "before the UUID"),
        (NAMED + frame(Kind.SOUND, bytes(319)), "16-bit"),
        (NAMED + b"\x10\xff\xff", "65535 bytes"),
        (NAMED + b"\x12\x02\x80", "slin, 8 kHz"),
        (NAMED + frame(Kind.KEY, b"x"), "0x78"),
        (NAMED + frame(Kind.ERROR, b"\x01"), "error 01"),
        (NAMED + frame(Kind.ERROR), "without a code"),
        (NAMED + frame(Kind.SOUND, bytes(320))[:100], "cut after 100 bytes"),
    ],
)
def test_what_is_wrong_is_named(data: bytes, why: str) -> None:
    """Wrong UUID, wrong order, a frame too large, another rate, a cut in mid-frame: each says what it was."""
    last = read(data)[-1]
    assert isinstance(last, Broken)
    assert why in last.why


def test_an_oversize_frame_is_refused_by_its_header() -> None:
    """Nothing is waited for or kept of a payload that will not be read."""
    reader = AudioSocketReader()
    reader.push(NAMED)
    assert isinstance(reader.push(b"\x10" + (MAX_SOUND_BYTES + 1).to_bytes(2, "big"))[0], Broken)
    assert reader.push(bytes(100_000)) == []
    assert reader.finish() == []


def test_our_frames_are_what_the_reader_reads() -> None:
    """The other end would understand them; a payload that its kind cannot have is our own mistake."""
    assert frame(Kind.HANG_UP) == bytes(3)
    assert frame(Kind.SOUND, b"\x01\x02") == b"\x10\x00\x02\x01\x02"
    with pytest.raises(ValueError, match="KEY"):
        frame(Kind.KEY, b"12")
