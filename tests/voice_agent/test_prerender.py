"""The sound of answers made beforehand."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from audio.errors import ModelError
from audio.speech_cache import CachedSynthesizer, SpeechCache
from audio.types import CALL_RATE_HZ, Samples
from retrieval.types import Passage, PassageId
from voice_agent.prerender import answer_texts, prerender

PASSAGES = [
    Passage(PassageId("a"), "退款3天到账。运费由买家承担。"),
    Passage(PassageId("b"), "请拨打10086。运费由买家承担。"),
]


class Voice:
    """A second a text; 火 cannot be read."""

    engine, voice = "scripted", "flat"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def synthesize(self, text: str) -> Iterator[Samples]:
        self.asked.append(text)
        if "火" in text:
            raise ModelError(f"cannot read {text!r}")
        yield np.full(CALL_RATE_HZ, 0.5, dtype=np.float32)


def quiet(done: int, total: int) -> None:
    pass


def cached(folder: Path, voice: Voice, megabytes: float = 10) -> CachedSynthesizer:
    return CachedSynthesizer(voice, SpeechCache(folder, max_bytes=int(megabytes * 1e6)))


def test_the_texts_are_what_a_call_would_synthesise() -> None:
    """In spoken form, each once, first sentences first."""
    assert answer_texts(PASSAGES) == ["退款三天到账。", "请拨打幺零零八六。", "运费由买家承担。"]


def test_it_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """A limit, then the rest: nothing is made twice, and the bar counts every sentence."""
    voice, counts = Voice(), list[tuple[int, int]]()
    texts = answer_texts(PASSAGES)
    first = prerender(texts, cached(tmp_path, voice), 2, lambda done, total: counts.append((done, total)))
    again = prerender(texts, cached(tmp_path, voice), None, quiet)
    assert (first.made, first.left, again.there, again.made, again.left) == (2, 1, 2, 1, 0)
    assert voice.asked == texts
    assert counts[-1] == (3, 3) and all(later > before for before, later in pairwise(counts))


def test_a_full_cache_loses_nothing(tmp_path: Path) -> None:
    """It stops and says so, rather than drive out what it has just made."""
    voice = Voice()
    done = prerender(answer_texts(PASSAGES), cached(tmp_path, voice, 0.16), None, quiet)
    assert done.full and done.made + done.left == 3 and 0 < done.made < 3
    assert prerender(answer_texts(PASSAGES), cached(tmp_path, voice, 0.16), None, quiet).there == done.made


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    """One sentence that cannot be spoken does not stop the others."""
    done = prerender(["火。", "好。"], cached(tmp_path, Voice()), None, quiet)
    assert done.made == 1 and len(done.faults) == 1 and "火" in done.faults[0]
