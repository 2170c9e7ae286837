"""The examples of docs/service.md, run by curl against a service: they give exactly the shapes that are documented."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.voice_agent.serving import ROOT
from tests.voice_agent.test_serve_ask import events
from tests.voice_agent.test_serve_wire import wired

DOCUMENT = (ROOT / "docs" / "service.md").read_text("utf-8")
EXAMPLES = re.findall(r"^curl .*$", DOCUMENT, re.MULTILINE)
ANSWER: dict[str, Any] = json.loads(re.findall(r"```json\n(.*?)```", DOCUMENT, re.DOTALL)[0])


MEASURED = ("scores", "timings_ms")


def shape(value: object, name: str = "") -> object:
    """Names and kinds, all the way down; what is measured differs by name from one question to another."""
    if isinstance(value, dict):
        assert name not in MEASURED or all(isinstance(one, int | float | None) for one in value.values())
        return name if name in MEASURED else {key: shape(one, key) for key, one in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return type(value).__name__


async def output_of(example: str, port: int) -> str:
    command = example.replace("127.0.0.1:8080", f"127.0.0.1:{port}").replace("curl", "curl --noproxy '*'", 1)
    process = await asyncio.create_subprocess_shell(command, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    assert process.returncode == 0, example
    return out.decode()


@pytest.mark.skipif(shutil.which("curl") is None, reason="the examples are for curl")
@pytest.mark.asyncio
async def test_the_examples_give_the_documented_shapes(tmp_path: Path) -> None:
    """Every curl line of the document, in its order."""
    async with wired(tmp_path) as there:
        told = [await output_of(example, there.port) for example in EXAMPLES]
    asked, followed, stream, listed, health, ready = told
    assert shape(json.loads(asked)) == shape(ANSWER)
    assert set(json.loads(followed)) == set(ANSWER) and json.loads(followed)["status"] == "answered"
    *sentences, (last, answer) = events(stream)
    assert {kind for kind, _ in sentences} == {"sentence"} and last == "answer"
    assert shape(answer) == shape(ANSWER)
    assert len(json.loads(listed)["calls"]) == 3 and json.loads(health) == {"status": "live"}
    assert json.loads(ready)["ready"] is True
