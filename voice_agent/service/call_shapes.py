"""The messages of a call over a WebSocket, both ways; docs/call.md tells when each is sent."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from audio.types import CALL_RATE_HZ
from voice_agent.floor.duties import Ending
from voice_agent.service.problem import Problem

T = TypeVar("T")

PROTOCOL = "voice-agent.v1"
"""The subprotocol of the handshake."""

MESSAGE_CHARS = 1000
"""Of a text message; the longest has under two hundred."""

_MOST = 2**53
# The largest count that JavaScript keeps exactly.


class _Message(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class Start(_Message):
    """Begins a call: how the caller's sound comes, and whether they agree to be recorded."""

    type: Literal["start"]
    codec: Literal["pcm16", "opus"] = "pcm16"
    rate: Literal[8000, 16000, 24000, 48000] = 16000
    record: bool = False


class Resume(_Message):
    """Goes on with a call: `received` messages of it have come so far."""

    type: Literal["resume"]
    received: int = Field(ge=0, le=_MOST)


class PlayedTo(_Message):
    """The agent's sound has been played up to this sample of what was sent."""

    type: Literal["played"]
    samples: int = Field(ge=0, le=_MOST)


class HangUp(_Message):
    """The caller hangs up."""

    type: Literal["hang_up"]


First = Start | Resume
Later = PlayedTo | HangUp

_FIRST: TypeAdapter[First] = TypeAdapter(Annotated[First, Field(discriminator="type")])
_LATER: TypeAdapter[Later] = TypeAdapter(Annotated[Later, Field(discriminator="type")])

State = Literal["listening", "thinking", "speaking", "paused", "handing_off", "ended"]


class Ready(_Message):
    """The call has begun; `resume` is its token, `rate` that of the agent's sound in Hz."""

    type: Literal["ready"] = "ready"
    call: str
    resume: str
    rate: int = CALL_RATE_HZ
    greeting: str | None
    recorded: bool


class Resumed(_Message):
    """The call goes on; `replayed` messages follow that were sent before."""

    type: Literal["resumed"] = "resumed"
    call: str
    replayed: int


class StateTold(_Message):
    """Who has the floor now."""

    type: Literal["state"] = "state"
    state: State


class EventTold(_Message):
    """An event of the call at `t` seconds, in turn `turn`."""

    type: Literal["event"] = "event"
    kind: str
    t: float
    turn: int
    data: dict[str, Any]


class Flush(_Message):
    """What is not played yet shall not be; sound goes on at this sample."""

    type: Literal["flush"] = "flush"
    samples: int


class Ended(_Message):
    """The call has ended."""

    type: Literal["ended"] = "ended"
    reason: Ending


def read_first(text: str) -> First:
    """Raises Problem."""
    return _read(_FIRST, text)


def read_later(text: str) -> Later:
    """Raises Problem."""
    return _read(_LATER, text)


def _read(adapter: TypeAdapter[T], text: str) -> T:
    if len(text) > MESSAGE_CHARS:
        raise Problem("too-large", f"a text message has at most {MESSAGE_CHARS} characters")
    try:
        return adapter.validate_json(text)
    except ValidationError as e:
        first = e.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise Problem("bad-message", f"{where}: {first['msg']}; see docs/call.md") from e
