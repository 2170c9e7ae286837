"""Recordings: named by file and line, cut to the voice, heard with the recogniser's own confidence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from audio.types import CALL_RATE_HZ, Samples
from audio.wav import write_wav
from tests.fakes import LevelDetector, ScriptedRecognizer, pause, voice
from voice_agent.data_files import SCHEMAS, validator_of
from voice_agent.errors import InputError
from voice_agent.evaluation.recordings import hear, holds_recordings, load_recordings, spoken_part

ROW = {"id": "r1", "wav": "one.wav", "text": "退款几天到账", "expect": ["refund"]}


def folder(tmp_path: Path, sound: Samples, **changes: object) -> Path:
    write_wav(tmp_path / "one.wav", sound, CALL_RATE_HZ)
    line = json.dumps({**ROW, **changes}, ensure_ascii=False)
    (tmp_path / "recordings.jsonl").write_text(line + "\n", encoding="utf-8")
    return tmp_path


def test_a_folder_and_its_list_are_the_same_recordings(tmp_path: Path) -> None:
    """recordings.jsonl speaks for its folder; paths are relative to it; the true words are the question."""
    path = folder(tmp_path, voice(5))
    (one,) = load_recordings(path)
    assert load_recordings(path / "recordings.jsonl") == [one]
    assert one.wav == path / "one.wav" and one.question.asked.question == "退款几天到账"
    assert (one.question.kind, one.question.expect) == ("spoken", ("refund",))
    assert holds_recordings(path) and holds_recordings(path / "recordings.jsonl")
    assert not holds_recordings(path / "one.wav")


@pytest.mark.parametrize("changes", [{"wav": "gone.wav"}, {"text": 3}, {"expect": []}, {"wav": 3}])
def test_a_wrong_recording_is_named(tmp_path: Path, changes: dict[str, object]) -> None:
    """A missing file, no text or no label: one line that says where."""
    with pytest.raises(InputError, match=r"recordings\.jsonl") as error:
        load_recordings(folder(tmp_path, voice(5), **changes))
    assert "\n" not in str(error.value)


def test_a_folder_without_a_list_says_what_is_missing(tmp_path: Path) -> None:
    """The file to write is named."""
    with pytest.raises(InputError, match=r"recordings\.jsonl"):
        load_recordings(tmp_path)


def test_the_row_obeys_its_schema_and_the_schema_can_fail() -> None:
    """data/schemas/eval_recording.json is what error messages point to."""
    schema = validator_of(json.loads((SCHEMAS / "eval_recording.json").read_text(encoding="utf-8")))
    assert not list(schema.iter_errors(ROW))
    assert list(schema.iter_errors({**ROW, "wav": ""})) and list(schema.iter_errors({"id": "r"}))


def test_only_the_spoken_part_is_heard() -> None:
    """From the pre-roll before the first voiced frame to just behind the last; the pause inside belongs to it."""
    sound = np.concatenate([pause(2.0), voice(5, 1.0), pause(0.5), voice(5, 1.0), pause(3.0)])
    part, voiced_s = spoken_part(sound, LevelDetector(), 0.3)
    assert voiced_s == pytest.approx(2.0)
    assert len(part) / CALL_RATE_HZ == pytest.approx(0.3 + 2.5 + 0.2)


def test_what_was_heard_is_what_is_asked(tmp_path: Path) -> None:
    """The question carries the recogniser's words and confidence, the record the true ones."""
    (one,) = load_recordings(folder(tmp_path, voice(5)))
    asked, heard = hear(one, ScriptedRecognizer({5: "退宽几天到账"}), LevelDetector, 0.3)
    assert (asked.asked.question, asked.asked.confidence) == ("退宽几天到账", 0.9)
    assert (heard.said, heard.text, heard.dropped) == ("退款几天到账", "退宽几天到账", None)
    assert asked.expect == ("refund",)


def test_silence_is_not_given_to_the_recogniser(tmp_path: Path) -> None:
    """A recogniser writes subtitles into silence; a recording without a voice is an empty question."""
    (one,) = load_recordings(folder(tmp_path, pause(1.0)))
    recognizer = ScriptedRecognizer({0: "谢谢观看"})
    asked, heard = hear(one, recognizer, LevelDetector, 0.3)
    assert (asked.asked.question, heard.dropped, recognizer.spans) == ("", "no_speech", [])
