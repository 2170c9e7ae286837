"""One utterance coming in from the service behind edge-tts, and every way that can fail by its kind.

The service is asked on a thread of its own, so that whoever waits for the next piece can tell a slow answer from a
long one, and leave at any moment without waiting for the network.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from audio.errors import SpeechError, SpeechFault

if TYPE_CHECKING:
    from edge_tts import Communicate

ENGINE = "edge-tts"

MAX_BYTES = 2_000_000
"""Of MP3 for one utterance: five minutes. More is not an answer to what was asked."""


@dataclass(frozen=True, slots=True)
class EdgePatience:
    """Wall seconds that the service is waited for: to be reached, until sound may begin, and for more of it."""

    connect_s: int = 2
    first_audio_s: float = 3.0
    stall_s: float = 2.0


class EdgeAnswer:
    """MP3 bytes as they come. `take` is for one reader; `leave` may be called at any time."""

    def __init__(self, request: Communicate, patience: EdgePatience) -> None:
        self._request, self._patience = request, patience
        self._pieces: queue.SimpleQueue[bytes | SpeechError | None] = queue.SimpleQueue()
        self._left = threading.Event()
        threading.Thread(target=self._receive, name=ENGINE, daemon=True).start()

    def take(self, waits_s: float) -> bytes | None:
        """The next piece, None at the end. Raises SpeechError, also when none comes in `waits_s`."""
        try:
            piece = self._pieces.get(timeout=max(0.0, waits_s))
        except queue.Empty as late:
            raise SpeechError(SpeechFault.SLOW, f"{ENGINE}: no sound in time") from late
        if isinstance(piece, SpeechError):
            raise piece
        return piece

    def leave(self) -> None:
        """Nothing more is wanted: the connection is closed with its next piece, or when its time is up."""
        self._left.set()

    def _receive(self) -> None:
        from aiohttp import ClientError
        from edge_tts.exceptions import EdgeTTSException

        try:
            asyncio.run(self._stream())
        except SpeechError as fault:
            self._pieces.put(fault)
        except (
            ClientError,
            EdgeTTSException,
            OSError,
            TimeoutError,
            ValueError,
            LookupError,
            TypeError,
        ) as fault:
            self._pieces.put(_classified(fault))
        else:
            self._pieces.put(None)

    async def _stream(self) -> None:
        """Every wait is bounded. The library takes a connection that was cut for the end: what it counts tells."""
        received = 0
        async with aclosing(self._request.stream()) as chunks:
            while not self._left.is_set():
                async with asyncio.timeout(
                    self._patience.stall_s if received else self._patience.first_audio_s
                ):
                    chunk = await anext(chunks, None)
                if chunk is None:
                    break
                if chunk["type"] == "audio":
                    received += len(chunk["data"])
                    self._pieces.put(chunk["data"])
                if received > MAX_BYTES:
                    raise SpeechError(
                        SpeechFault.GARBLED, f"{ENGINE}: over {MAX_BYTES} bytes for one sentence"
                    )
        if received and not self._request.state["cumulative_audio_bytes"]:
            raise SpeechError(SpeechFault.CUT, f"{ENGINE}: the connection ended in the middle of a sentence")


def _classified(fault: Exception) -> SpeechError:
    """The library's and the network's faults by kind, each with what to do."""
    from aiohttp import ClientError, WSServerHandshakeError
    from edge_tts import exceptions

    told = repr(fault)
    match fault:
        case exceptions.SkewAdjustmentError() | WSServerHandshakeError(status=403):
            kind, told = SpeechFault.FORBIDDEN, "status 403: check the clock, or update edge-tts"
        case exceptions.NoAudioReceived():
            kind, told = SpeechFault.NO_AUDIO, "no sound came: check tts.edge_voice"
        case exceptions.WebSocketError():
            kind = SpeechFault.CUT
        case TimeoutError():
            kind, told = SpeechFault.SLOW, "no answer in time"
        case ClientError() | OSError():
            kind, told = SpeechFault.UNREACHABLE, f"{fault}: is there a way out to the network?"
        case _:
            kind = SpeechFault.GARBLED
    error = SpeechError(kind, f"{ENGINE}: {told}")
    error.__cause__ = fault
    return error
