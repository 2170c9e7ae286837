"""Faults that users of other projects reported about hearing: one named test a row, by the row's number.

| row | reported | what was seen | test |
|---|---|---|---|
| A7-1 | ufal/whisper_streaming#179 | nobody talks, subscribe lines appear | test_subscribe_lines_are_no_turn |
| A7-2 | Vexa-ai/vexa#617 | silence was submitted, the phrase list had gaps | test_silence_never_reaches_the_model |
| A7-3 | SYSTRAN/faster-whisper#1356 | hot words come out of silence | test_hot_words_out_of_noise_are_dropped |
| A7-4 | SYSTRAN/faster-whisper#506 | loops, and surely | test_a_sure_loop_is_still_a_loop |
| A7-5 | SYSTRAN/faster-whisper#843 | near silence passes the detector | test_a_murmur_of_the_line_is_too_quiet |
| A7-6 | home-assistant/addons#3254, faster-whisper#521 | scripts alternate | test_one_script_leaves_the_recogniser |
| A7-7 | ggml-org/whisper.cpp#2532 | 33 s of text for 3 s | test_no_more_is_written_than_can_be_said |
| A7-37 | py-webrtcvad#3, #30, #54 | frames of other rates and lengths | test_framing.py |
| A7-38 | py-webrtcvad#97 | the import fails and nobody is heard | test_vad.py: test_a_missing_detector_is_fatal |
| A7-39, 42 | screenpipe#2046 | errors swallowed | test_vad.py: test_a_failure_of_the_library_is_not_silence |
| A4 | list of layers | a caller who says 谢谢观看 is dropped | test_thanks_that_were_said_are_heard |
| A4 | decoding | temperature and conditioning | test_nothing_of_the_last_utterance_is_shown |
"""

from __future__ import annotations

import numpy as np
import pytest

from audio.asr import Listening, WhisperRecognizer
from audio.types import CALL_RATE_HZ, Samples
from audio.whisper import Said
from tests.audio.scripted_whisper import ScriptedWhisper

HOT = ("退货", "运费", "会员", "积分")


def _voice(seconds: float, level: float = 0.1) -> Samples:
    return (level * np.sin(np.arange(int(seconds * CALL_RATE_HZ)) / 5)).astype(np.float32)


def _ear(whisper: ScriptedWhisper) -> WhisperRecognizer:
    return WhisperRecognizer.over(whisper, HOT, Listening())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "line",
    [
        "请不吝点赞 订阅 转发 打赏支持明镜与点点栏目",
        "請不吝點贊 訂閱 轉發 打賞支持明鏡與點點欄目",
        "字幕由Amara.org社區提供",
        "謝謝觀看",
    ],
)
def test_subscribe_lines_are_no_turn(line: str) -> None:
    """In either script, in the length of a cough: no text, and the journal has the line and the reason."""
    heard = _ear(ScriptedWhisper(Said(line, -0.15, 0.3))).transcribe(_voice(1), 0.3)
    assert (heard.text, heard.raw) == ("", line)
    assert heard.dropped == "boilerplate"


@pytest.mark.parametrize(
    ("seconds", "level", "voiced_s"), [(3.0, 0.0, 3.0), (3.0, 0.1, 0.1), (0.0, 0.0, 0.0)]
)
def test_silence_never_reaches_the_model(seconds: float, level: float, voiced_s: float) -> None:
    """Voiced time and energy are judged before decoding; a list of phrases is only the last resort."""
    whisper = ScriptedWhisper()  # without an answer: being asked would fail
    assert _ear(whisper).transcribe(_voice(seconds, level), voiced_s).dropped in ("too_short", "too_quiet")


@pytest.mark.parametrize(
    ("text", "logprob", "chinese", "reason"),
    [
        ("退货 运费 会员", -0.1, 0.99, "prompt_echo"),
        ("运费 退货", -0.9, 0.99, "prompt_echo"),
        ("会员运费", -1.1, 0.02, "no_speech"),
    ],
)
def test_hot_words_out_of_noise_are_dropped(text: str, logprob: float, chinese: float, reason: str) -> None:
    """The list in its order always; single terms when unsure; and nobody is asked to repeat a noise."""
    whisper = ScriptedWhisper(*[Said(text, logprob, 0.7)] * 2, chinese=chinese, other=0.4)
    heard = _ear(whisper).transcribe(_voice(2), 1.0)
    assert (heard.text, heard.dropped, heard.hot_words) == ("", reason, ())


def test_a_sure_loop_is_still_a_loop() -> None:
    """The model's own certainty (-0.05 a token) is no evidence; the full window is tried once, then it is dropped."""
    whisper = ScriptedWhisper(*[Said("退款" * 8, -0.05, 0.01)] * 2)
    assert _ear(whisper).transcribe(_voice(4), 4.0).dropped == "loop"
    assert whisper.windows == [4.0, None]


def test_a_murmur_of_the_line_is_too_quiet() -> None:
    """Sound that a detector took for a voice, but at -60 dBFS, is not decoded."""
    assert _ear(ScriptedWhisper()).transcribe(_voice(2, 0.001), 2.0).dropped == "too_quiet"


@pytest.mark.parametrize("written", ["退款後怎麼辦", "退款后怎么办", "退款後怎么辦"])
def test_one_script_leaves_the_recogniser(written: str) -> None:
    """Whatever mixture the model writes, the agent sees one form; what was written is kept."""
    heard = _ear(ScriptedWhisper(written)).transcribe(_voice(2), 2.0)
    assert (heard.text, heard.raw) == ("退款后怎么办", written)


def test_no_more_is_written_than_can_be_said() -> None:
    """The decoder's bound follows the sound; what is still denser than speech is dropped, punctuated or not."""
    long = "您好我想问一下我上个星期买的手机什么时候可以发货到我家里来呢谢谢"
    whisper = ScriptedWhisper(long, long)
    assert _ear(whisper).transcribe(_voice(1), 1.0).dropped == "too_dense"
    assert [most for _, _, most in whisper.asked] == [22, 22]


@pytest.mark.parametrize(
    ("text", "voiced_s"), [("谢谢观看", 0.84), ("谢谢。", 0.52), ("再见", 0.5), ("嗯", 0.25)]
)
def test_thanks_that_were_said_are_heard(text: str, voiced_s: float) -> None:
    """The phrase list acts only where the voice was too short for the phrase or the model unsure."""
    assert _ear(ScriptedWhisper(Said(text, -0.53, 0.1))).transcribe(_voice(1.5), voiced_s).text == text


def test_nothing_of_the_last_utterance_is_shown() -> None:
    """The prompt is the hot words and one sentence, the same for every utterance: no text conditions the next."""
    whisper = ScriptedWhisper("退款多久到账", "发货了吗")
    ear = _ear(whisper)
    ear.transcribe(_voice(2), 2.0)
    ear.transcribe(_voice(2), 2.0)
    (first, *_), (second, *_) = whisper.asked
    assert first == second and "退款多久" not in second
