"""Hand-off packets by HTTP POST: signed, tried a few times, and kept in a spool until somebody has taken them.

The packet is on the disk before the first attempt, so neither a dead receiver nor a killed process loses it. Receivers
see the same `Idempotency-Key` (the call's id) on every attempt; a packet that grew while the caller was being handed
over comes with a higher `revision` and replaces the earlier one.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus

from voice_agent.errors import ConfigError
from voice_agent.reply.handoff import Delivery, HandoffPacket, masked
from voice_agent.reply.posting import Post, PostError, Target, post
from voice_agent.reply.spool import Spool, Spooled

KEY_VARIABLE = "VOICE_AGENT_HANDOFF_KEY"
MIN_KEY = 16
"""Bytes. A shorter key can be guessed."""

BACKOFF_S = 0.4
MAX_BACKOFF_S = 3.0
"""The pause after the first failed attempt, doubled after each, and its bound: a caller is on the line."""

RESENT_AT_ONCE = 50
"""Packets of earlier calls sent in one go; the rest wait for the next start."""

_WORTH_RETRYING = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS})
"""Of the 4xx. The others, and every 3xx, would be the same answer again."""


@dataclass(frozen=True, slots=True)
class Sending:
    """How packets are sent: where, signed with what, how long an attempt may take and how many there are.

    `jitter` gives numbers from 0 to 1, `pause` waits; both are passed in so that tests need neither luck nor time.
    """

    target: Target
    key: bytes
    timeout_s: float
    attempts: int
    jitter: Callable[[], float]
    pause: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.time
    post: Post = post


def signing_key(variable: str | None) -> bytes:
    """The key in the environment's `VOICE_AGENT_HANDOFF_KEY`. Raises ConfigError when it is missing or short."""
    key = (variable or "").encode()
    if len(key) < MIN_KEY:
        raise ConfigError(
            f"{KEY_VARIABLE}: not set or under {MIN_KEY} characters; handoff.webhook signs packets with it"
        )
    return key


class RefusedError(Exception):
    """The receiver answered, and would answer the same again."""


class WebhookHandoffSink:
    """Takes the place of the file sink. `mask` is the call's own, so placeholders agree with its journal."""

    def __init__(self, sending: Sending, spool: Spool, mask: Callable[[str], str]) -> None:
        self._sending = sending
        self._spool = spool
        self._mask = mask

    def deliver(self, packet: HandoffPacket) -> Delivery:
        """Tries at most `attempts` times. Raises OSError when the packet could be neither sent nor kept."""
        body = {"schema": 1, "revision": len(packet.added) + 1, **masked(packet, self._mask)}
        spooled = Spooled(packet.call, json.dumps(body, ensure_ascii=False).encode())
        unkept = _kept(self._spool, spooled)
        address = f"{self._sending.target.host}:{self._sending.target.port}"
        try:
            send(spooled, self._sending, self._sending.attempts)
        except (PostError, RefusedError) as e:
            if unkept is not None:
                raise OSError(f"not sent ({e}) and not kept ({unkept})") from e
            return Delivery(False, str(self._spool.folder), str(e))
        return Delivery(True, address, _dropped(self._spool, packet.call))


def resend(sending: Sending, spool: Spool, limit: int = RESENT_AT_ONCE) -> int:
    """Sends what waits, oldest first, one attempt each, and returns how many were taken.

    Stops at the first that nobody answers; one that is refused for good is put aside. Raises OSError.
    """
    sent = 0
    for packet, _ in zip(spool.waiting(), range(limit), strict=False):
        try:
            send(packet, sending, 1)
        except PostError:
            break
        except RefusedError:
            spool.refuse(packet.key)
        else:
            spool.drop(packet.key)
            sent += 1
    return sent


def send(packet: Spooled, sending: Sending, attempts: int) -> None:
    """Returns once the receiver has taken the packet. Raises RefusedError, or PostError after the last attempt."""
    for attempt in range(1, attempts + 1):
        try:
            return _attempt(packet, sending)
        except PostError:
            if attempt == attempts:
                raise
            longest_s = min(MAX_BACKOFF_S, BACKOFF_S * 2 ** (attempt - 1))
            sending.pause(longest_s * (0.5 + sending.jitter() / 2))
    raise PostError("no attempt is allowed")


def _attempt(packet: Spooled, sending: Sending) -> None:
    stamp = str(int(sending.now()))
    signature = hmac.new(sending.key, stamp.encode() + b"." + packet.body, hashlib.sha256).hexdigest()
    headers = {
        "Content-Type": "application/json; charset=utf-8",
        "Idempotency-Key": packet.key,
        "X-Handoff-Timestamp": stamp,
        "X-Handoff-Signature": f"sha256={signature}",
        "Connection": "close",
    }
    status = sending.post(sending.target, packet.body, headers, sending.timeout_s)
    if 200 <= status < 300:
        return
    answer = f"{sending.target.host}:{sending.target.port} answered {status}"
    raise PostError(answer) if status >= 500 or status in _WORTH_RETRYING else RefusedError(answer)


def _dropped(spool: Spool, key: str) -> str:
    """Empty, or why the packet will be sent again at the next start, which its key makes harmless."""
    try:
        spool.drop(key)
    except OSError as e:
        return f"taken, and still in the spool: {e}"
    return ""


def _kept(spool: Spool, packet: Spooled) -> OSError | None:
    """None when it is kept. A spool that fails is no reason not to try to send."""
    try:
        spool.keep(packet)
    except OSError as e:
        return e
    return None
