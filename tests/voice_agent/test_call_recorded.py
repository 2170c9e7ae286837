"""Recorded callers on a real port with the real models, at the pace at which they spoke."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.voice_agent.serving import ROOT
from tests.voice_agent.wiring import wired

sys.path.insert(0, str(ROOT / "scripts"))

from live.page_calls import Heard, call  # noqa: E402
from live.replays import expected  # noqa: E402

from audio.pcm import rms  # noqa: E402
from audio.wav import read_wav  # noqa: E402
from voice_agent.build import Agent, open_agent  # noqa: E402
from voice_agent.call.recorded import Clip  # noqa: E402
from voice_agent.config import load_config  # noqa: E402

pytestmark = [pytest.mark.models, pytest.mark.slow]

CALLS = ROOT / "data" / "calls"


@pytest.fixture(scope="module")
def agent() -> Iterator[Agent]:
    with open_agent(load_config(ROOT / "config.yaml"), lambda *_: None) as opened:
        yield opened


def heard(tmp_path: Path, agent: Agent, name: str) -> Heard:
    """What the page of this recorded caller saw and heard."""

    async def run() -> Heard:
        async with wired(tmp_path, "duties.greeting=false", speech=agent.parts) as there:
            (known,) = expected(CALLS, [name])
            clips = [Clip(read_wav(CALLS / c.wav, "mix").samples, c.cue, c.delay_s) for c in known.clips]
            async with asyncio.timeout(150):
                return await call(f"http://127.0.0.1:{there.port}", clips)

    return asyncio.run(run())


def test_the_demonstration_is_answered_and_handed_over(tmp_path: Path, agent: Agent) -> None:
    """Two answers aloud with their passages and spans, then a person; the state and the verdict of each sentence."""
    one = heard(tmp_path, agent, "demo")
    cited = [passage["id"] for sentence in one.of("sentence") for passage in sentence["evidence"]]
    assert "warranty-phone" in cited and "warranty-earphone-2026" in cited
    assert all(sentence["passed"] for sentence in one.of("sentence"))
    assert all(p["span"] in p["text"] for s in one.of("sentence") for p in s["evidence"])
    assert [turn["outcome"] for turn in one.of("reply_ended")][:2] == ["answered", "answered"]
    assert one.of("handoff")[0]["reason"] == "ASKED" and one.events[-1] == {
        "type": "ended",
        "reason": "handed_off",
    }
    assert len(one.heard_s) >= 3 and rms(np.concatenate(one.sound)) > 0.02


def test_a_recorded_caller_cuts_the_agent(tmp_path: Path, agent: Agent) -> None:
    """By talking over it: the sentence is cut, and the second question is answered."""
    one = heard(tmp_path, agent, "barge_in")
    assert len(one.of("barge_in")) == 1
    assert False in [spoken["complete"] for spoken in one.of("spoken")]
    assert one.of("reply_ended")[-1]["outcome"] == "answered"


def test_what_the_documents_do_not_hold_is_handed_over(tmp_path: Path, agent: Agent) -> None:
    """Nothing of an answer is said, and the call ends by itself."""
    one = heard(tmp_path, agent, "refusal")
    assert one.of("sentence") == [] and one.of("gate")[-1]["outcome"] == "REFUSE"
    assert one.events[-1]["reason"] == "handed_off"
