"""docs/telephone.md says what is so: its messages are read, its settings exist, its numbers are the code's."""

from __future__ import annotations

import re

import pytest
import yaml

from tests.voice_agent.serving import ROOT
from voice_agent.config import Service
from voice_agent.telephone import attending, flow, keypad, line
from voice_agent.telephone.media_stream import MediaStreamReader
from voice_agent.telephone.news import Began, Ended, News, Pressed, Reached, Sound

DOCUMENT = (ROOT / "docs" / "telephone.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", DOCUMENT, re.DOTALL)


def test_the_messages_are_read() -> None:
    """In their order, each as what the document says it is."""
    reader = MediaStreamReader()
    told = [reader.read(text) for text in blocks("json")[0].splitlines()]
    kinds: list[type[News]] = [type(news) for news in told if news is not None]
    assert kinds == [Began, Sound, Pressed, Reached, Ended]


@pytest.mark.parametrize("block", blocks("yaml"))
def test_the_settings_exist(block: str) -> None:
    """Each example is a configuration that is taken."""
    Service.model_validate(yaml.safe_load(block)["service"])


def test_every_setting_is_named() -> None:
    """What can be set for telephone calls stands in the document."""
    names = [name for name in Service.model_fields if name.startswith(("phone_", "audiosocket_"))]
    assert [name for name in names if name not in DOCUMENT] == []


def test_the_bounds_are_the_code_s() -> None:
    """A number changed here must be changed there."""
    for bound in (
        f"within {attending.FIRST_S:.0f} s",
        f"No sound for {line.MUTE_S:.0f} s",
        f"{flow.SLACK_S:.0f} s are taken",
        f"{flow.TOO_MUCH_S:.0f} s dropped",
        f"takes nothing for {attending.SEND_S:.0f} s",
        f"have {attending.LAST_WORDS_S:.0f} s to be heard",
        f"{keypad.PAUSE_S:.0f} s",
    ):
        assert bound in DOCUMENT.replace("\n  ", " ").replace("\n", " "), bound
