"""The recogniser's decisions over a scripted model, then the real model on silence, speech and noise."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from audio.asr import LONGEST_PIECE_S, PARTIALS, Listening, WhisperRecognizer
from audio.cer import character_error_rate
from audio.errors import ModelError
from audio.types import CALL_RATE_HZ, Samples
from audio.whisper import Said
from tests.audio.scripted_whisper import ScriptedWhisper


def _voice(seconds: float) -> Samples:
    """Loud enough to be decoded."""
    return (0.1 * np.sin(np.arange(int(seconds * CALL_RATE_HZ)) / 5)).astype(np.float32)


def _recognizer(
    whisper: ScriptedWhisper, *hot_words: str, listening: Listening | None = None
) -> WhisperRecognizer:
    return WhisperRecognizer.over(whisper, hot_words, listening)  # type: ignore[arg-type]


def test_text_is_simplified_and_raw_is_kept() -> None:
    """What the model wrote stays readable beside what the agent uses; hot words are named as the list spells them."""
    heard = _recognizer(ScriptedWhisper("請問 退款 多久, RTX 有貨嗎"), "退款", "RTX", "换货").transcribe(
        _voice(3), 3.0
    )
    assert heard.text == "请问退款多久, RTX 有货吗"
    assert heard.raw == "請問 退款 多久, RTX 有貨嗎"
    assert heard.hot_words == ("退款", "RTX")
    assert heard.dropped is None and heard.confidence == pytest.approx(math.exp(-0.2))


@pytest.mark.parametrize(
    ("samples", "voiced_s", "reason"),
    [
        (_voice(3), 0.05, "too_short"),
        (np.zeros(48_000, dtype=np.float32), 3.0, "too_quiet"),
        (np.zeros(0, dtype=np.float32), 0.0, "too_short"),
    ],
)
def test_silence_is_never_given_to_the_model(samples: Samples, voiced_s: float, reason: str) -> None:
    """A script without answers would fail if it were asked."""
    whisper = ScriptedWhisper()
    heard = _recognizer(whisper).transcribe(samples, voiced_s)
    assert (heard.text, heard.dropped, heard.confidence, whisper.asked) == ("", reason, 0.0, [])


def test_dropped_text_leaves_nothing_to_act_on() -> None:
    """The reason and the raw text are kept, the text and its hot words are not."""
    heard = _recognizer(ScriptedWhisper("會員發貨會員", chinese=0.001), "会员").transcribe(_voice(3), 3.0)
    assert (heard.text, heard.hot_words, heard.dropped, heard.raw) == ("", (), "not_chinese", "會員發貨會員")


@pytest.mark.parametrize(
    ("first", "windows"),
    [
        ("退款多久到账", [4.0]),
        ("退款退款退款退款退款退款", [4.0, None]),
        (Said("退款多久到账", -1.3, 0.1), [4.0, None]),
    ],
    ids=["sense", "a loop", "unsure"],
)
def test_nonsense_of_a_short_window_is_heard_again_in_the_full_one(
    first: str | Said, windows: list[float | None]
) -> None:
    """One more attempt, and only then: its result counts."""
    whisper = ScriptedWhisper(first, "退款多久到账")
    assert _recognizer(whisper).transcribe(_voice(3), 3.0).text == "退款多久到账"
    assert whisper.windows == windows


def test_partials_are_never_decoded_twice() -> None:
    """A partial is corrected by the final; a loop in it is dropped, at one beam and a short window."""
    whisper = ScriptedWhisper("货" * 9)
    assert _recognizer(whisper, listening=PARTIALS).transcribe(_voice(3), 3.0).dropped == "loop"
    assert whisper.windows == [3.0] and whisper.asked[0][1] == 1


def test_the_bound_on_tokens_follows_the_length_and_the_room() -> None:
    """Twelve tokens a second and ten more, but never more than the prompt leaves of the decoder."""
    whisper = ScriptedWhisper("好的", "好的")
    recognizer = _recognizer(whisper, "退款", listening=Listening(prompt="句子。"))
    recognizer.transcribe(_voice(2), 2.0)
    assert whisper.asked == [(" 退款 句子。", 5, 34)]
    crowded = _recognizer(ScriptedWhisper(*["好的"] * 9), *(f"词{i:03}" for i in range(40)))
    assert len(crowded.hot_words.used) == 40
    crowded.transcribe(_voice(20), 20.0)
    prompt, _, most = crowded._whisper.asked[0]  # type: ignore[attr-defined]
    assert len(prompt) + most == 440


def test_a_long_utterance_is_heard_in_pieces() -> None:
    """Each piece is judged by itself with its share of the voice; what is dropped is missing, the rest is joined."""
    whisper = ScriptedWhisper("我想问一下,", "货" * 9, "货" * 9, Said("退款多久到账", -0.4, 0.1), "谢谢")
    breath = np.zeros(CALL_RATE_HZ // 2, dtype=np.float32)
    near = _voice(LONGEST_PIECE_S - 1)
    heard = _recognizer(whisper).transcribe(np.concatenate([near, breath] * 4), 60.0)
    assert heard.text == "我想问一下,退款多久到账谢谢"
    assert heard.dropped is None and "货货" in heard.raw
    lengths = [6, 6, 2]
    parts = [math.exp(-0.2), math.exp(-0.4), math.exp(-0.2)]
    mean = sum(n * part for n, part in zip(lengths, parts, strict=True)) / sum(lengths)
    assert heard.confidence == pytest.approx(mean)


def test_another_way_of_listening_shares_the_model() -> None:
    """Same model and hot words, another window; the first stays as it was."""
    whisper = ScriptedWhisper("好的", "好的")
    final = _recognizer(whisper, "退款")
    partial = final.listening(PARTIALS)
    assert partial.hot_words == final.hot_words
    partial.transcribe(_voice(1), 1.0)
    final.transcribe(_voice(1), 1.0)
    assert whisper.windows == [3.0, 4.0]


def test_hot_words_beyond_the_prompt_are_reported() -> None:
    """The library would cut them off in silence, in the middle of a term."""
    recognizer = _recognizer(ScriptedWhisper(), *(f"第{i}个很长的词语" for i in range(60)))
    assert recognizer.hot_words.used and recognizer.hot_words.cut
    assert len(recognizer.hot_words.used + recognizer.hot_words.cut) == 60


@pytest.mark.parametrize("present", [(), ("model.bin",), ("model.bin", "config.json", "vocabulary.json")])
def test_a_missing_file_is_named_and_nothing_is_fetched(tmp_path: Path, present: tuple[str, ...]) -> None:
    """One line with the file and how to mend it; without tokenizer.json the library would ask a model hub."""
    for name in present:
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(ModelError, match="models pull") as fault:
        WhisperRecognizer(tmp_path, threads=1)
    assert "\n" not in str(fault.value)


def test_importing_is_cheap() -> None:
    """The engines load with the recogniser, not with the module."""
    engines = {"ctranslate2", "faster_whisper", "opencc", "torch"}
    code = f"import sys, audio.asr; sys.exit(bool({engines} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.fixture(scope="module")
def real(whisper_dir: Path) -> WhisperRecognizer:
    recognizer = WhisperRecognizer(whisper_dir, threads=2, hot_words=["退款", "发货", "ERR_2048"])
    recognizer.warm()
    return recognizer


@pytest.fixture(scope="module")
def say(kokoro_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Samples]:
    """Speaks a sentence."""
    from audio.tts import KokoroSynthesizer

    voice = KokoroSynthesizer(kokoro_dir, threads=2, jieba_dir=tmp_path_factory.mktemp("jieba"))
    return lambda text: np.concatenate(list(voice.synthesize(text)))


@pytest.fixture(scope="module")
def question(say: Callable[[str], Samples]) -> Samples:
    return say("国际漫游怎么开通？")


@pytest.mark.models
@pytest.mark.parametrize("listening", [Listening(), Listening(window_pad_s=None), PARTIALS])
def test_a_question_is_heard(real: WhisperRecognizer, question: Samples, listening: Listening) -> None:
    """In a short window, the full one, or as a partial: few characters wrong, and no hot word that nobody said."""
    heard = real.listening(listening).transcribe(question, len(question) / CALL_RATE_HZ)
    assert heard.dropped is None and heard.hot_words == ()
    assert character_error_rate("国际漫游怎么开通", heard.text) <= 0.25
    assert 0.4 < heard.confidence <= 1.0


@pytest.mark.models
@pytest.mark.parametrize("kind", ["white", "quiet", "hum", "tones"])
@pytest.mark.parametrize("voiced_s", [0.4, 1.6])
def test_noise_taken_for_voice_is_dropped(real: WhisperRecognizer, kind: str, voiced_s: float) -> None:
    """Whatever a voice detector let through: no text, no hot word, a reason."""
    at = np.arange(3 * CALL_RATE_HZ) / CALL_RATE_HZ
    white = np.random.default_rng(7).standard_normal(at.size)
    sound = {
        "white": 0.1 * white,
        "quiet": 0.01 * white,
        "hum": 0.1 * np.sin(2 * np.pi * 50 * at),
        "tones": 0.2 * np.sin(2 * np.pi * 450 * at) * (at % 1 < 0.5),
    }[kind]
    heard = real.transcribe(sound.astype(np.float32), voiced_s)
    assert (heard.text, heard.hot_words) == ("", ())
    assert heard.dropped is not None


@pytest.mark.models
def test_a_long_recording_is_heard_to_its_end(real: WhisperRecognizer, say: Callable[[str], Samples]) -> None:
    """Seven questions with long pauses, more than the model's window holds, in one go: few characters are wrong."""
    questions = [
        "我的订单什么时候发货？", "银行卡退款需要几个工作日？", "国际漫游怎么开通？", "发票开错了能不能重新开？",
        "耳机保修期是多长时间？", "我要投诉，请帮我转人工。", "定制商品拆封以后还能换货吗？",
    ]  # fmt: skip
    spoken = list(map(say, questions))
    gap = np.zeros(int(2.5 * CALL_RATE_HZ), dtype=np.float32)
    whole = np.concatenate([part for sound in spoken for part in (sound, gap)])
    assert len(whole) > 30 * CALL_RATE_HZ
    heard = real.transcribe(whole, sum(map(len, spoken)) / CALL_RATE_HZ)
    assert character_error_rate("".join(questions), heard.text) <= 0.3
