"""What stands on disk is ready only if every byte of it is vouched for; the check at start is cheap."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.voice_agent.wheels import joined, model, part, sha
from voice_agent.errors import WeightsError
from voice_agent.weights import manifest, store
from voice_agent.weights.catalogue import CATALOGUE, ModelFile
from voice_agent.weights.store import model_home, named, record, require, status, verify

BIG, SMALL, KUMO = b"big weights", b"{}", b"kumo"
FILES = (
    joined("big.bin", part("one", "big", BIG), data=BIG),
    joined("sub/small.json", part("voices", "small", SMALL, "npm"), data=SMALL),
)
SPARE = (joined("sub/kumo.bin", part("two", "kumo", KUMO), data=KUMO),)
TINY = model("tiny", *FILES, spare=SPARE)
MADE = model("made", ModelFile("made.bin", (part("one", "big", BIG),), 5, None, "e5_onnx", "1"))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """TINY as pulled, and MADE, whose hash only its manifest knows."""
    for folder, files in (
        ("tiny", {"big.bin": BIG, "sub/small.json": SMALL}),
        ("made", {"made.bin": b"made!"}),
    ):
        for name, data in files.items():
            path = tmp_path / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    record(TINY.files, tmp_path / "tiny", {})
    record(MADE.files, tmp_path / "made", {"made.bin": sha(b"made!")})
    return tmp_path


def states(home: Path) -> list[str]:
    return [found.state for found in verify((TINY, MADE), home)]


def test_the_home_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """VOICE_AGENT_HOME/models, a tilde expanded; without it the user's cache directory."""
    monkeypatch.setenv("VOICE_AGENT_HOME", str(tmp_path))
    assert model_home() == tmp_path / "models"
    monkeypatch.setenv("VOICE_AGENT_HOME", "~/agent")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert model_home() == tmp_path / "agent" / "models"
    monkeypatch.delenv("VOICE_AGENT_HOME")
    assert model_home().parts[-2:] == ("voice-agent", "models")


def test_a_ready_model_gives_its_folder(home: Path) -> None:
    """`require` returns where the files are."""
    assert require("tiny", home, (TINY, MADE)) == home / "tiny"
    assert states(home) == ["ready", "ready"]
    found = status(TINY, home)
    assert (found.usable, found.size, found.licence) == (True, len(BIG) + len(SMALL), "MIT")


def test_a_missing_model_names_the_mend(tmp_path: Path) -> None:
    """One line: which model, where it should be, the command that brings it."""
    with pytest.raises(WeightsError) as caught:
        require("tiny", tmp_path, (TINY,))
    expected = f"model tiny is missing in {tmp_path / 'tiny'}: run `voice-agent models pull tiny`"
    assert str(caught.value) == expected
    with pytest.raises(WeightsError, match="known are whisper-base, kokoro, e5-small"):
        named("gpt")
    assert named("kokoro") is CATALOGUE[1]


def test_the_start_reads_no_contents(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With size and time as stamped nothing is hashed; after a copy everything is, once."""
    hashed: list[str] = []
    real = manifest.sha256_of
    monkeypatch.setattr(manifest, "sha256_of", lambda path: hashed.append(path.name) or real(path))
    require("made", home, (MADE,))
    assert hashed == []
    shutil.copy(home / "made" / "made.bin", home / "copy")
    os.utime(home / "copy", (1, 1))
    os.replace(home / "copy", home / "made" / "made.bin")
    require("made", home, (MADE,))
    assert hashed == ["made.bin"]
    require("made", home, (MADE,))
    assert hashed == ["made.bin"]


def test_changed_or_missing_files_are_damage(home: Path) -> None:
    """By size at start, by contents in verify, also for a file whose hash the catalogue does not know."""
    times = os.stat(home / "made/made.bin").st_mtime_ns
    (home / "made/made.bin").write_bytes(b"m4de!")
    os.utime(home / "made/made.bin", ns=(times, times))
    (home / "tiny/sub/small.json").unlink()
    assert states(home) == ["damaged", "damaged"]
    with pytest.raises(WeightsError, match=r"damaged.*sub/small\.json: missing or changed"):
        require("tiny", home, (TINY,))


def test_a_manifest_cannot_vouch_for_other_bytes_than_the_catalogues(home: Path) -> None:
    """A file exchanged together with its stamp is still not the one we know."""
    (home / "tiny/big.bin").write_bytes(b"evil things")
    path = home / "tiny" / manifest.NAME
    raw = json.loads(path.read_text("utf-8"))
    facts = manifest.stamp(home / "tiny/big.bin", sha(b"evil things"))
    raw["files"]["big.bin"] = {"size": facts.size, "mtime_ns": facts.mtime_ns, "sha256": facts.sha256}
    path.write_text(json.dumps(raw), "utf-8")
    assert states(home)[0] == "damaged"
    del raw["files"]["big.bin"]
    path.write_text(json.dumps(raw), "utf-8")
    assert states(home)[0] == "damaged"


def test_another_catalogue_makes_it_stale(home: Path) -> None:
    """What an older description made is not what this one means, even if the files look right."""
    (file,) = MADE.files
    newer = replace(MADE, files=(replace(file, argument="2"),))
    assert status(newer, home).state == "damaged"
    assert "another version" in status(newer, home).note


def test_files_put_there_by_hand_are_adopted_if_all_are_known(home: Path) -> None:
    """Without a manifest the catalogue's hashes decide; a converted file cannot be known."""
    (home / "tiny" / manifest.NAME).unlink()
    (home / "made" / manifest.NAME).unlink()
    assert states(home) == ["ready", "damaged"]
    assert (home / "tiny" / manifest.NAME).exists()
    (home / "tiny" / manifest.NAME).unlink()
    (home / "tiny/big.bin").write_bytes(b"other bytes")
    assert states(home)[0] == "damaged"


def test_the_spare_is_usable_and_says_what_is_lacking(home: Path) -> None:
    """With the stand-in the model serves, and its status carries the warning."""
    (home / "tiny/sub/kumo.bin").write_bytes(KUMO)
    record(TINY.spare_files, home / "tiny", {})
    found = status(TINY, home)
    assert (found.state, found.usable, found.note) == ("spare", True, TINY.spare_note)
    assert require("tiny", home, (TINY,)) == home / "tiny"


def test_a_read_only_folder_serves(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the manifest cannot be written the files are proved at each start; that is no fault."""

    def refuse(_folder: Path, _written: object) -> None:
        raise PermissionError("read-only")

    os.utime(home / "tiny/big.bin", (1, 1))
    monkeypatch.setattr(store.manifest, "write", refuse)
    assert states(home)[0] == "ready"


@pytest.mark.models
def test_the_embedded_models_are_the_known_ones() -> None:
    """Every byte on disk is that of the catalogue or of the conversion made here."""
    assert [(found.model, found.usable) for found in verify()] == [(known.name, True) for known in CATALOGUE]
