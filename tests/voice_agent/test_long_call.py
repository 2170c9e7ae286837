"""A call of two hundred turns: every turn comes to an end, and the memory it takes does not grow with them."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from audio.types import Samples
from audio.wav import read_wav
from tests.fakes import Dialogue, ScriptedAnswers, ScriptedRecognizer, ScriptedSynthesizer, pause, voice
from tests.voice_agent.test_session import ANSWERS, SCRIPT
from voice_agent.build import open_agent
from voice_agent.call.recorded import Clip
from voice_agent.config import load_config
from voice_agent.record.inspection import read_call
from voice_agent.record.journal import Journal
from voice_agent.replay import replay_call, unhurried

CALLS = Path(__file__).resolve().parents[2] / "data" / "calls"

TURNS, WARM = 200, 100

FLAT_MB = 15.0
"""What the second hundred turns may add. Their sound alone would be over 50 MB, the call's own histories and queues are
bounded. The first hundred fill what is filled once: caches and, beside other tests' models, the allocator's arenas."""


def resident_mb() -> float:
    """What this process holds now, not at its most."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


class Weighed(Journal):
    """The journal of the call, which at the end of turns notes what the process holds."""

    held: dict[int, float]

    def write(self, kind: str, t: float, turn: int, **data: object) -> None:
        super().write(kind, t, turn, **data)
        if kind == "reply_ended" and turn in (WARM // 5, WARM, TURNS):
            gc.collect()
            Weighed.held[turn] = resident_mb()


@pytest.fixture(autouse=True)
def _nothing_weighed_yet() -> None:
    Weighed.held = {}


class Unkept(Dialogue):
    """Keeps no sound, so that what grows is the call's."""

    def _keep(self, caller: Samples, agent: Samples) -> None:
        pass


class Mute(ScriptedSynthesizer):
    """Like the scripted one; remembers nothing of what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = _Forgetful()


class _Forgetful(list[str]):
    def append(self, item: str) -> None:
        pass


def _told(path: Path) -> tuple[list[str | None], str | None]:
    print("resident MB at turn", {turn: round(held) for turn, held in Weighed.held.items()})
    call = read_call(path)
    return [turn.outcome for turn in call.turns], call.ended


def _is_flat() -> bool:
    return Weighed.held[TURNS] - Weighed.held[WARM] <= FLAT_MB


@pytest.mark.slow
def test_two_hundred_turns_over_scripted_models(tmp_path: Path) -> None:
    """Answered, cut by the caller, murmured at and unclear, in turn: the session and the floor keep nothing of it."""
    journal = Weighed(tmp_path, "long", {})
    call = Unkept(
        ScriptedRecognizer(SCRIPT),
        ScriptedAnswers(ANSWERS),
        synthesizer=Mute(),
        limit_s=600.0,
        foresee_chars=40,
    )
    call.rules = replace(
        call.rules, early_asr=True, speculation=True, partial_every_s=0.6, max_call_s=20_000.0
    )
    call.journal = journal  # type: ignore[assignment]  # of the double only its writing is used
    asked, cut = voice(1), voice(2)
    clips = [Clip(np.concatenate([pause(0.5), asked]))]
    while len(clips) < TURNS:
        clips.append(
            Clip(cut, "agent_started", 0.1) if len(clips) % 3 == 0 else Clip(asked, "agent_finished", 0.5)
        )
    with journal:
        call.run(*clips)
    outcomes, ended = _told(journal.path)
    assert len(outcomes) == TURNS and set(outcomes) == {"answered", "interrupted"} and ended == "hung_up"
    assert _is_flat(), Weighed.held


def _questions(names: Sequence[str]) -> list[Clip]:
    """Recorded questions without the silence around them, each behind the end of the agent's last word."""
    clips = []
    for name in names:
        sound = read_wav(CALLS / f"{name}.wav", "mix").samples
        loud = np.flatnonzero(np.abs(sound) > 0.02)
        clips.append(Clip(sound[loud[0] : loud[-1]], "agent_finished" if clips else "start", 0.6))
    return clips


@pytest.mark.models
@pytest.mark.slow
def test_two_hundred_turns_over_the_real_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three questions that the knowledge base answers, again and again, in one call as it is shipped."""
    monkeypatch.setattr("voice_agent.replay.Journal", Weighed)
    config = unhurried(load_config())
    config = config.model_copy(update={"turn": config.turn.model_copy(update={"max_call_s": 20_000.0})})
    asked = _questions(["demo", "plain", "phone_line"])
    clips = [asked[0], *(replace(asked[n % 3], cue="agent_finished") for n in range(1, TURNS))]
    with open_agent(config, lambda *_: None) as agent:
        path = asyncio.run(replay_call(agent, "long", clips, date(2026, 11, 30), 0.0, tmp_path))
    outcomes, ended = _told(path)
    assert len(outcomes) == TURNS and set(outcomes) == {"answered"} and ended == "hung_up"
    assert _is_flat(), Weighed.held
