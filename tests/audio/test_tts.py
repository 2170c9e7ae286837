"""Finishing sound, then the real voice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from audio.cer import character_error_rate
from audio.clauses import clauses
from audio.errors import ModelError
from audio.tts import PEAK, VOICE_SHAPE, KokoroSynthesizer, finished
from audio.types import CALL_RATE_HZ, Samples

LONG_1 = "退货商品签收后七天内可以申请退款，运费由买家承担；"
LONG_2 = "定制商品除外，已经拆封的耳机也不支持退货、换货，请先联系客服。"
LONG = LONG_1 + LONG_2


def _model_sound(level: float, *, before_s: float = 0.5, after_s: float = 0.6) -> Samples:
    """One second of tone at 24 kHz with silence around it."""
    tone = level * np.sin(np.arange(24_000) / 8)
    return np.pad(tone, (int(before_s * 24_000), int(after_s * 24_000))).astype(np.float32)


def test_silence_is_cut_and_the_rate_changed() -> None:
    """A little remains at both ends: the onset of a stop, and a pause before the next clause."""
    sound = finished(_model_sound(0.5), 24_000, "x")
    assert sound.dtype == np.float32
    assert len(sound) / CALL_RATE_HZ == pytest.approx(1.14, abs=0.01)
    assert np.flatnonzero(np.abs(sound) > 0.1)[0] / CALL_RATE_HZ == pytest.approx(0.02, abs=0.005)


@pytest.mark.parametrize(("level", "peak"), [(0.5, 0.5), (3.0, PEAK)])
def test_the_peak_is_limited_and_nothing_is_made_louder(level: float, peak: float) -> None:
    """Loud sound is scaled, not clipped; quiet sound keeps its level."""
    assert np.abs(finished(_model_sound(level), 24_000, "x")).max() == pytest.approx(peak, abs=0.01)


@pytest.mark.parametrize(
    "sound",
    [
        np.zeros(0, dtype=np.float32),
        np.zeros(24_000, dtype=np.float32),
        np.full(24_000, 1e-5, dtype=np.float32),
        np.full(24_000, np.nan, dtype=np.float32),
    ],
    ids=["empty", "zeros", "below hearing", "NaN"],
)
def test_nothing_audible_is_a_fault(sound: Samples) -> None:
    """Silence is never passed off as speech; the message names the text."""
    with pytest.raises(ModelError, match="您好"):
        finished(sound, 24_000, "您好")


def test_missing_or_foreign_files_are_named(tmp_path: Path) -> None:
    """One line that says which file and how to mend it."""
    (tmp_path / "voices").mkdir()
    voice = tmp_path / "voices" / "zf_test.bin"
    with pytest.raises(ModelError, match=r"zf_test\.bin.*models pull"):
        KokoroSynthesizer(tmp_path, "zf_test", threads=1)
    voice.write_bytes(b"\0" * 100)
    with pytest.raises(ModelError, match="not a Kokoro voice"):
        KokoroSynthesizer(tmp_path, "zf_test", threads=1)
    np.zeros(VOICE_SHAPE, dtype=np.float32).tofile(voice)
    with pytest.raises(ModelError, match=r"kokoro-v1\.0\.int8\.onnx.*models pull"):
        KokoroSynthesizer(tmp_path, "zf_test", threads=1)
    (tmp_path / "kokoro-v1.0.int8.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelError, match=r"kokoro-v1\.0\.int8\.onnx.*models verify") as fault:
        KokoroSynthesizer(tmp_path, "zf_test", threads=1)
    assert "\n" not in str(fault.value)
    with pytest.raises(ModelError, match="speed 3"):
        KokoroSynthesizer(tmp_path, "zf_test", threads=1, speed=3.0)


def test_importing_is_cheap() -> None:
    """The engines load with the synthesiser, not with the module."""
    code = "import sys, audio.tts; sys.exit(bool({'onnxruntime', 'kokoro_onnx', 'jieba', 'torch'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.fixture(scope="module")
def voice(kokoro_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> KokoroSynthesizer:
    return KokoroSynthesizer(kokoro_dir, threads=2, jieba_dir=tmp_path_factory.mktemp("jieba"))


@pytest.mark.models
def test_a_code_lengthens_what_is_spoken(voice: KokoroSynthesizer) -> None:
    """Letters, words and digits sound: the sentence with them is longer than the one without, by each part."""
    lengths = [
        sum(map(len, voice.synthesize(text)))
        for text in ("型号是。", "型号是RTX。", "型号是RTX-4090。", "型号是RTX-4090 Galaxy。")
    ]
    assert all(
        longer - shorter > 0.2 * CALL_RATE_HZ for shorter, longer in zip(lengths, lengths[1:], strict=False)
    )


@pytest.mark.models
def test_a_long_sentence_comes_clause_by_clause(voice: KokoroSynthesizer) -> None:
    """One audible block a clause, so that the first is heard while the second is made."""
    blocks = list(voice.synthesize(LONG))
    assert len(blocks) == len(clauses(LONG)) > 2
    assert all(0.05 < np.abs(block).max() <= PEAK + 0.01 for block in blocks)


@pytest.mark.models
@pytest.mark.parametrize("text", ["……", "", "カード"])
def test_what_cannot_be_spoken_is_a_fault(voice: KokoroSynthesizer, text: str) -> None:
    """Punctuation only, nothing, or another script: refused, never silence."""
    with pytest.raises(ModelError):
        list(voice.synthesize(text))


@pytest.mark.models
def test_two_runs_sound_alike(voice: KokoroSynthesizer) -> None:
    """The same text gives the same samples, so that a replay is a replay."""
    first, second = (np.concatenate(list(voice.synthesize("您好。"))) for _ in range(2))
    assert np.array_equal(first, second)


@pytest.mark.models
def test_spoken_words_are_heard(voice: KokoroSynthesizer, whisper_dir: Path) -> None:
    """The recogniser understands the voice: a plain question comes back with few characters wrong."""
    from audio.asr import WhisperRecognizer

    said = "国际漫游怎么开通？"
    sound = np.concatenate(list(voice.synthesize(said)))
    heard = WhisperRecognizer(whisper_dir, threads=2).transcribe(sound, len(sound) / CALL_RATE_HZ)
    assert heard.dropped is None
    assert character_error_rate(said, heard.text) <= 0.25
