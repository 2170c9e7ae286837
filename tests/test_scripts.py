"""Every script in Python still loads: what it takes from the packages may have moved since it was last run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = sorted(
    path
    for path in (ROOT / "scripts").iterdir()
    if path.is_file() and path.read_bytes().startswith(b"#!/usr/bin/env python3")
)


def test_there_are_scripts() -> None:
    assert len(SCRIPTS) > 20


@pytest.mark.models
def test_each_script_loads() -> None:
    """Run as a module under another name, so that none of them begins; in one process, for they share what is slow."""
    each = "print(path, flush=True); runpy.run_path(path, run_name='loaded')"
    load = f"import runpy, sys\nfor path in sys.argv[1:]: {each}"
    command = [sys.executable, "-c", load, *map(str, SCRIPTS)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, f"{ran.stdout.splitlines()[-1]}: {ran.stderr.strip().splitlines()[-1]}"
