"""Requests made up from the OpenAPI document: none breaks the service, none is answered otherwise than documented."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from tests.voice_agent.test_serve_wire import wired

TOOL = Path(sys.executable).parent / "schemathesis"


async def made_up(tmp_path: Path, *options: str) -> tuple[int, str]:
    """Runs the tool against a service on a port, with an admin key; its exit code and what it says."""
    async with wired(tmp_path, "service.rate=null", keyed=True) as there:
        url = f"http://127.0.0.1:{there.port}/openapi.json"
        shown = ("--no-color", "--header", "Authorization: Bearer va_admin_key")
        process = await asyncio.create_subprocess_exec(
            TOOL,
            "run",
            url,
            *shown,
            *options,
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        out, _ = await process.communicate()
    return process.returncode or 0, out.decode()


@pytest.mark.asyncio
async def test_a_few_requests_of_each_kind(tmp_path: Path) -> None:
    """No 500, no undocumented status, type or shape; wrong requests refused, right ones taken; keys not ignored."""
    code, said = await made_up(tmp_path, "--max-examples=3", "--seed=1", "--phases=examples,fuzzing")
    assert code == 0, said


@pytest.mark.slow
@pytest.mark.asyncio
async def test_many_requests_of_each_kind(tmp_path: Path) -> None:
    """The same at length: every boundary of every field, and sequences of requests."""
    code, said = await made_up(tmp_path, "--max-examples=30", "--seed=2")
    assert code == 0, said
