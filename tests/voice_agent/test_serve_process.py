"""The real command in a process of its own: it answers from shipped documents, reloads, and ends with 0."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.voice_agent.serving import ROOT
from voice_agent.doors.cli import run
from voice_agent.service.keys import hash_of

ADMIN = {"Authorization": "Bearer va_test"}


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def process(
    tmp_path: Path, *argv: str, **environment: str
) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    port = free_port()
    kb = tmp_path / "kb"
    if not kb.exists():
        kb.mkdir()
        shutil.copy(ROOT / "data" / "kb" / "errors.jsonl", kb)
    overrides = [f"paths.kb={kb}", f"paths.index={tmp_path / 'index'}", f"paths.logs={tmp_path / 'logs'}"]
    options = [part for override in overrides for part in ("--set", override)]
    env = {**os.environ, **environment, "VOICE_AGENT__SERVICE__PORT": str(port)}
    command = [sys.executable, "-m", "voice_agent", "serve", *options, *argv]
    with subprocess.Popen(command, cwd=ROOT, env=env, stderr=subprocess.PIPE, text=True) as running:
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
                yield running, client
        finally:
            running.kill()


def reached(client: httpx.Client, running: subprocess.Popen[str], **expected: Any) -> dict[str, Any]:
    """Readiness, as soon as it says what is expected."""
    until = time.monotonic() + 300
    while time.monotonic() < until and running.poll() is None:
        try:
            told: dict[str, Any] = client.get("/ready").json()
        except httpx.TransportError:
            told = {}
        if told and all(told[name] == value for name, value in expected.items()):
            return told
        time.sleep(0.1)
    raise AssertionError(f"exit code {running.poll()}")


@pytest.mark.models
@pytest.mark.slow
def test_the_command_serves_reloads_and_ends(tmp_path: Path) -> None:
    """Answers with citations; SIGHUP takes a new entry, a broken one is not taken; SIGTERM ends with 0; after
    `kill -9` it serves again from the index on disk.
    """
    keys = {"VOICE_AGENT_API_KEYS": f"admin:{hash_of('va_test')}"}
    question = {"query": "ERR_2048 报错怎么处理"}
    with process(tmp_path, **keys) as (running, client):
        before = reached(client, running, ready=True)
        assert client.post("/ask", json=question).status_code == 401
        answer = client.post("/ask", json=question, headers=ADMIN).json()
        assert answer["status"] == "answered" and answer["citation_check"]["passed"]
        (tmp_path / "kb" / "new.jsonl").write_text('{"id": "new", "text": "新店周一开业。"}\n', "utf-8")
        running.send_signal(signal.SIGHUP)
        until = time.monotonic() + 300
        while client.get("/ready").json()["kb_version"] == before["kb_version"]:
            assert time.monotonic() < until
            time.sleep(0.2)
        (tmp_path / "kb" / "broken.jsonl").write_text("{nonsense\n", "utf-8")
        assert client.post("/reload", headers=ADMIN).status_code == 503
        assert "broken.jsonl:1" in client.get("/ready").json()["reload_failed"]
        assert client.post("/ask", json=question, headers=ADMIN).json()["status"] == "answered"
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 0
        assert running.stderr is not None and "Traceback" not in running.stderr.read()
    (tmp_path / "kb" / "broken.jsonl").unlink()
    with process(tmp_path, **keys) as (running, client):
        reached(client, running, ready=True, passages=before["passages"] + 1)
        running.kill()
    with process(tmp_path, **keys) as (running, client):
        reached(client, running, ready=True)
        assert client.post("/ask", json=question, headers=ADMIN).json()["status"] == "answered"


def said(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert run(["serve", *argv]) == 2
    shown = capsys.readouterr().err.strip()
    assert "\n" not in shown and "Traceback" not in shown
    return shown


def test_it_does_not_start_open_to_others_without_keys(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One line, exit code 2, before anything is loaded; the same for keys that are none and a rate that is none."""
    monkeypatch.chdir(ROOT)
    assert "no API key" in said(capsys, "--set", "service.host=0.0.0.0")
    assert "service.rate" in said(capsys, "--set", "service.rate=often")
    monkeypatch.setenv("VOICE_AGENT_API_KEYS", "va_secret")
    assert "va_secret" not in said(capsys)
    monkeypatch.setenv("VOICE_AGENT__SERVICE__PORT", "99999")
    assert "service.port" in said(capsys)


def test_a_new_key_is_shown_with_its_entry(capsys: pytest.CaptureFixture[str]) -> None:
    """And nothing is served."""
    assert run(["serve", "--new-key", "admin"]) == 0
    key, entry = [line.split()[1] for line in capsys.readouterr().out.splitlines()]
    assert entry == f"admin:{hash_of(key)}"
