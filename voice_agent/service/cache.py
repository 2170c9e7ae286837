"""Answers to frequent questions: kept as they were found and checked, and walked again as if they were new.

What decides is in the key (question, corpus, thresholds, day, filters), so nothing outlives what it rests on. Only
answers that passed are kept, never refusals: a channel that was down must not be remembered. A question with anything
personal in it, or with a conversation before it, is neither kept nor looked up.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace

from retrieval.normalize import canonical
from voice_agent.knowledge import Knowledge
from voice_agent.record.privacy import Masker
from voice_agent.reply.answer import Asked, Checked, Looked

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Remembered:
    """The search and the checked sentences of an answer; no time was spent on them now."""

    looked: Looked
    sentences: tuple[Checked, ...]


class AnswerCache:
    """The last `most` answers that were asked for. 0 keeps none."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Key, Remembered] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Key | None) -> Remembered | None:
        """The answer, which counts as asked for now."""
        if key is None or key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key]

    def put(self, key: Key | None, looked: Looked, sentences: tuple[Checked, ...]) -> None:
        """Keeps an answer whose every sentence passed."""
        if key is None or not self._most or not sentences or not all(s.verdict.passed for s in sentences):
            return
        found = replace(looked.found, timings_ms={})
        untimed = tuple(replace(sentence, ms=0.0) for sentence in sentences)
        self._kept[key] = Remembered(replace(looked, found=found, ms=0.0), untimed)
        self._kept.move_to_end(key)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)

    def clear(self) -> None:
        """Forgets everything: the knowledge base is another one."""
        self._kept.clear()


def cache_key(asked: Asked, knowledge: Knowledge) -> Key | None:
    """What the answer depends on; None for a question that is nobody else's."""
    if asked.history or Masker().mask(asked.question, unfinished=True) != asked.question:
        return None
    words = canonical(asked.question).strip(" 。？！?!.")
    thresholds = tuple(sorted(knowledge.gating.thresholds.items()))
    return words, knowledge.corpus.sha, thresholds, asked.as_of, asked.conditions
