"""Which calls new thresholds decide in while they prove themselves on a share of them. Pure."""

from __future__ import annotations

import hashlib


def is_staged(call: str, percent: float) -> bool:
    """Whether the call is of the share, by a hash of its name: the same on every machine and after every restart, and
    a call that is of a smaller share is of every greater one.

    >>> is_staged("talk-20261130-093000", 0), is_staged("talk-20261130-093000", 100)
    (False, True)
    """
    point = int.from_bytes(hashlib.sha256(call.encode()).digest()[:8], "big") / 2**64
    return point * 100.0 < percent
