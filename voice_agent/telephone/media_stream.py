"""A provider's media stream: JSON messages of a WebSocket in, news out, and the messages that we send. Pure.

`connected` (which some leave out), `start`, then `media`, `dtmf` and `mark` in any order, then `stop`. Providers agree
on the events and differ in how they spell the names within: both spellings are read, unknown events are passed over.
"""

from __future__ import annotations

import binascii
import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from audio.pcm import Encoding
from voice_agent.telephone.news import (
    KEYS,
    MAX_SOUND_S,
    RATE_HZ,
    Began,
    Broken,
    Ended,
    News,
    Pressed,
    Reached,
    Sound,
)

MAX_SOUND_BYTES = int(MAX_SOUND_S * RATE_HZ)
MAX_MESSAGE = 32 * 1024
"""Characters: a second of sound is under 11,000 of them, the parameters of a start message a few hundred."""

MAX_NAME = 200
"""Characters of an id or the name of a mark."""

MAX_PARAMETERS = 50

_ENCODINGS: Final[Mapping[str, Encoding]] = {
    "audio/x-mulaw": "mulaw",
    "audio/mulaw": "mulaw",
    "mulaw": "mulaw",
    "pcmu": "mulaw",
    "audio/x-alaw": "alaw",
    "audio/alaw": "alaw",
    "alaw": "alaw",
    "pcma": "alaw",
}
_OURS: Final = ("outbound", "outbound_track")
"""The track of what we said ourselves: not the caller."""


class _Stage(Enum):
    NEW = "new"
    CONNECTED = "connected"
    STARTED = "started"
    OVER = "over"


class MediaStreamReader:
    """One a WebSocket. After `Ended` or `Broken` there are no news."""

    def __init__(self) -> None:
        self._stage = _Stage.NEW

    def read(self, text: str) -> News | None:
        """The next message -> what it tells, None if nothing of ours."""
        if self._stage is _Stage.OVER:
            return None
        told = self._told(text)
        if isinstance(told, Ended | Broken):
            self._stage = _Stage.OVER
        return told

    def _told(self, text: str) -> News | None:
        message = _parsed(text)
        if isinstance(message, Broken):
            return message
        event = message.get("event")
        match event:
            case "connected":
                return self._connected()
            case "start":
                return self._started(message)
            case "stop":
                return Ended()
            case "media" | "dtmf" | "mark":
                if self._stage is not _Stage.STARTED:
                    return Broken(f"{event} before start: send start first")
                return _during(event, _part(message, event))
            case str():
                return None
            case _:
                return Broken("a message without an event: every message names its event")

    def _connected(self) -> News | None:
        if self._stage is not _Stage.NEW:
            return Broken("connected after the stream began: it is the first message, or none")
        self._stage = _Stage.CONNECTED
        return None

    def _started(self, message: Mapping[str, Any]) -> News:
        if self._stage is _Stage.STARTED:
            return Broken("a second start: one connection carries one call")
        self._stage = _Stage.STARTED
        return _began(message, _part(message, "start"))


def media(stream: str, sound: bytes) -> str:
    """The agent's next stretch of sound."""
    return _message("media", stream, media={"payload": b64encode(sound).decode("ascii")})


def mark(stream: str, name: str) -> str:
    """Comes back as `Reached` when everything sent before it was played."""
    return _message("mark", stream, mark={"name": name})


def clear(stream: str) -> str:
    """What was sent and is not yet played is to be dropped."""
    return _message("clear", stream)


def stop(stream: str, reason: str) -> str:
    """We have ended the call, and why; the connection is closed behind it."""
    return _message("stop", stream, stop={"reason": reason})


def _message(event: str, stream: str, **parts: object) -> str:
    # Both spellings of the stream's name: each provider reads its own.
    return json.dumps({"event": event, "streamSid": stream, "stream_id": stream, **parts})


def _parsed(text: str) -> Mapping[str, Any] | Broken:
    if len(text) > MAX_MESSAGE:
        return Broken(f"a message of {len(text)} characters: at most {MAX_MESSAGE} are read")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return Broken("a message that is not JSON")
    return message if isinstance(message, dict) else Broken("a message that is no JSON object")


def _part(message: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = message.get(name)
    return part if isinstance(part, dict) else {}


def _either(part: Mapping[str, Any], *names: str) -> Any:
    return next((part[name] for name in names if name in part), None)


def _name(value: Any) -> str:
    """An id or a mark as text that can be journalled; empty for anything else."""
    return value if isinstance(value, str) and len(value) <= MAX_NAME and value.isprintable() else ""


def _began(message: Mapping[str, Any], start: Mapping[str, Any]) -> News:
    ids = ("streamSid", "stream_sid", "stream_id", "streamId")
    stream = _name(_either(start, *ids)) or _name(_either(message, *ids))
    if not stream:
        return Broken("start names no stream: streamSid or stream_id is needed")
    encoding = _encoding(_either(start, "mediaFormat", "media_format"))
    if encoding is None:
        return Broken("start asks for a format that is not read here: use µ-law or A-law, 8000 Hz, 1 channel")
    call = _name(_either(start, "callSid", "call_sid", "call_control_id", "callId")) or stream
    given = _either(start, "customParameters", "custom_parameters")
    parameters = _parameters(given)
    return (
        Broken("the parameters of start are too many or no text")
        if parameters is None
        else (Began(stream, call, encoding, parameters))
    )


def _encoding(form: Any) -> Encoding | None:
    """What the sound is coded in; µ-law where nothing is said, None for what cannot be read."""
    if form is None:
        return "mulaw"
    if not isinstance(form, dict):
        return None
    rate, channels = _either(form, "sampleRate", "sample_rate"), form.get("channels", 1)
    if str(rate if rate is not None else RATE_HZ) != str(RATE_HZ) or str(channels) != "1":
        return None
    return _ENCODINGS.get(str(form.get("encoding", "mulaw")).lower())


def _parameters(given: Any) -> Mapping[str, str] | None:
    if given is None:
        return {}
    if not isinstance(given, dict) or len(given) > MAX_PARAMETERS:
        return None
    return given if all(isinstance(value, str) for value in given.values()) else None


def _during(event: str, part: Mapping[str, Any]) -> News | None:
    match event:
        case "media":
            return None if part.get("track") in _OURS else _sound(part.get("payload"))
        case "dtmf":
            key = part.get("digit")
            known = isinstance(key, str) and key.upper() in KEYS
            return Pressed(str(key).upper()) if known else Broken("dtmf without a digit of a telephone")
        case _:
            name = _name(part.get("name"))
            return Reached(name) if name else Broken("a mark without a name")


def _sound(payload: Any) -> News:
    try:
        sound = b64decode(payload, validate=True) if isinstance(payload, str) else None
    except (binascii.Error, ValueError):
        sound = None
    if sound is None:
        return Broken("media whose payload is not base64")
    if len(sound) > MAX_SOUND_BYTES:
        return Broken(f"media of {len(sound)} bytes: at most {MAX_SOUND_BYTES}, a second of sound, are read")
    return Sound(sound)
