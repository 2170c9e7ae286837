"""Faults that others met with logs, recordings and marks, each a law here; numbers are rows of our fault list."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import numpy as np
import pytest

from audio.wav import WavWriter
from retrieval.gate import LATE_INTERACTION, MEASURED
from tests.fakes import Dialogue, Scripted, ScriptedAnswers, ScriptedRecognizer, pause, voice
from voice_agent.call.recorded import Clip
from voice_agent.record.consent import ConsentedSound
from voice_agent.record.journal import MemoryJournal
from voice_agent.record.privacy import Masker

ROOT = Path(__file__).resolve().parents[2]
LEVELS = {"debug", "info", "warning", "warn", "exception", "critical"}
SAID = "我叫王小明，手机13800138000，退款多久"


def called(sentence: str) -> Dialogue:
    """A caller who says who he is and hears one sentence."""
    dialogue = Dialogue(
        ScriptedRecognizer({1: SAID}), ScriptedAnswers({SAID: Scripted(sentences=((sentence, None),))})
    )
    dialogue.run(Clip(np.concatenate([voice(1), pause(4.0)])))
    return dialogue


def test_46_transcripts_go_to_one_sink_and_no_logger() -> None:
    """Nothing of ours writes to a logger (libraries' are only silenced), and only doors and scripts print."""
    for package in ("audio", "retrieval", "voice_agent"):
        for path in (ROOT / package).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            calls = [n.func for n in ast.walk(tree) if isinstance(n, ast.Call)]
            logged = {f.attr for f in calls if isinstance(f, ast.Attribute)} & LEVELS
            assert not logged, (path, logged)
            prints = [f for f in calls if isinstance(f, ast.Name) and f.id == "print"]
            assert not prints or path.parent.name == "doors", path


def test_46_the_mask_is_on_every_event_of_a_call() -> None:
    """Not on some: the events of a whole call in which a caller says who he is, each searched."""
    events = called("退款三天到账。[S1]").journal.events
    assert len({event["type"] for event in events}) >= 10
    for event in events:
        assert "王小明" not in json.dumps(event, ensure_ascii=False)
        assert "13800138000" not in json.dumps(event, ensure_ascii=False)


def test_46_nor_does_a_run_say_them_on_the_screen(capfd: pytest.CaptureFixture[str]) -> None:
    """Neither stream of the process carries what was said in a call."""
    called("退款三天到账。[S1]")
    shown = capfd.readouterr()
    assert shown.out == "" and shown.err == ""


def test_12_marks_stay_in_the_journal_and_out_of_the_voice() -> None:
    """Stripped after the check, kept where an auditor looks."""
    dialogue = called("退款三天到账。[S1]")
    assert [event["text"] for event in dialogue.journal.of("sentence")] == ["退款三天到账。[S1]"]
    assert dialogue.synthesizer.asked == ["退款三天到账。"] == dialogue.spoken()


def test_45_a_long_recording_lies_on_the_disk_and_not_in_memory(tmp_path: Path) -> None:
    """Every block is in the file when `append` returns."""
    path = tmp_path / "a.wav"
    sound = ConsentedSound(path, lambda where: WavWriter(where, 16_000, 2), MemoryJournal())
    sound.answered(True, "按 1", 0.0)
    sizes = []
    for _ in range(5):
        sound.append(np.zeros((1600, 2), dtype=np.float32))
        sizes.append(path.stat().st_size)
    sound.close()
    assert np.diff(sizes).tolist() == [6400] * 4


def test_17_what_a_gate_weighed_has_a_name_each() -> None:
    """The score that a threshold was held against is told by its name in both, never by its place."""
    assert {f"weight_{name}" for name in MEASURED} == {k for k in LATE_INTERACTION if k.startswith("weight_")}
    (gate,) = called("退款三天到账。[S1]").journal.of("gate")
    assert isinstance(gate["features"], dict) and isinstance(gate["thresholds"], dict)


def test_a_placeholder_says_what_it_is_and_nothing_of_the_value() -> None:
    """Equal for equal values within a call, and the same form for every kind."""
    mask = Masker().mask
    shown = mask(f"{SAID}，寄到中山路12号，邮箱a@example.com，卡6222021234567890123，又是王小明")
    assert re.findall("〈[A-Z]+:[0-9]+〉", shown) == [
        "〈NAME:1〉", "〈PHONE:1〉", "〈ADDRESS:1〉", "〈EMAIL:1〉", "〈CARD:1〉", "〈NAME:1〉",
    ]  # fmt: skip
