"""Human speech through the whole agent, where the recordings are at hand: heard right, and answered from nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from audio.cer import character_error_rate
from retrieval.corpus import load_corpus
from voice_agent.config import load_config
from voice_agent.doors.cli import run
from voice_agent.hotwords import hot_words
from voice_agent.record.call_record import CallRecord
from voice_agent.record.inspection import read_call

SPEECH = Path(__file__).resolve().parents[3] / "shared" / "data" / "speech"

pytestmark = [
    pytest.mark.models,
    pytest.mark.skipif(not SPEECH.is_dir(), reason="the human recordings are not part of the project"),
]

MANDARIN = {
    "aishell_BAC009S0764W0121_4.2s": "甚至出现交易几乎停滞的情况",
    "cosyvoice_zero_shot_prompt_float": "希望你以后能够做的比我还好呦",
    "funasr_welcome_5.5s": "欢迎大家来体验达摩院推出的语音识别模型",
    "funasr_llama_sample_6s": "我想问我在滨海新区有房",
    "rapidasr_zh_5.0s": "我认为跑步最重要的就是给我带来了身体健康",
}
CODE_SWITCHED = (
    "funasr_zh_en_codeswitch_8.4s",
    "he must be home now for the light is on 他一定在家因为灯亮着就是有一种推理或者解释的那种感觉",
)
ENGLISH = "funasr_english_6.6s"


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CallRecord]:
    """Every recording of the folder, replayed once; none may fail."""
    out = tmp_path_factory.mktemp("human")
    assert run(["replay", str(SPEECH), "--as-of", "2026-11-30", "--json", "--out", str(out)]) == 0
    return {path.stem: read_call(path) for path in sorted(out.glob("*.jsonl"))}


def text_of(call: CallRecord) -> str:
    return "".join(turn.heard or turn.raw for turn in call.turns)


def test_every_recording_is_replayed(heard: dict[str, CallRecord]) -> None:
    """24 kHz float, English, code-switched, tones and 70 s of long form: each ends properly and without a fault."""
    assert set(heard) == {path.stem for path in SPEECH.glob("*.wav")}
    assert [
        call.call for call in heard.values() if call.ended is None or any(t.errors for t in call.turns)
    ] == []


def test_mandarin_is_heard(heard: dict[str, CallRecord]) -> None:
    """Mean character error rate of the monolingual recordings at most 0.12, with the shipped prompt and hot words."""
    errors = {name: character_error_rate(text, text_of(heard[name])) for name, text in MANDARIN.items()}
    name, text = CODE_SWITCHED
    print({name: round(error, 3) for name, error in errors.items()})
    print(name, round(character_error_rate(text, text_of(heard[name])), 3), text_of(heard[name]))
    assert sum(errors.values()) / len(errors) <= 0.12


def test_english_is_no_question(heard: dict[str, CallRecord]) -> None:
    """A language we do not serve gives no turn, or is asked to repeat; it is never searched."""
    turns = heard[ENGLISH].turns
    assert all(turn.gate is None and turn.outcome in (None, "clarify") for turn in turns)


def test_no_hot_word_is_heard_that_nobody_said(heard: dict[str, CallRecord]) -> None:
    """The recogniser is told what to expect, and must not hear it for that."""
    said = {**MANDARIN, CODE_SWITCHED[0]: CODE_SWITCHED[1], ENGLISH: ""}
    words = hot_words(load_corpus(load_config().paths.kb).passages, 100)
    invented = [
        (name, word)
        for name, call in heard.items()
        for turn in call.turns
        for word in words
        if word in turn.heard and word not in said.get(name, turn.heard)
    ]
    assert invented == []


def test_nothing_is_answered_from_the_documents(heard: dict[str, CallRecord]) -> None:
    """No recording asks about our documents, so none may be answered."""
    assert [name for name, call in heard.items() for turn in call.turns if turn.outcome == "answered"] == []
