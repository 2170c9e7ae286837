"""Recorded questions: WAV files with what was really said, heard as a call hears them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, Protocol

from audio.types import CALL_RATE_HZ, FRAME_SAMPLES, AudioFrame, Recognizer, Samples
from audio.wav import frames, read_wav
from voice_agent.errors import InputError
from voice_agent.evaluation.questions import Question, question_of, read_rows

LIST_NAME = "recordings.jsonl"
"""What a folder of recordings names its files in."""

TAIL_S = 0.2
"""Sound kept behind the last voiced frame: the end of a final consonant is below the voice threshold."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A WAV file, what is said in it (empty: noise), and the question it asks, in the true words."""

    wav: Path
    text: str
    question: Question


@dataclass(frozen=True, slots=True)
class Heard:
    """What the recogniser made of a recording. `text` is empty when the decoding was dropped, `dropped` says why."""

    said: str
    text: str
    confidence: float
    ms: float
    dropped: str | None = None


class VoiceActivity(Protocol):
    """Is there a voice in this frame? Stateful: one object a recording."""

    def is_voiced(self, frame: AudioFrame) -> bool: ...


def holds_recordings(path: Path) -> bool:
    """A folder, or a file whose first line names a WAV file."""
    if path.is_dir():
        return True
    try:
        with path.open(encoding="utf-8") as lines:
            return '"wav"' in next((line for line in lines if line.strip()), "")
    except (OSError, UnicodeDecodeError):
        return False  # whoever reads it as questions says what is wrong


def load_recordings(path: Path, as_of: date | None = None) -> list[Recorded]:
    """A JSON-lines file, or the folder that holds one as recordings.jsonl: {"id", "wav", "text", "expect", …} a line.

    WAV paths are relative to the file. Raises InputError naming the line or the missing recording.
    """
    file = path / LIST_NAME if path.is_dir() else path
    rows = read_rows(file, lambda row: _recorded(row, file.parent, as_of), "eval_recording")
    missing = next((row.wav for row in rows if not row.wav.is_file()), None)
    if missing is not None:
        raise InputError(f"{file}: no such recording {missing}; paths are relative to this file")
    return rows


def _recorded(row: Mapping[str, Any], folder: Path, as_of: date | None) -> Recorded:
    text = row["text"]
    if not isinstance(text, str):
        raise TypeError("text must be what is said, empty where nothing is")
    return Recorded(folder / row["wav"], text, question_of({"kind": "spoken", **row}, text, as_of))


def hear(
    recorded: Recorded,
    recognizer: Recognizer,
    detector: Callable[[], VoiceActivity],
    preroll_s: float,
) -> tuple[Question, Heard]:
    """The question as it was heard. Blocking. Raises AudioError."""
    sound = read_wav(recorded.wav).samples
    began = time.perf_counter()
    utterance, voiced_s = spoken_part(sound, detector(), preroll_s)
    if voiced_s == 0.0:
        return _as_heard(recorded, Heard(recorded.text, "", 0.0, _ms_since(began), "no_speech"))
    transcript = recognizer.transcribe(utterance, voiced_s)
    heard = Heard(recorded.text, transcript.text, transcript.confidence, _ms_since(began), transcript.dropped)
    return _as_heard(recorded, heard)


def spoken_part(sound: Samples, detector: VoiceActivity, preroll_s: float) -> tuple[Samples, float]:
    """From just before the first voiced frame to just behind the last, and how many seconds of it are voiced."""
    flags = [detector.is_voiced(frame) for frame in frames(sound)]
    voiced = [at for at, flag in enumerate(flags) if flag]
    if not voiced:
        return sound[:0], 0.0
    start = max(voiced[0] * FRAME_SAMPLES - round(preroll_s * CALL_RATE_HZ), 0)
    end = (voiced[-1] + 1) * FRAME_SAMPLES + round(TAIL_S * CALL_RATE_HZ)
    return sound[start:end], len(voiced) * FRAME_SAMPLES / CALL_RATE_HZ


def _as_heard(recorded: Recorded, heard: Heard) -> tuple[Question, Heard]:
    asked = replace(recorded.question.asked, question=heard.text, confidence=heard.confidence)
    return replace(recorded.question, asked=asked), heard


def _ms_since(began: float) -> float:
    return (time.perf_counter() - began) * 1000.0
