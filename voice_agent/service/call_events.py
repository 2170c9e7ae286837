"""What the page of a call is shown of the journal's events, field by field. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from retrieval.marks import strip_marks
from retrieval.span import best_span
from voice_agent.floor.state import Floor
from voice_agent.record.jsonable import plain
from voice_agent.service.call_shapes import State

SHOWN: Final[Mapping[str, tuple[str, ...]]] = {
    "speech_started": (),
    "speech_ended": ("ended_s",),
    "partial": ("text", "settled"),
    "transcript": ("text", "confidence", "dropped", "end_s", "seconds"),
    "rewrite": ("before", "after"),
    "query": ("text", "terms"),
    "rerank": ("ranking",),
    "gate": ("outcome", "reason"),
    "sentence": ("index", "text", "passed", "reason", "cited", "ms"),
    "spoken": ("index", "text", "complete", "source", "start_s", "end_s"),
    "paused": (),
    "resumed": ("why",),
    "barge_in": ("heard",),
    "halt": ("reason",),
    "handoff": ("reason", "delivery"),
    "timing": ("stages_ms",),
    "reply_ended": ("outcome", "first_audio_s"),
    "consent": ("to", "given"),
    "error": ("where",),
}
"""Kind -> its fields that go out. What is not named stays here: messages of faults tell of the inside."""

STATES: Final[Mapping[Floor, State]] = {
    Floor.IDLE: "listening",
    Floor.THINKING: "thinking",
    Floor.SPEAKING: "speaking",
    Floor.PAUSED: "paused",
    Floor.HANDING_OFF: "handing_off",
    Floor.ENDED: "ended",
}

_EVIDENCE: Final = ("citation_id", "id", "source", "title", "text")

SPAN_CHARS = 60
"""Of a passage, shown as what carries a sentence: a sentence or two."""


def shown(kind: str, data: Mapping[str, object]) -> dict[str, Any] | None:
    """The data of the event as it goes out; None for events that do not."""
    if kind not in SHOWN:
        return None
    fields = {name: plain(data[name]) for name in SHOWN[kind] if name in data}
    if kind == "sentence":
        passages = cast("list[Mapping[str, Any]]", data.get("evidence", []))
        fields["evidence"] = [_passage(str(data["text"]), passage) for passage in passages]
    return fields


def _passage(sentence: str, passage: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: plain(passage.get(name)) for name in _EVIDENCE}
    return {**fields, "span": span_of(sentence, str(passage["text"]))}


def span_of(sentence: str, text: str) -> str:
    """The stretch of the passage that is most about the sentence, as it stands there.

    >>> span_of("三天到账。[S1]", "退款审核后三天到账。")
    '退款审核后三天到账。'
    """
    span = best_span(strip_marks(sentence), text, SPAN_CHARS)
    return span if span in text else span.partition("\n")[2]
