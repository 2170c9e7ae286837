"""Sound at the pace of speech, either way: what comes faster is not taken, and silence is not sent. Pure."""

from __future__ import annotations

from dataclasses import dataclass

FASTER = 1.02
"""The far side's clock may run so much faster than ours before it counts as hurry."""

SLACK_S = 2.0
"""Of sound that may come at once, after a network held it back. What is older than this belongs to nobody any more."""

TOO_MUCH_S = 30.0
"""Of sound refused: whoever sends so much more than is spoken is no telephone."""

QUIET_PACKETS = 10
"""So many silent packets, 0.2 s, end a stretch of speech: a pause within a sentence is shorter."""

LEAD_PACKETS = 3
"""Silence before a stretch, which the far side plays out while our packets come late by a few milliseconds."""


class Inflow:
    """How much sound may come in. One a call; `refused_s` counts what was not taken."""

    def __init__(self, now_s: float) -> None:
        self._level_s = 0.0
        self._now_s = now_s
        self.refused_s = 0.0

    @property
    def flooded(self) -> bool:
        """More was refused than a line would ever bring."""
        return self.refused_s > TOO_MUCH_S

    def take(self, sound_s: float, now_s: float) -> bool:
        """Whether so much sound may come in now."""
        self._level_s = max(0.0, self._level_s - FASTER * (now_s - self._now_s))
        self._now_s = now_s
        if self._level_s + sound_s > SLACK_S:
            self.refused_s += sound_s
            return False
        self._level_s += sound_s
        return True


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What is sent for one packet of the agent's side. A stretch of speech begins before the packets or ends after."""

    packets: tuple[bytes, ...]
    began: bool = False
    ended: bool = False


class Spurts:
    """The agent's side without its silences, for a far side that plays what it gets as it comes. One a call."""

    def __init__(self, silence: bytes) -> None:
        """`silence` is a packet of it."""
        self._silence = silence
        self._quiet = QUIET_PACKETS

    def send(self, packet: bytes) -> Outgoing:
        """The next 20 ms -> what goes out now."""
        if packet != self._silence:
            began = self._quiet >= QUIET_PACKETS
            self._quiet = 0
            lead = (self._silence,) * LEAD_PACKETS if began else ()
            return Outgoing((*lead, packet), began=began)
        if self._quiet >= QUIET_PACKETS:
            return Outgoing(())
        self._quiet += 1
        return Outgoing((packet,), ended=self._quiet == QUIET_PACKETS)

    def clear(self) -> None:
        """What was sent is dropped by the far side: whatever comes next begins anew."""
        self._quiet = QUIET_PACKETS
