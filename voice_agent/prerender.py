"""What the knowledge base's answers sound like, made beforehand: the sentences an extractive answer can consist of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from audio.errors import ModelError
from audio.speech_cache import CachedSynthesizer
from audio.spelling import is_speakable
from retrieval.sentences import split_sentences
from retrieval.types import Passage
from voice_agent.reply.spoken import spoken_form


@dataclass(slots=True)
class Prerendered:
    """`there` were kept already, `made` are new, `left` are still to do; `faults` name what cannot be spoken."""

    there: int = 0
    made: int = 0
    left: int = 0
    full: bool = False
    faults: list[str] = field(default_factory=list)


def answer_texts(passages: Iterable[Passage]) -> list[str]:
    """Every sentence as it would be synthesised, once, the passages' first sentences first: they answer most often."""
    told = [[spoken_form(sentence.rstrip()) for sentence in split_sentences(p.text)] for p in passages]
    texts = (text for rank in zip_longest(*told, fillvalue="") for text in rank)
    return list(dict.fromkeys(filter(is_speakable, texts)))


def prerender(
    texts: Sequence[str], voice: CachedSynthesizer, limit: int | None, report: Callable[[int, int], None]
) -> Prerendered:
    """Makes up to `limit` that are not kept yet, as long as the cache has room: nothing that was made before is driven
    out. What is done stays done when this is stopped. `report` takes the number done and of all."""
    result = Prerendered()
    for place, text in enumerate(texts):
        if voice.keeps(text):
            result.there += 1
        elif result.full or (limit is not None and result.made + len(result.faults) >= limit):
            result.left += 1
        elif not voice.has_room(text):
            result.full, result.left = True, result.left + 1
        else:
            _make(text, voice, result)
        report(place + 1, len(texts))
    return result


def _make(text: str, voice: CachedSynthesizer, result: Prerendered) -> None:
    try:
        for _ in voice.synthesize(text):
            pass
    except ModelError as fault:
        result.faults.append(str(fault))
    else:
        result.made += 1
