"""What a weak model forgets, found in the passages: the mark of a sentence, and its condition. Pure.

Only what passes the whole check with it does; nothing is taken on trust.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from retrieval.marks import strip_marks
from retrieval.readings import read_sentence
from retrieval.sentences import split_sentences, with_condition
from retrieval.types import Passage, Verdict, VerdictReason

Examine = Callable[[str], Verdict]
"""The whole check of a sentence with its marks."""


def attributed(
    sentence: str, unmarked: Verdict, marks: Iterable[str], examine: Examine
) -> tuple[str, Verdict]:
    """The sentence with the mark of the first passage that carries it, and that verdict.

    If none does, but one would with its condition, then with that one's, for the condition may yet be said. Else the
    sentence and its verdict stay as they were, with each passage's reason in the detail.
    """
    tried, waiting = [], None
    for mark in marks:
        marked = f"{sentence.rstrip()}[{mark}]"
        verdict = examine(marked)
        if verdict.passed and verdict.cited:
            return marked, verdict
        if verdict.reason is VerdictReason.SCOPE_DROPPED:
            waiting = waiting or (marked, verdict)
        tried.append(f"{mark} {verdict.reason}")
    return waiting or (sentence, replace(unmarked, detail=f"{unmarked.detail}; {', '.join(tried)}"))


def lacks_a_mark(verdict: Verdict) -> bool:
    """Was there nothing wrong but that no passage is named?"""
    return verdict.reason is VerdictReason.NO_CITE


def meant(
    sentence: str, verdict: Verdict, passages: Mapping[str, Passage], examine: Examine
) -> tuple[str, Verdict]:
    """A blocked sentence with the mark of the passage it was copied from, where it was given that of another.

    A wrong mark is not a missing one: it is a slip only where the sentence stands word for word in exactly one passage
    that it does not name, and in none that it does. A mark of nothing (BAD_ID) is no slip. Else all stays as it was.
    """
    if verdict.passed or not verdict.cited or verdict.reason is VerdictReason.BAD_ID:
        return sentence, verdict
    words = strip_marks(sentence).strip()
    homes = [mark for mark, passage in passages.items() if _stands_in(words, passage)]
    if len(homes) != 1 or passages[homes[0]].id in verdict.cited:
        return sentence, verdict
    marked = f"{words}[{homes[0]}]"
    judged = examine(marked)
    return (
        (marked, judged)
        if judged.passed or judged.reason is VerdictReason.SCOPE_DROPPED
        else (sentence, verdict)
    )


def _stands_in(words: str, passage: Passage) -> bool:
    bare = read_sentence(words).bare
    return bool(bare) and any(read_sentence(other).bare == bare for other in split_sentences(passage.text))


MOST_CONDITIONS = 4
"""Sentences that are tried as a missing condition. A passage of many would cost a check each."""


def conditions_for(verdict: Verdict, passages: Mapping[str, Passage]) -> Iterator[str]:
    """The sentences of the cited passages that limit another of theirs, each with its mark, in order.

    One of them may be what a sentence blocked as SCOPE_DROPPED lacks; whether it is, the whole check says.
    """
    found = (
        f"{sentences[n]}[{mark}]"
        for mark, passage in passages.items()
        if passage.id in verdict.cited
        for sentences in [split_sentences(passage.text)]
        for n in sorted({n for i in range(len(sentences)) for n in with_condition(sentences, i) if n > i})
    )
    for _, sentence in zip(range(MOST_CONDITIONS), found, strict=False):
        yield sentence
