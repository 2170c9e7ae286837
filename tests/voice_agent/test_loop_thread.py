"""The event loop's thread hears, decides and plays; it computes nothing that takes long."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

from audio.script import to_simplified
from tests.fakes import LIVELY, Dialogue, ScriptedAnswers, ScriptedRecognizer, pause, voice
from tests.voice_agent.test_session import ANSWERS, SCRIPT
from voice_agent.call.recorded import Clip
from voice_agent.reply.requests import asks_for_person

ENGINES = (
    "ctranslate2", "faster_whisper", "jieba", "kokoro_onnx", "misaki", "onnxruntime", "opencc", "pypinyin",
    "tokenizers",
)  # fmt: skip
"""Models, tokenizers, G2P and script conversion. webrtcvad is not among them: 20 ms of sound take it 0.02 ms."""


@contextmanager
def watched() -> Iterator[set[str]]:
    """The engines that are called on this thread meanwhile; other threads are not looked at."""
    seen: set[str] = set()

    def profile(frame: FrameType, event: str, arg: object) -> None:
        called = arg if event == "c_call" else None
        name = getattr(called, "__module__", None) if called else frame.f_globals.get("__name__")
        engine = str(name or "").split(".")[0].lstrip("_")
        if engine in ENGINES and event in ("call", "c_call"):
            seen.add(engine)

    sys.setprofile(profile)
    try:
        yield seen
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize(
    ("work", "engine"),
    [(lambda: to_simplified("銀行"), "opencc"), (lambda: asks_for_person("嗯"), "pypinyin")],
)
def test_the_watch_sees(work: Callable[[], object], engine: str) -> None:
    """The control: an engine called on this thread is seen."""
    with watched() as seen:
        work()
    assert engine in seen


@pytest.mark.parametrize("line", [1, 3, 5, 6])
def test_the_floor_and_the_session_convert_nothing_on_the_loop(line: int) -> None:
    """Questions, murmurs, refusals and demands for a person are told apart without an engine on the loop's thread."""
    call = Dialogue(
        ScriptedRecognizer(SCRIPT, unsure=[line]), ScriptedAnswers(ANSWERS), rules=LIVELY, foresee_chars=40
    )
    call.answers.script = {text: ANSWERS["退款多久到账"] for text in SCRIPT.values() if isinstance(text, str)}
    with watched() as seen:
        call.run(Clip(np.concatenate([voice(line), pause(2.0)])), Clip(voice(3, 0.5), "agent_started", 0.1))
    assert not seen


@pytest.mark.models
@pytest.mark.slow
def test_no_engine_runs_on_the_loop_in_a_real_call(tmp_path: Path) -> None:
    """A whole recorded call through the real parts, each in a thread of its own."""
    import asyncio

    from audio.wav import read_wav
    from voice_agent.build import open_agent
    from voice_agent.config import load_config
    from voice_agent.replay import replay_call, unhurried

    wav = Path(__file__).resolve().parents[2] / "data" / "calls" / "plain.wav"
    clip = Clip(read_wav(wav, "mix").samples)
    with open_agent(unhurried(load_config()), lambda *_: None) as agent, watched() as seen:
        asyncio.run(replay_call(agent, "plain", [clip], date(2026, 11, 30), 0.0, tmp_path))
    assert not seen
