"""What requests carry and answers hold, as the OpenAPI document tells it. Every text and list is bounded."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from retrieval.conditions import Conditions
from voice_agent.reply.answer import Asked
from voice_agent.reply.rewrite import Exchange

QUESTION_CHARS = 500
ANSWER_CHARS = 2000
HISTORY_KEPT = 6
"""As in a call: nobody reaches back further."""

_DAY = r"^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])$|^20[0-9]{2}-(0[13-9]|1[0-2])-(29|30)$"
_LAST = r"|^20[0-9]{2}-(0[13578]|1[02])-31$|^20([02468][048]|[13579][26])-02-29$"


def _is_text(value: object) -> object:
    """Only text is a day: a number would be taken for a moment since 1970."""
    if not isinstance(value, str):
        raise ValueError("write the day as 2026-11-30")
    return value


Day = Annotated[
    date,
    BeforeValidator(_is_text),
    Field(
        ge=date(2000, 1, 1),
        le=date(2099, 12, 31),
        json_schema_extra={"format": "date", "pattern": _DAY + _LAST, "examples": ["2026-11-30"]},
    ),
]
"""A day of this century, as 2026-11-30."""

Words = Annotated[str, Field(min_length=1, max_length=100)]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ExchangeShape(_Shape):
    """An earlier question and what was answered to it. It helps to understand, and is never evidence."""

    question: str = Field(min_length=1, max_length=QUESTION_CHARS)
    answer: str = Field(max_length=ANSWER_CHARS)


class Filters(_Shape):
    """Search only passages like these; no word of the question overrules it."""

    tags: list[Words] = Field(default=[], max_length=20, description="every one of these tags")
    version: Words | None = Field(default=None, description="exactly this version")
    without: list[Words] = Field(default=[], max_length=20, description="about nothing of this")
    since: Day | None = None
    until: Day | None = None


class AskRequest(_Shape):
    """A question as a caller would put it."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [
                {"query": "ERR_2048 报错怎么处理"},
                {"query": "退货期限是几天", "as_of": "2025-06-01", "filters": {"tags": ["退货"]}},
                {
                    "query": "那信用卡呢",
                    "history": [{"question": "退款多久到账", "answer": "退款在审核通过后3天内到账。"}],
                },
            ]
        },
    )

    query: str = Field(min_length=1, max_length=QUESTION_CHARS)
    history: list[ExchangeShape] = Field(default=[], max_length=HISTORY_KEPT)
    as_of: Day | None = Field(default=None, description="answer as on this day; today if absent")
    filters: Filters = Filters()

    def asked(self, today: date) -> Asked:
        """The question as an answerer takes it."""
        day = self.as_of or today
        filters = self.filters
        conditions = Conditions(
            day,
            tags=tuple(filters.tags),
            version=filters.version,
            without=tuple(filters.without),
            since=filters.since,
            until=filters.until,
        )
        history = tuple(Exchange(turn.question, turn.answer) for turn in self.history)
        return Asked(self.query, day, history, conditions=conditions)


class EvidenceShape(_Shape):
    """A cited passage. `scores` are those of each channel, of their fusion (rrf) and of the reranker."""

    citation_id: str
    id: str
    source: str
    text: str
    scores: dict[str, float | None]


class SentenceShape(_Shape):
    """A generated sentence with its marks, and its verdict."""

    text: str
    passed: bool
    reason: str | None
    cited: list[str]


class CitationCheck(_Shape):
    """Whether every sentence passed."""

    passed: bool
    sentences: list[SentenceShape]


class AskAnswer(_Shape):
    """The answer with what it rests on. `call` and `turn` find it in the journals."""

    status: Literal["answered", "clarify", "refused"]
    reason: str | None
    answer: str
    evidence: list[EvidenceShape]
    citation_check: CitationCheck
    timings_ms: dict[str, float]
    call: str
    turn: int


class Health(_Shape):
    """The process lives."""

    status: Literal["live"] = "live"


class Readiness(_Shape):
    """Whether requests should be sent here, and each part of it in a word."""

    ready: bool
    draining: bool
    models: Literal["warm"]
    passages: int
    kb_version: str
    calibration: Literal["shipped", "stored", "stale"]
    llm: Literal["off", "reachable", "unreachable"]
    store: Literal["embedded", "reachable", "unreachable"]
    calls_free: int = Field(ge=0, description="callers that would be let in now")
    reloaded_at: str | None
    reload_failed: str | None


class ReloadAnswer(_Shape):
    """The knowledge base now in use."""

    kb_version: str


class CallList(_Shape):
    """Newest first. `unread` files of the folder are no journals."""

    calls: list[dict[str, Any]]
    unread: int


class CallShape(_Shape):
    """A call and each of its turns, as `voice-agent inspect --json` shows them."""

    call: dict[str, Any]
    turns: list[dict[str, Any]]


class ProblemShape(BaseModel):
    """Why a request was refused (RFC 9457)."""

    type: str = Field(examples=["urn:voice-agent:problem:queue-full"])
    title: str
    status: int
    detail: str
    errors: list[dict[str, Any]] = []
