"""The words of the retrieval package: frozen facts, from the passage to the verdict of a spoken sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Literal, NewType

PassageId = NewType("PassageId", str)
"""Stable, never reused: the entry's own id, or file stem + heading path + part number for chunked documents."""

Risk = Literal["low", "medium", "high"]

Channel = Literal["bm25", "dense", "phonetic", "examples"]

Stage = Channel | Literal["rerank"]
"""What can be down in a search: a recall channel or the reranker."""

Cut = Callable[[str], Sequence[str]]
"""A tokenizer: text to its search terms, repeats kept. Passages and questions must be cut by the same one."""

Ranking = list[tuple[PassageId, float]]
"""Best first, ties broken by id. What every recall channel returns; the score's scale is the channel's own."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One citable piece of the knowledge base. `text` is shown and spoken as it was written, never normalised.

    `title` is the entry's title or the heading path ("手册 > 排障 > 指示灯"). `sha` is the sha256 of id, title, text,
    questions, version and validity, and of the examples if there are any: two passages with equal sha need no new
    vectors. `examples` are questions it answers, in callers' words; `near_misses` sound like it and it does not answer
    them. Both are searched and weighed, and never shown, cited or spoken.
    """

    id: PassageId
    text: str
    title: str = ""
    questions: tuple[str, ...] = ()
    source: str = ""
    version: str = ""
    valid_from: date | None = None
    valid_to: date | None = None
    tags: tuple[str, ...] = ()
    risk: Risk = "low"
    must_handoff: bool = False
    sha: str = ""
    examples: tuple[str, ...] = ()
    near_misses: tuple[str, ...] = ()

    def valid_on(self, day: date) -> bool:
        """Both ends inclusive; an open end does not limit."""
        return (self.valid_from is None or self.valid_from <= day) and (
            self.valid_to is None or day <= self.valid_to
        )


@dataclass(frozen=True, slots=True)
class Wording:
    """The same question in other words: it helps to find and never judges. `weight` is its share in the fusion."""

    text: str
    weight: float


@dataclass(frozen=True, slots=True)
class Query:
    """A question made ready for search: what was said, its canonical text, and what must not be missed in it."""

    raw: str
    text: str
    terms: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    history: tuple[str, ...] = ()
    """What the last turns said, searched together with `text` at a lower weight; empty for a first question."""
    also: tuple[Wording, ...] = ()
    """Other wordings, each searched by itself and fused into the candidates."""


@dataclass(frozen=True, slots=True)
class Hit:
    """Where one channel saw a passage: 1-based rank and the channel's own score."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage with every score it earned on the way. `rerank` is None until reranked."""

    passage: Passage
    hits: Mapping[Channel, Hit] = field(default_factory=dict)
    fused: float = 0.0
    rerank: float | None = None
    surface: str = ""
    """The span or question of the passage that matched best, for display and for the answer."""


class GateReason(StrEnum):
    """Why the gate did not answer."""

    NO_INDEX = "NO_INDEX"
    EMPTY_QUERY = "EMPTY_QUERY"
    LOW_SCORE = "LOW_SCORE"
    CODE_UNCOVERED = "CODE_UNCOVERED"
    SLOT_MISSING = "SLOT_MISSING"
    AMBIGUOUS = "AMBIGUOUS"
    CONFLICT = "CONFLICT"
    CONDITION_UNMET = "CONDITION_UNMET"
    CHANNEL_DOWN = "CHANNEL_DOWN"
    ASR_LOW = "ASR_LOW"
    MUST_HANDOFF = "MUST_HANDOFF"


class Outcome(StrEnum):
    """The three things a gate can say."""

    ANSWER = "ANSWER"
    CLARIFY = "CLARIFY"
    REFUSE = "REFUSE"


@dataclass(frozen=True, slots=True)
class Gate:
    """May we answer at all? `features` and `thresholds` are what decided, kept so that an audit can decide again.

    A feature that could not be measured is None, never 0.
    """

    outcome: Outcome
    reason: GateReason | None
    features: Mapping[str, float | None]
    thresholds: Mapping[str, float]


class VerdictReason(StrEnum):
    """Why a sentence may not be spoken, cheapest check first."""

    NO_CITE = "NO_CITE"
    BAD_ID = "BAD_ID"
    STALE = "STALE"
    NUM_UNSUPPORTED = "NUM_UNSUPPORTED"
    UNIT_MISMATCH = "UNIT_MISMATCH"
    COMPARATOR = "COMPARATOR"
    ENTITY_MISMATCH = "ENTITY_MISMATCH"
    ROLE_OR_ANTONYM = "ROLE_OR_ANTONYM"
    POLARITY = "POLARITY"
    MODALITY = "MODALITY"
    SCOPE_DROPPED = "SCOPE_DROPPED"
    IRRELEVANT = "IRRELEVANT"
    NOT_ENTAILED = "NOT_ENTAILED"
    UNCHECKABLE = "UNCHECKABLE"
    CHECK_ERROR = "CHECK_ERROR"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether one sentence may be spoken. `cited` are the passages its marks named; `detail` is for the operator."""

    passed: bool
    reason: VerdictReason | None = None
    cited: tuple[PassageId, ...] = ()
    detail: str = ""

    def __post_init__(self) -> None:
        if self.passed is (self.reason is not None):
            raise ValueError("a verdict either passes or has a reason")


@dataclass(frozen=True, slots=True)
class Found:
    """All that one search did, in order: the query, each channel's ranking, the fused and the reranked evidence.

    `reranker` is the id of what scored the evidence, "" before reranking: thresholds hold for one id only.

    A channel that failed or was late is in `down` with its cause and absent from `rankings`. `searched` is how many
    passages were open to the search after the filters: 0 means there was nothing to find. `as_of` is the day whose
    facts these are; `lifted` names the conditions heard in the question that no passage meets, so that the evidence
    is of another day, period, edition or thing than was asked for.
    """

    query: Query
    rankings: Mapping[Channel, Ranking]
    fused: Ranking
    evidence: tuple[Evidence, ...]
    reranker: str = ""
    down: Mapping[Stage, str] = field(default_factory=dict)
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    searched: int = 0
    as_of: date | None = None
    lifted: tuple[str, ...] = ()
