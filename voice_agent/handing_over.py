"""Which hand-off sink a live call gets, and what is sent at the start of what earlier calls left behind."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

from voice_agent.config import Config
from voice_agent.reply.handoff import FileHandoffSink, HandoffSink
from voice_agent.reply.posting import target_of
from voice_agent.reply.spool import Spool
from voice_agent.reply.webhook import KEY_VARIABLE, Sending, WebhookHandoffSink, resend, signing_key


def live_sink(config: Config, mask: Callable[[str], str]) -> HandoffSink:
    """The webhook when one is configured, else files in logs/handoff. Raises ConfigError when its key is missing.

    For calls with a real caller: a replay hands over to nobody and keeps its packets beside its journals.
    """
    sending = _sending(config)
    if sending is None:
        return FileHandoffSink(_folder(config), mask)
    return WebhookHandoffSink(sending, _spool(config), mask)


def send_left_behind(config: Config) -> int:
    """Sends the packets that nobody had taken; returns how many are taken now. Blocking, for the start of a service.

    Nothing without a webhook. Raises ConfigError, or OSError when the spool cannot be read.
    """
    sending = _sending(config)
    return 0 if sending is None else resend(sending, _spool(config))


def _sending(config: Config) -> Sending | None:
    handoff = config.handoff
    if handoff.webhook is None:
        return None
    key = signing_key(os.environ.get(KEY_VARIABLE))
    return Sending(target_of(handoff.webhook), key, handoff.timeout_s, handoff.attempts, random.random)


def _folder(config: Config) -> Path:
    return config.paths.logs / "handoff"


def _spool(config: Config) -> Spool:
    return Spool(_folder(config) / "spool")
