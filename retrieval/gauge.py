"""What a gate looks at: a search turned into named numbers. None where nothing could be measured, never 0."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol

from retrieval.code_book import CodeBook
from retrieval.conflicts import conflicting
from retrieval.errors import ModelError
from retrieval.examples import Likeness
from retrieval.rerank import Scale, as_unit
from retrieval.siblings import Siblings
from retrieval.slot import slot_missing
from retrieval.span import best_span
from retrieval.surfaces import document_text
from retrieval.terms import terms
from retrieval.types import Channel, Cut, Evidence, Found, Passage, PassageId, Query, Risk
from retrieval.wanted import unmet

Features = Mapping[str, float | None]

CHANNELS: tuple[Channel, ...] = ("bm25", "dense")

FULL_TERM = 2.5
"""Okapi's k1 + 1: what a term's score tends to, times its idf, however often it stands in a text."""

OTHERS = 10
"""How many passages behind the first two stand for "the others"."""


RIVALS = 3
"""How many of the best passages are held against one another: those that an answer may cite."""

LOGITS = 10.0
"""Ten logits count as much as the whole unit scale."""

NEAR_IN_MEANING = 3
"""Ranks by meaning at which a topic for a person makes the answer a risk."""

READ = 240
"""Characters of the best passage that are read for whether it answers: its best span, for the time grows with them."""

RISK: Mapping[Risk, float] = {"low": 0.0, "medium": 0.5, "high": 1.0}


class AnswersQuestion(Protocol):
    """Tells how far texts answer a question."""

    @property
    def id(self) -> str:
        """Names the model; thresholds are bound to it."""
        ...

    def logits(self, question: str, texts: Sequence[str]) -> list[float]:
        """One number a text, above 0 where the text rather answers. Raises ModelError."""
        ...


class Likens(Protocol):
    """Tells how like a passage's example questions a question is."""

    def likeness(self, query: Query, passage: PassageId) -> Likeness:
        """Raises ModelError."""
        ...


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the passages that are searched: how rare their terms are, which codes they hold, which of them
    differ in a name only, and what callers asked about them if that is told. `cut` is the tokenizer of both passages
    and questions.
    """

    idf: Callable[[str], float]
    codes: CodeBook
    siblings: Siblings
    cut: Cut = terms
    examples: Likens | None = None


@dataclass(frozen=True, slots=True)
class Gauge:
    """Measures searches. `background` is the usual level of an unrelated text, see `level`; two
    scores less than `near` apart are as good as equal.
    """

    known: Known
    scale: Scale
    background: float
    near: float
    reader: AnswersQuestion | None = None

    def measure(self, found: Found, transcript_confidence: float | None = None) -> dict[str, float | None]:
        """Everything measured, also what does not decide."""
        facts: dict[str, float | None] = {
            "asked": float(bool(found.query.text)),
            "searched": float(found.searched),
            "transcript": transcript_confidence,
        }
        facts.update(self._rerank(found.evidence))
        facts.update(_dense(found))
        facts.update(self._bm25(found))
        facts["agreement"] = _agreement(found)
        facts.update(_channels(found))
        facts["conditions_met"] = float(not found.lifted)
        facts.update(self._passage(found))
        facts["answers"] = self._answers(found)
        facts.update(self._alike(found))
        return facts

    def _alike(self, found: Found) -> dict[str, float | None]:
        """How like the examples of the best passage the question is; nothing where none are told at all, and None when
        that cannot be measured. A passage that has none speaks for itself by its cosine, and leads by nothing.
        """
        if self.known.examples is None:
            return {}
        if not found.evidence:
            return {"example_top": None, "example_lead": None}
        try:
            likeness = self.known.examples.likeness(found.query, found.evidence[0].passage.id)
        except ModelError:
            return {"example_top": None, "example_lead": None}
        top = _dense(found)["dense_top"] if likeness.top is None else likeness.top
        return {"example_top": top, "example_lead": likeness.lead or 0.0}

    def _answers(self, found: Found) -> float | None:
        """How far the best passage answers the question, a logit; None without a reader or when it fails."""
        if self.reader is None or not found.evidence:
            return None
        try:
            read = best_span(found.query.text, document_text(found.evidence[0].passage), READ)
            (logit,) = self.reader.logits(_whole(found.query), [read])
        except ModelError:
            return None
        return logit

    def _passage(self, found: Found) -> dict[str, float | None]:
        """What the best passage holds of the question. Where nothing was asked for, nothing is missing: 1."""
        query = found.query
        if not found.evidence:
            nothing = {
                "slot_stated": 1.0,
                "tellable": 1.0,
                "named": 1.0,
                "consistent": 1.0,
                "risk": 0.0,
                "must_handoff": 0.0,
            }
            return {"codes_covered": 0.0 if query.codes else 1.0, **nothing}
        top = found.evidence[0].passage
        covered = self.known.codes.covered(top.id, query.codes)
        return {
            "codes_covered": 1.0 if covered is None else covered,
            "slot_stated": float(not slot_missing(query.raw, top.text)),
            "tellable": float(not unmet(query.raw, document_text(top))),
            "named": float(self._named(query, top)),
            "consistent": float(not _contradicted(found)),
            "risk": max(RISK[top.risk], RISK[_risk_nearby(found.evidence)]),
            "must_handoff": float(self._for_a_person(found.evidence)),
            "coverage": self._coverage(query, document_text(top)),
        }

    def _named(self, query: Query, passage: Passage) -> bool:
        """Whether the question says that it means this passage and none like it; a code says so by itself."""
        words = " ".join((query.text, *query.history))
        return bool(query.codes) or self.known.siblings.named(passage.id, words)

    def _rerank(self, evidence: Sequence[Evidence]) -> dict[str, float | None]:
        """Top, margin over the next, lead over those from the third on; what is not there counts as background."""
        scores = [level(e.rerank, self.scale) for e in evidence if e.rerank is not None]
        if not scores or evidence[0].rerank is None:
            return dict.fromkeys(("rerank_top", "rerank_margin", "rerank_lead"))
        background = self.background
        following = scores[1] if len(scores) > 1 else background
        others = fmean(scores[2 : 2 + OTHERS]) if len(scores) > 2 else background
        return {
            "rerank_top": as_unit(evidence[0].rerank, self.scale),
            "rerank_margin": scores[0] - following,
            "rerank_lead": scores[0] - others,
        }

    def _bm25(self, found: Found) -> dict[str, float | None]:
        """The top passage's word score as a share of the score of a text that held every term once, in full."""
        if "bm25" not in found.rankings:
            return {"bm25_top": None, "bm25_lead": None}
        scores = [score for _, score in found.rankings["bm25"]]
        ideal = FULL_TERM * sum(map(self.known.idf, found.query.terms))
        top = _hit(found, "bm25") or 0.0
        others = fmean(scores[2 : 2 + OTHERS]) if len(scores) > 2 else 0.0
        if ideal <= 0.0:
            return {"bm25_top": 0.0, "bm25_lead": 0.0}
        return {"bm25_top": top / ideal, "bm25_lead": (top - others) / ideal}

    def _for_a_person(self, evidence: Sequence[Evidence]) -> bool:
        """The best passage belongs to a person, or one as near as that does."""
        best = evidence[0].rerank
        return any(
            e.passage.must_handoff
            for e in evidence[:3]
            if e is evidence[0]
            or (
                best is not None
                and e.rerank is not None
                and level(best, self.scale) - level(e.rerank, self.scale) < self.near
            )
        )

    def _coverage(self, query: Query, text: str) -> float:
        """Share of the question's terms, weighed by rarity, that stand in the text."""
        asked = dict.fromkeys(query.terms)
        held = set(self.known.cut(text))
        total = sum(map(self.known.idf, asked))
        return sum(self.known.idf(term) for term in asked if term in held) / total if total > 0.0 else 0.0


