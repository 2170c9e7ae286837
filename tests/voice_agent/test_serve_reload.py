"""Laws of the knowledge in use and of the end: a reload and a shutdown drop no request."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from retrieval.errors import CorpusError
from tests.voice_agent.answering import answerer, extractive
from tests.voice_agent.serving import ADMIN, ASKER, QUESTION, HeldAnswers, knowledge, served, until

pytestmark = pytest.mark.asyncio


async def test_a_reload_lets_requests_in_hand_finish(tmp_path: Path) -> None:
    """They are answered from what they began with, which is closed after them and not before."""
    answers = HeldAnswers(answerer(extractive()))
    async with served(tmp_path, answers=answers, keyed=True) as service:
        async with asyncio.TaskGroup() as tasks:
            old = tasks.create_task(service.client.post("/ask", json=QUESTION, headers=ASKER))
            await until(lambda: answers.begun)
            service.opened.next = knowledge(version="v2")
            reloaded = await service.client.post("/reload", headers=ADMIN)
            assert (reloaded.status_code, reloaded.json()) == (200, {"kb_version": "v2"})
            assert not old.done() and service.opened.open == 2
            answers.go.set()
        assert old.result().json()["status"] == "answered"
        assert service.opened.open == 1
        assert (await service.client.get("/ready")).json()["kb_version"] == "v2"
        assert (await service.client.post("/ask", json=QUESTION, headers=ASKER)).json()[
            "status"
        ] == "answered"
        assert answers.begun == 1
    assert service.opened.open == 0


async def test_a_broken_reload_keeps_the_old_one_and_says_why(tmp_path: Path) -> None:
    """In the answer and in readiness, which stays; the next good one takes the complaint away."""
    async with served(tmp_path, keyed=True) as service:
        service.opened.next = CorpusError("a.jsonl:2: no text; give each entry one")
        broken = await service.client.post("/reload", headers=ADMIN)
        assert (broken.status_code, broken.json()["detail"]) == (
            503,
            "a.jsonl:2: no text; give each entry one",
        )
        ready = (await service.client.get("/ready")).json()
        assert (ready["ready"], ready["kb_version"]) == (True, "v1") and "a.jsonl:2" in ready["reload_failed"]
        assert (await service.client.post("/ask", json=QUESTION, headers=ASKER)).json()[
            "status"
        ] == "answered"
        service.opened.next = knowledge(version="v3")
        await service.client.post("/reload", headers=ADMIN)
        ready = (await service.client.get("/ready")).json()
        assert (ready["kb_version"], ready["reload_failed"]) == ("v3", None)


async def test_one_reload_at_a_time(tmp_path: Path) -> None:
    """A second one is told to wait; requests go on meanwhile."""
    async with served(tmp_path, keyed=True) as service:
        service.opened.wait = threading.Event()
        async with asyncio.TaskGroup() as tasks:
            first = tasks.create_task(service.client.post("/reload", headers=ADMIN))
            await asyncio.sleep(0.05)
            assert (await service.client.post("/reload", headers=ADMIN)).status_code == 409
            assert (await service.client.post("/ask", json=QUESTION, headers=ASKER)).status_code == 200
            service.opened.wait.set()
        assert first.result().status_code == 200


async def test_answers_of_the_old_knowledge_are_forgotten(tmp_path: Path) -> None:
    """A remembered answer rests on passages that may be gone."""
    async with served(tmp_path, keyed=True) as service:
        await service.client.post("/ask", json=QUESTION, headers=ASKER)
        assert len(service.parts.desk.cache) == 1
        await service.client.post("/reload", headers=ADMIN)
        assert len(service.parts.desk.cache) == 0


async def test_readiness_goes_first(tmp_path: Path) -> None:
    """From the signal on no balancer sends new requests, and those that still come are answered."""
    async with served(tmp_path) as service:
        assert (await service.client.get("/ready")).status_code == 200
        service.parts.watch.draining = True
        response = await service.client.get("/ready")
        assert (response.status_code, response.json()["draining"]) == (503, True)
        assert (await service.client.get("/health")).status_code == 200
        assert (await service.ask()).status_code == 200


async def test_a_language_model_that_is_away_is_not_ready(tmp_path: Path) -> None:
    """The part is named. Nobody listens on port 9."""
    overrides = ("answer.generator=ollama", "llm.base_url=http://127.0.0.1:9")
    async with served(tmp_path, *overrides) as service:
        response = await service.client.get("/ready")
    assert (response.status_code, response.json()["llm"]) == (503, "unreachable")


async def test_a_stale_calibration_is_shown(tmp_path: Path) -> None:
    """The stricter of both thresholds decide until the operator calibrates again; requests are still welcome."""
    async with served(tmp_path, keyed=True) as service:
        stale = knowledge(version="v2")
        service.opened.next = replace(stale, gating=replace(stale.gating, state="stale"))
        await service.client.post("/reload", headers=ADMIN)
        ready = (await service.client.get("/ready")).json()
    assert (ready["ready"], ready["calibration"]) == (True, "stale")
