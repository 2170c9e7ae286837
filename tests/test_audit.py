"""scripts/audit against a vulnerability service of this machine: what it finds, says and exits with."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@contextmanager
def database(vulnerable: Mapping[str, str]) -> Iterator[str]:
    """OSV's query protocol: package -> the version its only vulnerability is fixed in."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["package"]["name"]
            told = {}
            if fixed := vulnerable.get(asked):
                ranges = [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": fixed}]}]
                affected = [{"package": {"name": asked, "ecosystem": "PyPI"}, "ranges": ranges}]
                dates = {"published": "2026-01-01T00:00:00Z", "modified": "2026-01-01T00:00:00Z"}
                told = {"vulns": [{"id": "TEST-1", "affected": affected, "details": "…", **dates}]}
            body = json.dumps(told).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/query"
    finally:
        server.shutdown()
        server.server_close()


def audit(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "scripts/audit", *argv], cwd=ROOT, capture_output=True, text=True, timeout=300
    )


def test_a_vulnerable_package_is_named_with_its_cure() -> None:
    """Found by the database alone: exit 1."""
    with database({"jieba": "9.9"}) as url:
        ran = audit("--osv-url", url)
    assert ran.returncode == 1 and "Traceback" not in ran.stderr
    (line,) = [line for line in ran.stdout.splitlines() if "TEST-1" in line]
    assert line.startswith("jieba ") and "9.9" in line


def test_a_database_that_is_away_is_not_a_clean_bill() -> None:
    """Not asked is not nothing found: a line on stderr, and never exit 0."""
    ran = audit("--osv-url", "http://127.0.0.1:9/v1/query")
    assert ran.returncode in (1, 3) and "not asked" in ran.stderr and "Traceback" not in ran.stderr


def test_what_was_not_tested_is_named(tmp_path: Path) -> None:
    """An installed package of another version, and one that is not pinned at all."""
    pins = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    changed = [
        "jieba==0.0.1" if pin.startswith("jieba==") else pin for pin in pins if not pin.startswith("httpx==")
    ]
    (tmp_path / "constraints.txt").write_text("\n".join(changed), "utf-8")
    with database({}) as url:
        ran = audit("--osv-url", url, "--constraints", str(tmp_path / "constraints.txt"))
    assert ran.returncode == 1
    assert any(line.startswith("jieba ") and "0.0.1" in line for line in ran.stdout.splitlines())
    assert any(
        line.startswith("httpx ") and "not in constraints.txt" in line for line in ran.stdout.splitlines()
    )


@pytest.mark.models
def test_the_tested_set_is_what_is_installed() -> None:
    """With every model there and a database that knows of nothing, there is nothing to say."""
    with database({}) as url:
        ran = audit("--osv-url", url)
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout
