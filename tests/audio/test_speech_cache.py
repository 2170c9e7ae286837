"""Speech kept on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from audio.errors import ModelError
from audio.speech_cache import CachedSynthesizer, SpeechCache, speech_key
from audio.types import Samples

KEY = speech_key("kokoro", "zf_xiaobei", 1.0, "您好。")


def _tone(seconds: float = 0.1, level: float = 0.5) -> Samples:
    return (level * np.sin(np.arange(int(16_000 * seconds)) / 5)).astype(np.float32)


class ScriptedVoice:
    """A Synthesizer that says two blocks of a tone and counts how often it is asked."""

    engine, voice = "scripted", "tone"

    def __init__(self, *, fails_after: int | None = None) -> None:
        self.asked: list[str] = []
        self._fails_after = fails_after

    def synthesize(self, text: str) -> Iterator[Samples]:
        self.asked.append(text)
        for block in range(2):
            if block == self._fails_after:
                raise ModelError("the voice broke")
            yield _tone(0.1 * (block + 1))


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    """An utterance is the same afterwards but for rounding to 16 bits; another key is a miss."""
    cache = SpeechCache(tmp_path / "new")
    assert cache.get(KEY) is None
    assert cache.put(KEY, _tone())
    kept = cache.get(KEY)
    assert kept is not None and kept.dtype == np.float32
    assert np.abs(kept - _tone()).max() <= 1 / 32768
    assert cache.get(speech_key("kokoro", "zf_xiaobei", 1.0, "您好！")) is None


def test_every_part_of_the_key_counts() -> None:
    """Engine, voice, speed and text each make another utterance, and their borders are kept apart."""
    keys = {
        speech_key(*parts)
        for parts in [("a", "b", 1.0, "c"), ("ab", "", 1.0, "c"), ("a", "b", 1.1, "c"), ("a", "b", 1.0, "d")]
    }
    assert len(keys) == 4
    assert speech_key("a", "b", 1, "c") == speech_key("a", "b", 1.0, "c")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"",
        lambda data: data[:5],
        lambda data: data[:-1],
        lambda data: data + b"\0",
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: b"RIFF" + data[4:],
        lambda data: bytes(len(data)),
    ],
    ids=["empty", "header cut", "tail cut", "tail added", "one bit", "another format", "zeros"],
)
def test_a_spoilt_entry_is_a_miss(tmp_path: Path, spoil: object) -> None:
    """Whatever happened to a file, it is never played; it is removed, and the next put mends it."""
    assert callable(spoil)
    cache = SpeechCache(tmp_path)
    cache.put(KEY, _tone())
    (file,) = tmp_path.iterdir()
    file.write_bytes(spoil(file.read_bytes()))
    assert cache.get(KEY) is None
    assert list(tmp_path.iterdir()) == []
    assert cache.put(KEY, _tone()) and cache.get(KEY) is not None


def test_the_longest_unused_go_first(tmp_path: Path) -> None:
    """The cache never outgrows its bound; reading an entry makes it young again."""
    size = len(_tone()) * 2 + 12
    cache = SpeechCache(tmp_path, max_bytes=3 * size)
    for age, key in enumerate("abc"):
        cache.put(key, _tone())
        os.utime(tmp_path / f"{key}.speech", ns=(age * 10**9, age * 10**9))
    assert cache.get("a") is not None
    cache.put("d", _tone())
    assert sorted(file.stem for file in tmp_path.iterdir()) == ["a", "c", "d"]
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 3 * size


def test_an_utterance_larger_than_the_cache_is_not_kept(tmp_path: Path) -> None:
    """It must not drive everything else out."""
    cache = SpeechCache(tmp_path, max_bytes=4_000)
    cache.put(KEY, _tone(0.05))
    assert not cache.put("long", _tone(1.0))
    assert cache.get(KEY) is not None


def test_a_disk_that_refuses_is_no_fault(tmp_path: Path) -> None:
    """Speech goes on without a cache: put says False and get misses, nothing is raised."""
    (tmp_path / "file").write_text("in the way")
    cache = SpeechCache(tmp_path / "file" / "cache")
    assert not cache.put(KEY, _tone())
    assert cache.get(KEY) is None


def test_what_dead_processes_left_is_swept(tmp_path: Path) -> None:
    """A half-written file goes when it is old; a young one belongs to a living writer and is not touched."""
    for name, modified in (("dead.part", 0), ("living.part", None)):
        (tmp_path / name).write_bytes(b"half")
        if modified is not None:
            os.utime(tmp_path / name, (modified, modified))
    assert SpeechCache(tmp_path, max_bytes=10_000).put(KEY, _tone())
    assert sorted(file.name for file in tmp_path.iterdir()) == [f"{KEY}.speech", "living.part"]


def test_two_processes_share_a_directory(tmp_path: Path) -> None:
    """Both write and read the same few keys in a cache that holds two of them: no error, no foreign or torn sound."""
    code = """
import sys
from pathlib import Path
import numpy as np
from audio.speech_cache import SpeechCache
cache = SpeechCache(Path(sys.argv[1]), max_bytes=2 * (2 * 1600 + 12))
for turn in range(150):
    number = turn % 5
    assert cache.put(f"k{number}", np.full(1600, number / 8, dtype=np.float32))
    for other in range(5):
        kept = cache.get(f"k{other}")
        assert kept is None or (kept.size == 1600 and (kept == np.float32(other / 8)).all()), other
"""
    both = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) for _ in range(2)]
    assert [process.wait(timeout=60) for process in both] == [0, 0]
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 2 * (2 * 1600 + 12)


def test_the_second_time_nobody_is_asked(tmp_path: Path) -> None:
    """The kept sound equals the first one to the sample; engine and voice are those of the synthesiser behind."""
    voice = ScriptedVoice()
    cached = CachedSynthesizer(voice, SpeechCache(tmp_path))
    first = list(cached.synthesize("您好。"))
    again = list(cached.synthesize("您好。"))
    assert voice.asked == ["您好。"]
    assert len(first) == 2 and len(again) == 1
    assert np.array_equal(np.concatenate(first), again[0])
    assert (cached.engine, cached.voice) == ("scripted", "tone")


def test_another_speed_is_another_utterance(tmp_path: Path) -> None:
    """Two synthesisers that differ in speed only share a directory, not a sound."""
    voice, cache = ScriptedVoice(), SpeechCache(tmp_path)
    list(CachedSynthesizer(voice, cache, speed=1.0).synthesize("您好。"))
    list(CachedSynthesizer(voice, cache, speed=1.2).synthesize("您好。"))
    assert len(voice.asked) == 2


@pytest.mark.parametrize("how", ["failed", "abandoned"])
def test_half_an_utterance_is_never_kept(tmp_path: Path, how: str) -> None:
    """A synthesis that broke off, or that nobody listened to the end, leaves nothing behind."""
    cached = CachedSynthesizer(
        ScriptedVoice(fails_after=1 if how == "failed" else None), SpeechCache(tmp_path)
    )
    blocks = cached.synthesize("您好。")
    next(blocks)
    if how == "failed":
        with pytest.raises(ModelError, match="the voice broke"):
            next(blocks)
    del blocks
    assert list(tmp_path.iterdir()) == []
