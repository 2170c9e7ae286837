"""Laws of staged thresholds: a steady share of the live calls, told in the journal, the live ones beside them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from retrieval.types import Found, Gate, GateReason, Outcome
from tests.voice_agent.answering import answerer, extractive
from tests.voice_agent.serving import Served, knowledge, served
from voice_agent.config import load_config
from voice_agent.errors import ConfigError
from voice_agent.gating import Gating
from voice_agent.knowledge import Knowledge
from voice_agent.record.schema import validate_event
from voice_agent.reply.answer import Asked
from voice_agent.service.cache import cache_key
from voice_agent.staging import is_staged

ROOT = Path(__file__).resolve().parents[2]
NAMES = [f"talk-20261130-{number:06}" for number in range(5000)]


class Strict:
    """Asks back whatever was found."""

    def judge(self, found: Found, confidence: float | None) -> Gate:
        return Gate(Outcome.CLARIFY, GateReason.LOW_SCORE, {"top": 0.2}, {"answer": 0.9})


@pytest.mark.parametrize("percent", [1, 10, 50, 90])
def test_the_share_is_what_was_asked_for(percent: int) -> None:
    """Within three standard deviations of a fair draw."""
    drawn = sum(is_staged(name, percent) for name in NAMES)
    share = percent / 100
    assert abs(drawn / len(NAMES) - share) < 3 * (share * (1 - share) / len(NAMES)) ** 0.5


def test_a_greater_share_keeps_the_calls_of_a_smaller_one() -> None:
    """What was tried on one call in ten goes on being tried on it at one in two; 0 is none and 100 all."""
    tenth = {name for name in NAMES if is_staged(name, 10)}
    assert tenth < {name for name in NAMES if is_staged(name, 50)}
    assert not any(is_staged(name, 0) for name in NAMES) and all(is_staged(name, 100) for name in NAMES)


def staged(percent: float) -> Knowledge:
    """Live thresholds that answer, and candidates that ask back."""
    answers: Any = replace(answerer(extractive()), shadow=Strict())
    live = {"answer": 0.5}
    gating = Gating(live, "stored", None, shadow={"answer": 0.9}, staged_percent=percent)
    return replace(knowledge(answers), gating=gating)


async def asked(service: Served, percent: float) -> tuple[str, dict[str, Any], list[dict[str, Any]]]:
    """How a question ends, the first line of its journal, and what decided and what stood beside it."""
    service.opened.next = staged(percent)
    assert not (await service.parts.desk.reload()).why
    status = (await service.ask()).json()["status"]
    events = [json.loads(line) for line in service.journals()[-1].read_text("utf-8").splitlines()]
    assert [fault for event in events for fault in validate_event(event)] == []
    return status, events[0], [event for event in events if event["type"] in ("gate", "shadow")]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("percent", "status", "state", "outcomes"),
    [(0, "answered", "stored", ["ANSWER", "CLARIFY"]), (100, "clarify", "staged", ["CLARIFY", "ANSWER"])],
)
async def test_a_staged_call_is_decided_by_the_candidates(
    tmp_path: Path, percent: float, status: str, state: str, outcomes: list[str]
) -> None:
    """The other thresholds are its shadow, so both are known for every call; the journal's first line tells which."""
    async with served(tmp_path) as service:
        given, header, decisions = await asked(service, percent)
    assert (given, header["models"]["calibration"]) == (status, state)
    assert [event["outcome"] for event in decisions] == outcomes


def test_a_remembered_answer_is_not_given_past_its_stage() -> None:
    """What the live thresholds answered is nothing to a call in which the candidates decide."""
    question = Asked("退款多久到账", date(2026, 11, 30))
    live, candidate = (cache_key(question, staged(percent).of_call("ask-1")) for percent in (0, 100))
    assert live is not None and candidate is not None and live != candidate


def test_a_share_of_nothing_is_refused() -> None:
    """A share without candidate thresholds would silently change nothing."""
    with pytest.raises(ConfigError, match="staged_percent needs a calibration file in gate.shadow"):
        load_config(ROOT / "config.yaml", ["gate.staged_percent=10"], {})
