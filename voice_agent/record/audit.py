"""The decisions of a journal made again: by its own evidence, by other thresholds, or by a newer knowledge base. Pure.

No model is asked and no old index is needed: what a gate weighed and what a sentence was held against stand in the
journal. A text whose masked value was compared cannot be judged again, and is never called the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from retrieval.gate import decide
from retrieval.types import Passage, Verdict
from voice_agent.record.fields import Event, mapping
from voice_agent.record.lines import Lines
from voice_agent.reply.basis import Basis, basis_of, judge_again

Status = Literal["same", "changed", "masked", "incomplete"]

MEASURED_WITH = frozenset({"background", "near"})
"""Thresholds that the features themselves were measured with: to change them needs the recording, not the journal."""

MIN_RELEVANCE = "answer.min_relevance"

_MASKED = re.compile(r"〈([A-Z]+):(\d+)〉")
_CUT = "…[cut]"

_PROBES: Sequence[Mapping[str, str]] = (
    {"EMAIL": "a{n}@example.com", "NAME": "王{n}", "ADDRESS": "甲路{n}号", "PHONE": "1380000000{n}"},
    {"EMAIL": "三", "NAME": "李", "ADDRESS": "某地", "PHONE": "九"},
)
# Two unlike things a caller may have said where the journal holds a placeholder; digits for the other kinds.


@dataclass(frozen=True, slots=True)
class Judgement:
    """One decision, `was` in the journal and is `now`: ANSWER, "REFUSE LOW_SCORE", passed, POLARITY.

    `text` is the question of a gate, the sentence of a verdict. `incomplete`: the journal lacks what it rests on.
    """

    call: str
    turn: int
    what: Literal["gate", "shadow", "sentence"]
    text: str
    was: str
    now: str
    status: Status


def redecide(lines: Lines) -> list[Judgement]:
    """Every gate and every verdict of a call, by what the journal says of each."""
    return [*_gates(lines, {}), *_verdicts(lines, _as_it_was)]


def what_if(lines: Lines, changes: Mapping[str, float]) -> list[Judgement]:
    """The same under other settings: `gate.<threshold>` or `answer.min_relevance`. A flip is a `changed`."""
    thresholds = {key.removeprefix("gate."): v for key, v in changes.items() if key.startswith("gate.")}
    found = [one for one in _gates(lines, thresholds) if one.what == "gate"] if thresholds else []
    if MIN_RELEVANCE in changes:
        least = changes[MIN_RELEVANCE]
        found += _verdicts(lines, lambda basis: replace(basis, min_relevance=least))
    return found


def reverify(lines: Lines, passages: Mapping[str, Passage]) -> list[Judgement]:
    """The spoken sentences against a newer corpus, by the rules alone: is what was said still what it says?

    `changed` are those that the journalled evidence carries and the new does not.
    """
    judged = []
    for event in _spoken_sentences(lines.events):
        was = _verdict(lines.call, event, _unmeasured)
        now = _verdict(lines.call, event, lambda basis: _renewed(_unmeasured(basis), passages))
        known: Status = "same" if now.now == was.now else "changed"
        judged.append(replace(now, was=was.now, status=known) if was.now and now.now else now)
    return judged


def settings_of(lines: Lines) -> set[str]:
    """The keys that `what_if` can change for this call."""
    named = {key for event in lines.events if event["type"] == "gate" for key in mapping(event, "thresholds")}
    return {f"gate.{key}" for key in named - MEASURED_WITH} | {MIN_RELEVANCE}


def _gates(lines: Lines, changes: Mapping[str, float]) -> Iterator[Judgement]:
    question: dict[int, str] = {}
    for event in lines.events:
        if event["type"] == "query":
            question[_turn(event)] = str(event.get("text", ""))
        if event["type"] in ("gate", "shadow"):
            was = _told(str(event.get("outcome")), event.get("reason"))
            now = _decided(event, changes)
            status: Status = "incomplete" if now is None else "same" if now == was else "changed"
            turn, what = _turn(event), event["type"]
            yield Judgement(lines.call, turn, what, question.get(turn, ""), was, now or "", status)


def _decided(event: Event, changes: Mapping[str, float]) -> str | None:
    if event.get("truncated"):
        return None
    odd = {name: float(value) for name, value in mapping(event, "not_finite").items()}
    thresholds = {**mapping(event, "thresholds"), **changes}
    try:
        gate = decide({**mapping(event, "features"), **odd}, thresholds)
    except (KeyError, TypeError):
        return None
    return _told(gate.outcome, gate.reason)


def _verdicts(lines: Lines, change: Callable[[Basis], Basis]) -> list[Judgement]:
    return [_verdict(lines.call, event, change) for event in lines.events if event["type"] == "sentence"]


def _verdict(call: str, event: Event, change: Callable[[Basis], Basis]) -> Judgement:
    text, was = str(event.get("text", "")), _was(event)
    told = Judgement(call, _turn(event), "sentence", text, was, "", "incomplete")
    basis = basis_of(event)
    if basis is None or event.get("truncated") or _CUT in text:
        return told
    if _MASKED.search(text):
        return replace(told, status="masked")
    now = _now(judge_again(text, change(basis)))
    tried = [_with(basis, probe) for probe in _PROBES]
    if tried[0] != basis and {now, *(_now(judge_again(text, change(one))) for one in tried)} != {was}:
        return replace(told, status="masked")  # what stood there may have decided
    return replace(told, now=now, status="same" if now == was else "changed")


def _with(basis: Basis, probe: Mapping[str, str]) -> Basis:
    def filled(text: str) -> str:
        return _MASKED.sub(lambda m: probe.get(m[1], probe["PHONE"]).format(n=m[2]), text)

    passages = {
        mark: replace(passage, text=filled(passage.text), title=filled(passage.title))
        for mark, passage in basis.passages.items()
    }
    before, after = (tuple(map(filled, texts)) for texts in (basis.before, basis.after))
    return replace(basis, question=filled(basis.question), passages=passages, before=before, after=after)


def _as_it_was(basis: Basis) -> Basis:
    return basis


def _unmeasured(basis: Basis) -> Basis:
    """By the rules alone: how near a new text is, only a model could say."""
    return replace(basis, min_relevance=None, relevance=dict.fromkeys(basis.passages, 1.0))


def _renewed(basis: Basis, passages: Mapping[str, Passage]) -> Basis:
    """The same passages as a newer corpus has them; one that is gone can be cited no more."""
    kept = {mark: passages[p.id] for mark, p in basis.passages.items() if p.id in passages}
    return replace(basis, passages=kept)


def _spoken_sentences(events: Iterable[Event]) -> list[Event]:
    """The sentence events that were heard, at least in part."""
    judged: dict[tuple[int, object], Event] = {}
    heard: list[Event] = []
    for event in events:
        place = _turn(event), event.get("index")
        if event["type"] == "sentence" and event.get("passed") is True:
            judged[place] = event
        elif event["type"] == "spoken" and event.get("source") != "phrase" and place in judged:
            heard.append(judged.pop(place))
    return heard


def _was(event: Event) -> str:
    cited = event.get("cited")
    told = _told("passed" if event.get("passed") is True else "blocked", event.get("reason"))
    return _citing(told, cited if isinstance(cited, list) else ())


def _now(verdict: Verdict) -> str:
    return _citing(_told("passed" if verdict.passed else "blocked", verdict.reason), verdict.cited)


def _told(outcome: str, reason: object) -> str:
    return f"{outcome} {reason}" if reason else str(outcome)


def _citing(told: str, cited: Iterable[object]) -> str:
    named = ", ".join(map(str, cited))
    return f"{told} ({named})" if named else told


def _turn(event: Event) -> int:
    turn = event.get("turn")
    return turn if isinstance(turn, int) else 0
