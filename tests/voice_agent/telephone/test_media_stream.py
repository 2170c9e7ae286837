"""Media streams: what the messages tell, in both spellings, and what a peer can do wrong."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voice_agent.telephone import media_stream as ms
from voice_agent.telephone.news import Began, Broken, Ended, News, Pressed, Reached, Sound

CONNECTED = {"event": "connected", "protocol": "Call", "version": "1.0.0"}
START: dict[str, Any] = {
    "event": "start",
    "sequenceNumber": "1",
    "streamSid": "MZ1",
    "start": {
        "streamSid": "MZ1",
        "callSid": "CA1",
        "tracks": ["inbound"],
        "customParameters": {"key": "secret"},
        "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
    },
}
BEGAN = Began("MZ1", "CA1", "mulaw", {"key": "secret"})


def media(sound: bytes, **more: object) -> dict[str, Any]:
    return {
        "event": "media",
        "streamSid": "MZ1",
        "media": {"payload": b64encode(sound).decode(), **more},
    }


def read(*messages: object) -> list[News | None]:
    reader = ms.MediaStreamReader()
    return [reader.read(each if isinstance(each, str) else json.dumps(each)) for each in messages]


def test_a_call_is_told_message_by_message() -> None:
    """connected, start, media, dtmf, mark, stop; what is of our own track or of no kind we know is passed over."""
    told = read(
        CONNECTED,
        START,
        media(b"\xff\x7f", track="inbound", chunk="1", timestamp="5"),
        media(b"\x00", track="outbound"),
        {"event": "dtmf", "dtmf": {"track": "inbound_track", "digit": "5"}},
        {"event": "mark", "mark": {"name": "m1"}},
        {"event": "invented-later", "x": 1},
        {"event": "stop", "stop": {"callSid": "CA1"}},
        media(b"\x00"),
    )
    assert told == [None, BEGAN, Sound(b"\xff\x7f"), None, Pressed("5"), Reached("m1"), None, Ended(), None]


def test_the_other_spelling_is_read_too() -> None:
    """Names with underscores, numbers as text, no connected message, A-law."""
    start = {
        "event": "start",
        "stream_id": "s-1",
        "start": {
            "call_control_id": "c-1",
            "custom_parameters": {"a": "b"},
            "media_format": {"encoding": "PCMA", "sample_rate": "8000", "channels": 1},
        },
    }
    assert read(start) == [Began("s-1", "c-1", "alaw", {"a": "b"})]
    assert read({"event": "start", "start": {"stream_sid": "s-2"}}) == [Began("s-2", "s-2", "mulaw", {})]


def started(**changes: object) -> dict[str, Any]:
    return {**START, "start": {**START["start"], **changes}}


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        (["{"], "not JSON"),
        (["[1]"], "no JSON object"),
        (["[" * 30_000], "not JSON"),
        (["x" * 40_000], "at most"),
        ([{}], "names its event"),
        ([{"event": 7}], "names its event"),
        ([CONNECTED, CONNECTED], "connected after"),
        ([START, CONNECTED], "connected after"),
        ([CONNECTED, media(b"\xff")], "media before start"),
        ([{"event": "mark", "mark": {"name": "m"}}], "mark before start"),
        ([START, START], "second start"),
        ([{"event": "start", "start": {}}], "names no stream"),
        ([{"event": "start", "start": {"streamSid": "a\nb"}}], "names no stream"),
        ([started(mediaFormat={"encoding": "audio/x-l16", "sampleRate": 16000})], "8000 Hz"),
        (
            [started(mediaFormat={"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 2})],
            "1 channel",
        ),
        ([started(mediaFormat="mulaw")], "format"),
        ([started(customParameters={"key": 7})], "parameters"),
        ([started(customParameters={str(n): "" for n in range(99)})], "parameters"),
        ([START, {"event": "media", "media": {"payload": "not base64!"}}], "not base64"),
        ([START, {"event": "media", "media": {"payload": "AAA"}}], "not base64"),
        ([START, {"event": "media", "media": {"payload": 7}}], "not base64"),
        ([START, {"event": "media"}], "not base64"),
        ([START, media(bytes(8001))], "at most 8000"),
        ([START, {"event": "dtmf", "dtmf": {"digit": "12"}}], "digit"),
        ([START, {"event": "mark"}], "mark without"),
    ],
)
def test_what_is_wrong_is_named(messages: list[object], why: str) -> None:
    """Wrong order, bad base64, another format, too large: each says what it was, and nothing after it is read."""
    reader = ms.MediaStreamReader()
    told = [reader.read(each if isinstance(each, str) else json.dumps(each)) for each in messages]
    last = told[-1]
    assert isinstance(last, Broken)
    assert why in last.why
    assert reader.read(json.dumps(START)) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
PARTS = st.dictionaries(
    st.sampled_from(
        [
            "streamSid",
            "stream_id",
            "callSid",
            "mediaFormat",
            "customParameters",
            "payload",
            "digit",
            "name",
            "track",
        ]
    ),
    JSON,
    max_size=5,
)
MESSAGES = st.fixed_dictionaries(
    {"event": st.sampled_from(["connected", "start", "media", "dtmf", "mark", "stop", "x"]) | JSON},
    optional=dict.fromkeys(("start", "media", "dtmf", "mark", "streamSid"), PARTS | JSON),
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.one_of(MESSAGES.map(json.dumps), st.text(max_size=30), st.just(json.dumps(START))), max_size=6
    )
)
def test_garbage_is_one_clear_word(messages: list[str]) -> None:
    """Nothing raises whatever is sent; after the end there are no more news."""
    reader = ms.MediaStreamReader()
    told = [news for text in messages if (news := reader.read(text)) is not None]
    ends = [at for at, news in enumerate(told) if isinstance(news, Ended | Broken)]
    assert ends in ([], [len(told) - 1])


def test_our_messages_name_the_stream_in_both_spellings() -> None:
    """media, mark, clear and stop, as either kind of provider reads them."""
    for text, event in (
        (ms.media("MZ1", b"\xff"), "media"),
        (ms.mark("MZ1", "m1"), "mark"),
        (ms.clear("MZ1"), "clear"),
        (ms.stop("MZ1", "goodbye"), "stop"),
    ):
        message = json.loads(text)
        assert (message["event"], message["streamSid"], message["stream_id"]) == (event, "MZ1", "MZ1")
    assert b64decode(json.loads(ms.media("MZ1", b"\x01\x02"))["media"]["payload"]) == b"\x01\x02"
    assert json.loads(ms.mark("MZ1", "m1"))["mark"] == {"name": "m1"}


def test_a_secret_does_not_show() -> None:
    """The parameters may hold a key: they are left out wherever the news are printed."""
    assert "secret" not in repr(BEGAN)
