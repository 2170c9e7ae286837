"""What audio tests share: where the embedded models lie."""

from __future__ import annotations

from pathlib import Path

import pytest


def _model(name: str) -> Path:
    # Imported here: only tests marked `models` need to know where the agent keeps its files.
    from voice_agent.weights.store import model_home

    folder = model_home() / name
    if not folder.is_dir():
        pytest.skip(f"{folder} is missing: run `voice-agent models pull`")
    return folder


@pytest.fixture(scope="session")
def whisper_dir() -> Path:
    """The folder of the embedded recogniser."""
    return _model("whisper-base")


@pytest.fixture(scope="session")
def kokoro_dir() -> Path:
    """The folder of the embedded voices."""
    return _model("kokoro")
