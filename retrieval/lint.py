"""What is wrong with a knowledge base that loads: conflicts, near duplicates, versions, missing dates. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from retrieval.conflicts import conflicts, valid_together
from retrieval.corpus import Corpus
from retrieval.normalize import canonical
from retrieval.types import Passage, PassageId

FindingKind = Literal[
    "conflict", "near_duplicate", "version_overlap", "superseded", "no_date", "no_source", "no_question"
]

NEAR_DUPLICATE: Final = 0.8
"""Share of common character pairs from which two texts say the same but for a word or a number."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault, the passages it concerns, and a line for the operator."""

    kind: FindingKind
    ids: tuple[PassageId, ...]
    message: str


def lint(corpus: Corpus) -> list[Finding]:
    """All findings: those about pairs first, then one per kind for what is old or lacks. In the corpus's order."""
    passages = corpus.passages
    return [
        *_conflicts(passages),
        *_near_duplicates(passages),
        *_version_overlaps(passages),
        *_superseded(passages),
        *_lacking(passages),
    ]


def _conflicts(passages: Sequence[Passage]) -> Iterator[Finding]:
    for conflict in conflicts(passages):
        (one, other), (mine, its) = conflict.ids, conflict.values
        said = f"“{conflict.sentences[0]}” and “{conflict.sentences[1]}”"
        message = f"{one} says {mine} where {other} says {its}, both valid: {said}; correct one or date them"
        yield Finding("conflict", conflict.ids, message)


def _near_duplicates(passages: Sequence[Passage]) -> Iterator[Finding]:
    grams = [_pairs(p.text) for p in passages]
    for i, j in _candidates(grams):
        one, other = passages[i], passages[j]
        alike = len(grams[i] & grams[j]) / len(grams[i] | grams[j])
        if alike >= NEAR_DUPLICATE and valid_together(one, other):
            percent = f"{alike:.0%}"
            message = f"{one.id} and {other.id} are {percent} alike and valid together; merge them or say what differs"
            yield Finding("near_duplicate", (one.id, other.id), message)


def _pairs(text: str) -> frozenset[str]:
    """Character pairs; a text of one character is its own."""
    plain = "".join(c for c in canonical(text).lower() if c.isalnum())
    return frozenset(plain[i : i + 2] for i in range(len(plain) - 1)) or frozenset((plain,))


def _candidates(grams: Sequence[frozenset[str]]) -> Iterator[tuple[int, int]]:
    """Pairs that can reach the threshold: such sets share one of their rarest elements, so only those are indexed."""
    count = Counter(gram for have in grams for gram in have)
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for j, have in enumerate(grams):
        rare_first = sorted(have, key=lambda gram: (count[gram], gram))
        probe = rare_first[: len(have) - int(NEAR_DUPLICATE * len(have)) + 1]
        met = {i for gram in probe for i in holders[gram]}
        for i in sorted(met):
            if min(len(grams[i]), len(have)) >= NEAR_DUPLICATE * max(len(grams[i]), len(have)):
                yield i, j
        for gram in probe:
            holders[gram].append(j)


def _titled(passages: Iterable[Passage]) -> dict[str, list[Passage]]:
    """The passages that have a version, by their title."""
    titled: defaultdict[str, list[Passage]] = defaultdict(list)
    for passage in passages:
        if passage.title and passage.version:
            titled[passage.title].append(passage)
    return titled


def _superseded(passages: Sequence[Passage]) -> Iterator[Finding]:
    """Versions that ended before another under their title began: kept for old dates, never an answer of today."""
    old = [
        one.id
        for same in _titled(passages).values()
        for one in same
        if one.valid_to
        and any(other.valid_from and other.valid_from > one.valid_to for other in same if other is not one)
    ]
    if old:
        message = f"{len(old)} passages are replaced by a later version, {old[0]} first; keep them for old dates only"
        yield Finding("superseded", tuple(old), message)


def _version_overlaps(passages: Sequence[Passage]) -> Iterator[Finding]:
    """Two versions under one title of which the older has not ended when the newer begins."""
    for title, same in _titled(passages).items():
        for i, one in enumerate(same):
            for other in same[i + 1 :]:
                if one.version != other.version and valid_together(one, other):
                    both = f"{one.id} ({one.version}) and {other.id} ({other.version})"
                    message = f"{both} are both valid for {title}; end the older with valid_to"
                    yield Finding("version_overlap", (one.id, other.id), message)


def _lacking(passages: Iterable[Passage]) -> Iterator[Finding]:
    listed = list(passages)
    entries = [p for p in listed if "#" not in p.id]
    lacks: tuple[tuple[FindingKind, list[Passage], str], ...] = (
        ("no_date", [p for p in listed if not p.valid_from and not p.valid_to], "have no validity date"),
        ("no_source", [p for p in listed if not p.source], "name no source"),
        ("no_question", [p for p in entries if not p.questions], "list no question a caller would ask"),
    )
    for kind, found, what in lacks:
        if found:
            yield Finding(
                kind, tuple(p.id for p in found), f"{len(found)} passages {what}, {found[0].id} first"
            )