def level(score: float, scale: Scale) -> float:
    """A score as margins are measured in: a unit as it is, a logit by tens. Not its sigmoid, which is 1 for 13 and for
    27 alike, so that a clear lead would look like none.
    """
    return score if scale == "unit" else score / LOGITS


def _whole(query: Query) -> str:
    """The question, behind the earlier one that it leans on."""
    return "，".join((*query.history[:1], query.text))


def _contradicted(found: Found) -> bool:
    """Whether another of the best passages gives another value for what the best one says."""
    best = [evidence.passage for evidence in found.evidence[:RIVALS]]
    day = found.as_of
    return day is not None and any(best[0].id in one.ids for one in conflicting(best, day))


def _risk_nearby(evidence: Sequence[Evidence]) -> Risk:
    """High where a topic for a person is among the first in meaning, whatever was ranked before it in the end: 想转到
    我名下 has every word of the rule on porting a number and means its ownership.
    """
    near = (
        e.hits["dense"].rank <= NEAR_IN_MEANING
        for e in evidence
        if e.passage.must_handoff and "dense" in e.hits
    )
    return "high" if any(near) else "low"


def _channels(found: Found) -> dict[str, float | None]:
    """`<channel>_up`: 1 for each that answered, None for each that did not."""
    up: dict[str, float | None] = {f"{name}_up": 1.0 for name in found.rankings}
    return up | {f"{name}_up": None for name in found.down}


def _hit(found: Found, channel: Channel) -> float | None:
    """The channel's score of the best passage, None when the channel did not rank it."""
    hit = found.evidence[0].hits.get(channel) if found.evidence else None
    return None if hit is None else hit.score


def _dense(found: Found) -> dict[str, float | None]:
    """The best passage's cosine; when it is not among the channel's best, it is below the last of those."""
    if "dense" not in found.rankings:
        return {"dense_top": None}
    ranking = found.rankings["dense"]
    score = _hit(found, "dense")
    return {"dense_top": ranking[-1][1] if score is None and ranking else score}


def _agreement(found: Found) -> float | None:
    """Share of the word and meaning channels that put the best passage first; None when one is down."""
    if "bm25" not in found.rankings or "dense" not in found.rankings or not found.evidence:
        return None
    hits = found.evidence[0].hits
    first = [name in hits and hits[name].rank == 1 for name in CHANNELS]
    return sum(first) / len(first)
