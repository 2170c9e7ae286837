"""An installed Chromium for tests, and the accessibility rules of axe, fetched once and known by their hash."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

AXE = "axe-core@4.10.3"
AXE_SHA256 = "880970c081707360e64f34cea25ff91892f5bc95675b0776925b9709dd8a68bb"

PATIENCE_MS = 180_000
"""A browser on a machine that does much else may need long for anything; only a dead one needs longer."""

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def chromium(*flags: str) -> Iterator[Any]:
    """A headless browser with a profile of its own. Skips where none is installed. `flags` are further options."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (dev extra)")
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no Chromium here; as root scripts/browser installs one")
    with driver.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=[*FLAGS, *flags], timeout=PATIENCE_MS
        )
        try:
            yield browser
        finally:
            browser.close()


def axe_source() -> str:
    """The script that checks a page. Skips without npm or network; fails if it is not the one we know."""
    kept = Path(tempfile.gettempdir()) / f"voice-agent-tests-{os.getuid()}" / f"{AXE}.js"
    if not kept.exists():
        _fetch(kept)
    data = kept.read_bytes()
    assert hashlib.sha256(data).hexdigest() == AXE_SHA256, f"{kept}: not {AXE}; delete it"
    return data.decode()


def _fetch(kept: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip(f"no npm here to fetch {AXE} with")
    kept.parent.mkdir(mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", AXE, "--silent", "--pack-destination", folder]
        try:
            subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=60)
        except (subprocess.SubprocessError, OSError) as e:
            pytest.skip(f"npm could not fetch {AXE}: {e}")
        (archive,) = Path(folder).glob("*.tgz")
        with tarfile.open(archive) as inside:
            member = inside.extractfile("package/axe.min.js")
            assert member is not None
            data = member.read()
    beside = kept.with_suffix(f".{os.getpid()}")
    beside.write_bytes(data)
    beside.replace(kept)
