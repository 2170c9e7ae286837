"""A live call's hand-off sink, from the configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.voice_agent.receivers import Receiver
from voice_agent.config import Config, load_config
from voice_agent.errors import ConfigError
from voice_agent.handing_over import live_sink, send_left_behind
from voice_agent.reply.handoff import FileHandoffSink, HandoffPacket
from voice_agent.reply.spool import Spool, Spooled
from voice_agent.reply.webhook import KEY_VARIABLE

PACKET = HandoffPacket("c1", 1, "ASKED", "转人工")


def configured(folder: Path, *overrides: str) -> Config:
    file = folder / "config.yaml"
    file.write_text("paths: {logs: logs}\n", "utf-8")
    return load_config(file, overrides)


def test_without_a_webhook_packets_are_files(tmp_path: Path) -> None:
    """Files in logs/handoff, and nothing is sent at the start."""
    config = configured(tmp_path)
    delivery = live_sink(config, str).deliver(PACKET)
    assert isinstance(live_sink(config, str), FileHandoffSink) and delivery.taken
    assert Path(delivery.where) == tmp_path.resolve() / "logs" / "handoff" / "c1.json"
    assert send_left_behind(config) == 0


def test_with_a_webhook_packets_are_sent_and_so_is_what_was_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key comes from the environment; the spool lies beside the packets."""
    monkeypatch.setenv(KEY_VARIABLE, "0123456789abcdef")
    with Receiver([200]) as receiver:
        config = configured(tmp_path, f"handoff.webhook={receiver.url}")
        Spool(config.paths.logs / "handoff" / "spool").keep(Spooled("old", b"{}"))
        assert send_left_behind(config) == 1
        assert live_sink(config, str).deliver(PACKET).taken
    assert [request.headers["idempotency-key"] for request in receiver.requests] == ["old", "c1"]


def test_a_webhook_without_its_key_is_refused_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not at the first hand-off, when a caller waits."""
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    config = configured(tmp_path, "handoff.webhook=https://desk.example.com/hook")
    with pytest.raises(ConfigError, match=KEY_VARIABLE):
        live_sink(config, str)
    with pytest.raises(ConfigError, match=KEY_VARIABLE):
        send_left_behind(config)


@pytest.mark.parametrize(
    "override",
    ["webhook=http://desk.example.com/", "webhook=nonsense", "timeout_s=0", "attempts=9", "attempts=0"],
)
def test_a_bad_setting_is_one_line(tmp_path: Path, override: str) -> None:
    """TLS-less addresses of other machines are refused when the configuration is read."""
    with pytest.raises(ConfigError) as error:
        configured(tmp_path, f"handoff.{override}")
    assert f"handoff.{override.partition('=')[0]}" in str(error.value) and "\n" not in str(error.value)
